/**
 * `bun run browser-test`: the client and the dashboard in real Chromium. Screenshots are left in `dist/screenshots`.
 */
import { skip } from "../../tests/browser/chromium.ts";
import { nodePath } from "../programs.ts";
import { main as test } from "../test.ts";

/** Runs the browser tests in the one runtime that drives the browser; without Chromium it fails. */
export async function main(parameters: readonly string[]): Promise<number> {
  const driver = nodePath() === undefined ? "bun" : "node";
  if (skip !== false && !/drives/.test(skip)) {
    console.error(`The browser tests cannot run: ${skip}`);
    return 1;
  }
  return await test(["--only", driver, "--filter", "tests/browser/", ...parameters]);
}
