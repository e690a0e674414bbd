/**
 * From what a token or an authorization server says to the claims that a resource decides by.
 *
 * @module
 */
import type { TokenClaims } from "../../ports.ts";
import { isTextOrMissing, isTexts } from "../../protocol/json_rpc.ts";
import { parseObject } from "../parse.ts";

/** A JSON object of a token. */
export type Payload = Readonly<Record<string, unknown>>;

/** Takes a JWT apart, without believing any of it. Undefined when it is none. */
export function readJwt(token: string): { readonly header: Payload; readonly payload: Payload } | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  const [header, payload] = token.split(".", 2).map(decode);
  return header && payload ? { header, payload } : undefined;
}

/**
 * Makes claims of what a JWT (RFC 9068, section 2.2) or an introspection (RFC 7662, section 2.2) says. Undefined when it names
 * nobody, or a field has another type.
 */
export function claimsOf(payload: Payload): TokenClaims | undefined {
  const { sub, iss, aud, exp, scope, scp, client_id, azp } = payload;
  const clientId = client_id ?? azp;
  const scopes = scope ?? scp ?? [];
  // No other field stands in for it: the names of clients and of users may meet.
  if (typeof sub !== "string" || sub === "") return undefined;
  if (!isTextOrMissing(iss) || !isTextOrMissing(clientId)) return undefined;
  if (!isTextOrMissing(aud) && !isTexts(aud)) return undefined;
  if (typeof scopes !== "string" && !isTexts(scopes)) return undefined;
  if (exp !== undefined && !(typeof exp === "number" && exp > 0 && exp < Number.MAX_SAFE_INTEGER)) return undefined;
  return {
    subject: sub,
    issuer: iss,
    audience: aud,
    scopes: typeof scopes === "string" ? scopes.split(" ").filter((name) => name !== "") : scopes,
    clientId,
    expiresAt: exp === undefined ? undefined : exp * 1_000,
    extra: payload,
  };
}

function decode(part: string): Payload | undefined {
  try {
    const bytes = Uint8Array.from(atob(part.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));
    return parseObject(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
