/**
 * The way out for addresses that a tenant names: public https alone, whatever it redirects to.
 *
 * @module
 */
import { judgeAddress, judgeUrl } from "../../egress/address.ts";
import { urlWithoutQuery } from "../../protocol/excerpt.ts";
import { EgressDeniedError } from "../../protocol/errors.ts";
import type { Fetch, Resolve } from "../../ports.ts";

/** What a strict fetch needs. */
export interface StrictFetchOptions {
  /** What sends (the runtime's `fetch`). */
  readonly fetch?: Fetch | undefined;
  /** Resolves names, so that their addresses are judged too: Node, Bun and Deno have one. Without it only texts can be judged. */
  readonly resolve?: Resolve | undefined;
}

/**
 * Judges an address that a tenant named.
 *
 * @throws {EgressDeniedError} When it is not public https.
 */
export async function judgeTenantUrl(url: string, resolve?: Resolve): Promise<void> {
  const denied = (reason: string) => new EgressDeniedError(`Cannot use "${urlWithoutQuery(url)}": ${reason}`);
  const reason = judgeUrl(url);
  if (reason !== undefined) throw denied(reason);
  const { hostname } = new URL(url);
  // An address was judged as such.
  if (!resolve || hostname.includes(":") || /^[\d.]+$/.test(hostname)) return;
  const addresses = await resolve(hostname);
  if (!addresses.length) throw denied("its name has no address");
  for (const address of addresses) {
    const wrong = judgeAddress(address);
    if (wrong !== undefined) throw denied(wrong);
  }
}

/** Makes a fetch that judges each address before it sends, and follows nothing by itself. */
export function createStrictFetch({ fetch, resolve }: StrictFetchOptions): Fetch {
  const send = fetch ?? ((url, init) => globalThis.fetch(url, init));
  return async (url, init) => {
    await judgeTenantUrl(url, resolve);
    return await send(url, { ...init, redirect: "manual" });
  };
}
