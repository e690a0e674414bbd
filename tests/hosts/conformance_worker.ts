/**
 * Runs the bundled conformance client (`tests/conformance/worker.ts`) in workerd, as a program that the official suite can
 * start: `conformance_worker.ts <bundle> <server URL>`.
 */
import { Miniflare } from "miniflare";
import { readFileSync } from "node:fs";
import process from "node:process";
import type { ScenarioRun } from "../conformance/run.ts";

const [bundle = "", url = ""] = process.argv.slice(2);
const { env } = process;
const run: ScenarioRun = {
  scenario: env["MCP_CONFORMANCE_SCENARIO"] ?? "",
  version: env["MCP_CONFORMANCE_PROTOCOL_VERSION"] ?? "",
  context: env["MCP_CONFORMANCE_CONTEXT"] ?? "",
  url,
};
const miniflare = new Miniflare({
  cf: false,
  compatibilityDate: "2026-05-03",
  compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
  modules: [{ type: "ESModule", path: "worker.mjs", contents: readFileSync(bundle, "utf8") }],
});
try {
  const response = await miniflare.dispatchFetch("http://client/", { method: "POST", body: JSON.stringify(run) });
  if (response.status !== 204) {
    console.error(await response.text());
    process.exitCode = 1;
  }
} finally {
  await miniflare.dispose();
}
