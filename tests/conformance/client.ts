/**
 * The conformance client, as the official suite starts it: `bun tests/conformance/client.ts <server URL>`. It ends by
 * itself, without `process.exit`: a client that keeps the process alive after `close` runs into the suite's time-out.
 */
import process from "node:process";
import { connect } from "../../src/entry/local.ts";
import { runScenario } from "./scenarios.ts";

const { env } = process;

try {
  await runScenario(connect, {
    scenario: env["MCP_CONFORMANCE_SCENARIO"] ?? "",
    version: env["MCP_CONFORMANCE_PROTOCOL_VERSION"] ?? "",
    context: env["MCP_CONFORMANCE_CONTEXT"] ?? "",
    url: process.argv.at(-1) ?? "",
  });
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
