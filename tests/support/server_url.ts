/** The loopback server that `tools/test.ts` starts before the tests, when `tests/hosts/test_server.ts` is there. */
import process from "node:process";

/** Its URL, without a slash at its end; undefined when the tests run without it. The same call works in every runtime. */
export function serverUrl(): string | undefined {
  const bound: unknown = Reflect.get(globalThis, "CAUSEWAY_TEST_SERVER");
  const url = typeof bound === "string" ? bound : process.env["CAUSEWAY_TEST_SERVER"];
  return url === undefined || url === "" ? undefined : url.replace(/\/$/, "");
}
