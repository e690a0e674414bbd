/**
 * Signing in with the browser of this machine, for programs that a person has started.
 *
 * @module
 */
import process from "node:process";
import type { AuthorizationRequest, OAuthOptions } from "../../auth/mod.ts";
import { AuthorizationError } from "../../protocol/errors.ts";
import { listenForCallback } from "./callback.ts";
import { openUrl, pageAddress } from "./open.ts";

/** Options of {@linkcode authorizeInBrowser}. */
export interface BrowserSignInOptions {
  /** Shows the address, for a person whose browser does not open by itself. Default: on the standard error. */
  show?: ((address: string) => void) | undefined;
  /** Opens the address in a browser. Default: the system's browser. */
  open?: ((address: string) => unknown) | undefined;
  /** How long a person may take, in milliseconds (300,000). */
  timeout?: number | undefined;
}

/**
 * Makes what brings the person at this machine to a sign-in and waits for them: the `authorize` of `createOAuth`. The address is
 * shown and opened in the browser; the browser comes back to the `redirectUri`, where a server listens meanwhile.
 *
 * That `redirectUri` is `http://127.0.0.1:<port>/<path>` (or `http://localhost:…`), with a port of your choice. Sign-ins of one
 * program come one after another.
 *
 * @returns The `authorize`. It rejects with an `AuthorizationError` when the `redirectUri` or the page to open is none of those,
 * or nobody came back in time, and with an `McpError` when the port is taken.
 * @throws {RangeError} When `timeout` is no positive number.
 *
 * @example A program with a person
 * ```ts ignore with=example
 * import { createOAuth } from "@causeway/mcp/auth";
 * import { authorizeInBrowser, connect } from "@causeway/mcp/local";
 *
 * const auth = createOAuth({ redirectUri: "http://127.0.0.1:8085/callback", authorize: authorizeInBrowser() });
 * await using client = await connect("https://mcp.example.com/mcp", { auth });
 * ```
 */
export function authorizeInBrowser(options: BrowserSignInOptions = {}): NonNullable<OAuthOptions["authorize"]> {
  const { timeout = 300_000 } = options;
  if (!(timeout > 0 && timeout < 2 ** 31)) throw new RangeError(`"timeout" is ${timeout}, expected a number above 0`);
  let last: Promise<unknown> = Promise.resolve();
  return (request) => {
    // They share a port.
    const next = last.then(() => signIn(request, timeout, options));
    last = next.catch(() => {});
    return next;
  };
}

async function signIn(
  { authorizationUrl, pending, signal }: AuthorizationRequest,
  timeout: number,
  { show = showInTerminal, open = openUrl }: BrowserSignInOptions,
): Promise<string> {
  signal?.throwIfAborted();
  const fail = (reason: string) => new AuthorizationError(`Cannot sign in at "${pending.issuer}": ${reason}`);
  const address = pageAddress(authorizationUrl);
  if (address === undefined) throw fail("the page to open has no plain https address");
  const { searchParams } = new URL(address);
  const place = readPlace(searchParams.get("redirect_uri") ?? "");
  if (!place) throw fail('set "redirectUri" to http://127.0.0.1:<port>/callback, with a port of your choice');
  const state = searchParams.get("state");
  let arrived = (_url: string): void => {};
  // What is not of this sign-in is none of our business: anybody on this machine may ask.
  const server = await listenForCallback((url) => {
    if (new URL(url).searchParams.get("state") === state) arrived(url);
  }, place);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let aborted = (): void => {};
  try {
    return await new Promise<string>((resolve, reject) => {
      arrived = resolve;
      aborted = () => reject(signal?.reason);
      signal?.addEventListener("abort", aborted);
      if (signal?.aborted) return aborted();
      timer = setTimeout(() => reject(fail(`nobody came back within ${timeout / 1_000} s`)), timeout);
      // Either may be an async function.
      Promise.all([show(address), open(address)]).catch(reject);
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
    await server.close();
  }
}

/** The port and path of a redirect URI on this machine; undefined where it is none. */
export function readPlace(redirectUri: string): { readonly port: number; readonly path: string } | undefined {
  const { protocol, hostname, port, pathname, search } = new URL(redirectUri, "https://none.invalid");
  const isHere = protocol === "http:" && (hostname === "127.0.0.1" || hostname === "localhost");
  return isHere && port !== "" && search === "" ? { port: Number(port), path: pathname } : undefined;
}

function showInTerminal(address: string): void {
  process.stderr.write(`To sign in, open this page:\n${address}\n`);
}
