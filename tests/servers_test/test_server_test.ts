import { describe, test } from "node:test";
import { serverUrl } from "../support/server_url.ts";
import { checkControl, checkPaths, checkWebSocket } from "./host_checks.ts";

const base = serverUrl() ?? "";
const without = base === "" ? "the test server does not run: start the tests with tools/run.ts" : false;

/** Names that no other run in any runtime uses. */
function fresh(): string {
  return `t${crypto.randomUUID().slice(0, 8)}`;
}

describe("the test server", () => {
  test("serves each peer at its path", { skip: without }, () => checkPaths(base, fresh()));
  test(
    "takes options, keeps ledgers, and does what control asks",
    { skip: without },
    () => checkControl(base, fresh()),
  );
  test("speaks WebSocket", { skip: without }, () => checkWebSocket(base, fresh()));
});
