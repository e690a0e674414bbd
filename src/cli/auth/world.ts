/**
 * What the commands for signing in use outside of tests. Each part is loaded when it is needed: most commands do without.
 *
 * @module
 */
import process from "node:process";
import { authFolder } from "./home.ts";
import { LateStore } from "./late_store.ts";
import type { AuthWorld } from "./oauth.ts";

/** The person's own folder, terminal and browser. */
export const systemWorld: AuthWorld = {
  openStore() {
    const folder = authFolder();
    return new LateStore(async () => (await import("../../runtime/stores/file_store.ts")).createFileStore(folder));
  },
  async openOAuth({ showCode, ...settings }) {
    const [{ createOAuth, deviceCode }, { systemResolve }] = await Promise.all([
      import("../../auth/mod.ts"),
      import("../../runtime/child.ts"),
    ]);
    return createOAuth({
      ...settings,
      resolve: systemResolve,
      ...(showCode && { grant: deviceCode({ onCode: showCode }) }),
    });
  },
  openPage: async (url) => (await import("../../entry/sign_in/open.ts")).openUrl(url),
  readLines(take, signal) {
    void import("node:readline").then(({ createInterface }) => {
      if (signal.aborted) return;
      const lines = createInterface({ input: process.stdin, terminal: false });
      lines.on("line", take);
      // A terminal that is gone types nothing any more.
      process.stdin.on("error", () => lines.close());
      signal.addEventListener("abort", () => lines.close());
    });
  },
  environment: process.env,
};
