/** Runs the bundled conformance client in workerd: `conformance_worker.ts <bundle> … <server URL>`. */
import { Miniflare } from "miniflare";
import { readFileSync } from "node:fs";
import process from "node:process";
import type { ProgramRequest, ProgramResponse } from "./conformance_answer.ts";

const [bundle = "", ...parameters] = process.argv.slice(2);
const miniflare = new Miniflare({
  compatibilityDate: "2026-05-03",
  compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
  modules: [{ type: "ESModule", path: bundle, contents: readFileSync(bundle, "utf8") }],
});
const env: Record<string, string> = {};
for (const [name, value] of Object.entries(process.env)) {
  if (name.startsWith("MCP_CONFORMANCE_") && value !== undefined) env[name] = value;
}
const request: ProgramRequest = { parameters, env };
const response = await miniflare.dispatchFetch("http://client/", { method: "POST", body: JSON.stringify(request) });
const text = await response.text();
if (response.status !== 200) console.error(text);
const ended: ProgramResponse = response.status === 200 ? JSON.parse(text) : { code: 1 };
if (ended.problem !== undefined) console.error(ended.problem);
await miniflare.dispose();
process.exit(ended.code);
