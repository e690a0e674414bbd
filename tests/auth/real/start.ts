/**
 * Starts the real authorization server, in the runtime of the test.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { quietEnvironment } from "../../../tools/programs.ts";

/** Why it cannot be started; false when it can. */
export const skipReal: string | false = existsSync("node_modules/oidc-provider/package.json")
  ? false
  : "oidc-provider is not installed";

/** What a test chooses. */
export interface ProviderOptions {
  /** The clients that it knows, as RFC 7591 writes them. */
  readonly clients?: readonly Readonly<Record<string, unknown>>[];
  /** Seconds for which access tokens are good (60). */
  readonly lifetime?: number;
  /** Whether proofs of keys have to hold nonces (false). */
  readonly nonces?: boolean;
}

/** An authorization server that listens. */
export interface StartedProvider extends AsyncDisposable {
  /** Its issuer: `http://127.0.0.1:PORT`. */
  readonly issuer: string;
}

/** How long it may take until it listens, in milliseconds. */
const patience = 20_000;

/** Starts it; it ends when it is disposed of, and with this process. */
export async function startProvider(options: ProviderOptions = {}): Promise<StartedProvider> {
  // The tests run from the repository's root, also where they were bundled to somewhere else.
  const file = `${process.cwd()}/tests/auth/real/provider.mjs`;
  const run = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  const child = spawn(process.execPath, [...run, file, JSON.stringify(options)], {
    env: { ...process.env, ...quietEnvironment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  return {
    issuer: `http://127.0.0.1:${await findPort(child)}`,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

function findPort(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`The authorization server ${why}: ${said}`));
    };
    const timer = setTimeout(() => fail(`did not listen within ${patience} ms`), patience);
    const take = (text: unknown) => {
      said += String(text);
      const port = /^LISTENING (\d+)$/m.exec(said)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(port);
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    child.once("error", (error) => fail(error.message));
    child.once("close", (code) => fail(`ended with ${code}`));
  });
}
