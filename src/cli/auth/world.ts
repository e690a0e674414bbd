/**
 * What the commands for signing in use outside of tests. Each part is loaded when it is needed: most commands do without.
 *
 * @module
 */
import process from "node:process";
import type { Store } from "../../ports.ts";
import { McpError } from "../../protocol/errors.ts";
import { UsageError } from "../failure.ts";
import { checkFolder } from "../read.ts";
import { authFolder } from "./home.ts";
import { LateStore } from "./late_store.ts";
import type { AuthWorld } from "./oauth.ts";

/** The person's own folder, terminal and browser. */
export const systemWorld: AuthWorld = {
  openStore() {
    const folder = authFolder();
    const load = async (): Promise<Required<Store>> => {
      await checkFolder(folder);
      return (await import("../../runtime/stores/file_store.ts")).createFileStore(folder);
    };
    return ownStore(new LateStore(load));
  },
  async openOAuth({ showCode, program, legacy, known, ...settings }) {
    const [{ createOAuth, deviceCode, knownServers, legacyDiscovery }, { systemResolve }] = await Promise.all([
      import("../../auth/mod.ts"),
      import("../../runtime/children/child.ts"),
    ]);
    return createOAuth({
      ...settings,
      resolve: systemResolve,
      ...(legacy && { fallback: legacyDiscovery }),
      ...(known && { discover: knownServers(known) }),
      ...(showCode && { grant: deviceCode({ onCode: showCode }) }),
      ...(program && { grant: (await import("../../auth/grants/configured.ts")).configuredGrant(program) }),
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

/** The same store, which says what to do where the person's folder cannot be used. */
function ownStore(store: Required<Store>): Required<Store> {
  const told = async <Value>(work: Promise<Value>): Promise<Value> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof McpError) || error.code !== "mcp") throw error;
      const isDamaged = error.message.includes("damaged");
      const advice = isDamaged ? "remove it, and sign in again" : "set CAUSEWAY_HOME to a folder of yours";
      throw new UsageError(`${error.message}; ${advice}`, { cause: error });
    }
  };
  return {
    get: (key) => told(store.get(key)),
    set: (key, value) => told(store.set(key, value)),
    delete: (key) => told(store.delete(key)),
    compareAndSet: (key, before, after) => told(store.compareAndSet(key, before, after)),
  };
}
