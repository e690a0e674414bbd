/** The AI SDK's client on this runtime, at our server in workerd. */
import { after, describe } from "node:test";
import { skipWorkerd, stopWorker } from "../hosts.ts";
import { aiSuites } from "../../../suites/interop/ai.ts";

describe("at workerd", () => {
  after(stopWorker);
  aiSuites("HTTP to workerd", skipWorkerd);
});
