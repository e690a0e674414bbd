/**
 * What the commands for signing in use outside of tests. OAuth itself is loaded when it is needed: most commands do without.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { createFileStore } from "../../runtime/stores/file_store.ts";
import { systemResolve } from "../../runtime/child.ts";
import { authFolder } from "./home.ts";
import type { AuthWorld } from "./oauth.ts";
import { openUrl } from "../../entry/sign_in/open.ts";

/** The person's own folder, terminal and browser. */
export const systemWorld: AuthWorld = {
  openStore: () => createFileStore(authFolder()),
  async openOAuth({ showCode, ...settings }) {
    const { createOAuth, deviceCode } = await import("../../auth/mod.ts");
    return createOAuth({
      ...settings,
      resolve: systemResolve,
      ...(showCode && { grant: deviceCode({ onCode: showCode }) }),
    });
  },
  openPage: openUrl,
  readLines(take, signal) {
    const lines = createInterface({ input: process.stdin, terminal: false });
    lines.on("line", take);
    // A terminal that is gone types nothing any more.
    process.stdin.on("error", () => lines.close());
    signal.addEventListener("abort", () => lines.close());
    if (signal.aborted) lines.close();
  },
  environment: process.env,
};
