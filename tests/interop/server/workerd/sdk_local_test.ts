/** The official client on this runtime, at our server in workerd. */
import { after, describe } from "node:test";
import { skipWorkerd, stopWorker } from "../hosts.ts";
import { sdkSuites } from "../../../suites/interop/sdk.ts";

describe("at workerd", () => {
  after(stopWorker);
  sdkSuites("HTTP to workerd", skipWorkerd);
});
