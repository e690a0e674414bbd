/** Signing in as the commands see it: an authorization server that exists in memory only, and what the person sees. */
import process from "node:process";
import type { AuthWorld, OAuth, OAuthSettings, SignInStatus } from "../../../src/cli/auth/oauth.ts";
import { readCommandLine } from "../session/read_line.ts";
import { login } from "../../../src/cli/auth/login.ts";
import { logout } from "../../../src/cli/auth/logout.ts";
import { whoami } from "../../../src/cli/auth/whoami.ts";
import { describeFailure } from "../../../src/cli/failure.ts";
import { AuthorizationError } from "../../../src/protocol/mod.ts";
import { TestStore } from "../../support/test_store.ts";

/** The MCP server that is signed in to. */
export const server = "https://mcp.example/mcp";
/** What no output may ever hold. */
export const secretToken = "at-never-to-be-seen";

/** A world that does as a test tells it. */
export class TestWorld implements AuthWorld {
  readonly store: TestStore = new TestStore();
  readonly settings: OAuthSettings[] = [];
  readonly opened: string[] = [];
  readonly finished: string[] = [];
  readonly asked: unknown[] = [];
  environment: Record<string, string | undefined> = {};
  /** Where the person is sent; STATE and REDIRECT are filled in. */
  authorizationUrl = "https://as.example/authorize?client_id=c1&state=STATE&redirect_uri=REDIRECT";
  state = "own-state";
  revoked = true;
  /** With it a revocation is never answered: called when it is asked for. */
  hangs: (() => void) | undefined;
  /** How finishing fails. */
  refusal: Error | undefined;
  verificationUri = "https://as.example/device";
  verificationUriComplete: string | undefined;
  typed: ((line: string) => void) | undefined;
  reading = false;
  /** Called as soon as the page is opened, with where the browser comes back to. */
  visit: ((redirectUri: string) => unknown) | undefined;

  openStore(): TestStore {
    return this.store;
  }

  openPage(url: string): void {
    this.opened.push(url);
    void this.visit?.(new URL(url).searchParams.get("redirect_uri") ?? "");
  }

  readLines(take: (line: string) => void, signal: AbortSignal): void {
    this.typed = take;
    this.reading = true;
    signal.addEventListener("abort", () => this.reading = false);
  }

  openOAuth(settings: OAuthSettings): OAuth {
    this.settings.push(settings);
    const result: SignInStatus = {
      server,
      issuer: "https://as.example",
      resource: server,
      scopes: ["read", "write"],
      clientId: "c1",
      expiresAt: Date.UTC(2030, 0, 2, 3, 4, 5),
      refreshable: true,
    };
    const keep = async (): Promise<SignInStatus> => {
      await this.store.set("tokens", secretToken);
      return result;
    };
    return {
      wrap: (fetch) => fetch,
      redact: (text) => text,
      begin: (server, options) => {
        this.asked.push({ server, scopes: options?.scopes });
        const url = this.authorizationUrl
          .replace("STATE", encodeURIComponent(this.state))
          .replace("REDIRECT", encodeURIComponent(settings.redirectUri ?? ""));
        const pending = { id: "p1", server: String(server), issuer: result.issuer, scopes: [], expiresAt: 0 };
        return Promise.resolve({ authorizationUrl: url, pending });
      },
      finishAuth: async (callback) => {
        const url = String(callback);
        this.finished.push(url);
        await Promise.resolve();
        if (new URL(url).searchParams.get("state") !== this.state) throw new AuthorizationError("nobody waits for it");
        if (this.refusal) throw this.refusal;
        return await keep();
      },
      signIn: async (server, options) => {
        this.asked.push({ server, scopes: options?.scopes });
        const { verificationUri, verificationUriComplete } = this;
        await settings.showCode?.({
          verificationUri,
          verificationUriComplete,
          userCode: "ABCD-\u001b[31mEFGH",
        });
        if (this.refusal) throw this.refusal;
        return await keep();
      },
      signOut: async (_server, { signal } = {}) => {
        signal?.throwIfAborted();
        if (!this.store.texts.has("tokens")) return undefined;
        await this.store.delete("tokens");
        const { hangs } = this;
        if (hangs) {
          await new Promise((_, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason));
            hangs();
          });
        }
        return { revoked: this.revoked };
      },
      status: (asked) => {
        const status = { ...result, server: String(asked) };
        return Promise.resolve(this.store.texts.has("tokens") ? status : undefined);
      },
    };
  }
}

/** What a run of a command gave. */
export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one of the commands in this process; `seen` hears of each text that goes to the standard error. */
export async function runCommand(
  words: readonly string[],
  world: AuthWorld,
  options: { signal?: AbortSignal; seen?: (text: string) => void } = {},
): Promise<Run> {
  const { signal = new AbortController().signal, seen } = options;
  const texts = { out: "", err: "" };
  const was = { out: process.stdout.write, err: process.stderr.write };
  const take = (name: "out" | "err") => (text: string | Uint8Array, done?: unknown): boolean => {
    if (typeof text !== "string") return Reflect.apply(was[name], process.stdout, [text, done]);
    texts[name] += text;
    if (name === "err") seen?.(text);
    if (typeof done === "function") done();
    return true;
  };
  Object.assign(process.stdout, { write: take("out") });
  Object.assign(process.stderr, { write: take("err") });
  let code: number;
  try {
    const line = readCommandLine(words);
    const commands: Record<string, typeof login> = { login, logout, whoami };
    const command = commands[line.command];
    if (!command) throw new Error(`${line.command} is not tested here`);
    code = await command(line, signal, world);
  } catch (error) {
    const failure = describeFailure(error);
    code = failure.exitCode;
    texts.err += `causeway: ${failure.line}\n`;
  } finally {
    Object.assign(process.stdout, { write: was.out });
    Object.assign(process.stderr, { write: was.err });
  }
  return { code, ...texts };
}
