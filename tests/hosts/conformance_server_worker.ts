/**
 * Serves the bundled conformance server (`tests/conformance/server_worker.ts`) in workerd on a loopback port:
 * `conformance_server_worker.ts <bundle>`. It prints the line that `tests/conformance/server.ts` prints.
 */
import { Miniflare } from "miniflare";
import { readFileSync } from "node:fs";
import process from "node:process";

const [bundle = ""] = process.argv.slice(2);
const miniflare = new Miniflare({
  cf: false,
  host: "127.0.0.1",
  port: Number(process.env["PORT"] ?? 3001),
  compatibilityDate: "2026-05-03",
  compatibilityFlags: ["enable_request_signal"],
  durableObjects: { EVERYTHING: "Everything" },
  modules: [{ type: "ESModule", path: "worker.mjs", contents: readFileSync(bundle, "utf8") }],
});
const { port } = await miniflare.ready;
console.log(`The conformance server listens on http://localhost:${port}/mcp`);
