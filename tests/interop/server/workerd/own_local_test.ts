/** Our own client on this runtime, at our server in workerd. */
import { after, describe } from "node:test";
import { skipWorkerd, stopWorker } from "../hosts.ts";
import { ownSuites } from "../../../suites/interop/own.ts";

describe("at workerd", () => {
  after(stopWorker);
  ownSuites("HTTP to workerd", skipWorkerd);
});
