/**
 * A caller on its way to a Durable Object: the object does not trust who calls it, and decides again.
 *
 * @module
 */
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import { systemClock, toHex } from "../../ports.ts";
import type { Clock } from "../../ports.ts";
import { endOf } from "./ends.ts";
import { isSameText } from "./keys.ts";
import type { Action, Effect, Policy, Principal } from "./types.ts";

const shortestSecret = 16;

/** Who asks, and for whose tenant: what a runner hands to an object. */
export interface AccessEnvelope {
  /** Who asks. */
  readonly principal: Principal;
  /** For whose tenant. */
  readonly tenant: string;
  /** How it showed who it is (`key`). */
  readonly way?: "key" | "token" | "session" | undefined;
  /** The hash of the API key that it has shown (none). */
  readonly key?: string | undefined;
}

/** Options of {@linkcode signAccess} and {@linkcode createAccessCheck}. */
export interface EnvelopeOptions {
  /** Shared by the runner and its objects: 16 bytes or more. */
  readonly secret: string;
  /** Time (the system's). */
  readonly clock?: Clock | undefined;
}

/**
 * Signs who asks, with HMAC-SHA-256.
 *
 * @param options `lifetime` is how long it is good, in milliseconds (60,000).
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 */
export async function signAccess(
  envelope: AccessEnvelope,
  { secret, clock = systemClock, lifetime = 60_000 }: EnvelopeOptions & { readonly lifetime?: number | undefined },
): Promise<string> {
  const { principal: { id, tenant: from, scopes, clientId, expiresAt }, tenant, way = "key", key } = envelope;
  const until = endOf(clock.now(), lifetime, expiresAt);
  const json = JSON.stringify([id, from, scopes ?? null, clientId ?? null, expiresAt ?? null, tenant, until, way, key]);
  // It travels as a header, which takes ASCII alone.
  const text = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `${await hmac(secret, text)}.${text}`;
}

/**
 * Reads what {@linkcode signAccess} has made; undefined when it was not made with this secret, or its time is over.
 *
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 */
export async function readAccess(
  given: unknown,
  { secret, clock = systemClock }: EnvelopeOptions,
): Promise<AccessEnvelope | undefined> {
  return await readSigned(given, { secret, clock });
}

/**
 * Names an object of a tenant: HMAC-SHA-256 over both with their lengths, so that no two pairs have the same name and nobody
 * without the secret can make one.
 *
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 *
 * @example Two pairs that look alike
 * ```ts
 * import { objectName } from "@causeway/mcp/runner";
 *
 * const secret = "a secret of 16 bytes or more";
 * console.assert(await objectName(secret, "a", "bc") !== await objectName(secret, "ab", "c"));
 * ```
 */
export async function objectName(secret: string, tenant: string, name: string): Promise<string> {
  return await hmac(secret, `object:${tenant.length}:${tenant}:${name.length}:${name}`);
}

/** Decides again: gives `deny` for what is not signed, has ended, or names another tenant. */
export type AccessCheck = (
  envelope: unknown,
  question: { readonly tenant: string; readonly server: string; readonly tool: string; readonly action: Action },
) => Promise<Effect>;

/**
 * Makes the check that runs where the work is done. With a `secret`, what it is given has to be a text of {@linkcode signAccess};
 * without one it is a plain {@linkcode AccessEnvelope}, for an object that only its own Worker can reach.
 *
 * What it throws comes from the policy: then nothing may be done.
 *
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 *
 * @example In an object
 * ```ts
 * import { createAccessCheck, createPolicy, signAccess } from "@causeway/mcp/runner";
 *
 * const secret = "a secret of 16 bytes or more";
 * const policy = createPolicy([{ actions: ["call"], effect: "allow" }]);
 * const check = createAccessCheck({ policy, secret });
 * const signed = await signAccess({ principal: { id: "ada", tenant: "acme" }, tenant: "acme" }, { secret });
 * const question = { server: "github", tool: "list_issues", action: "call" } as const;
 * console.assert(await check(signed, { ...question, tenant: "acme" }) === "allow");
 * console.assert(await check(signed, { ...question, tenant: "other" }) === "deny");
 * ```
 */
export function createAccessCheck(
  { policy, secret, clock = systemClock }:
    & { readonly policy: Policy }
    & Partial<Pick<EnvelopeOptions, "secret" | "clock">>,
): AccessCheck {
  if (secret !== undefined) checkSecret(secret);
  return async (given, { tenant, server, tool, action }) => {
    const envelope = secret === undefined ? readPlain(given) : await readSigned(given, { secret, clock });
    if (envelope?.tenant !== tenant) return "deny";
    const { principal } = envelope;
    if (principal.expiresAt !== undefined && principal.expiresAt <= clock.now()) return "deny";
    const can = await policy.open(principal, tenant);
    return can(server, tool, action);
  };
}

async function readSigned(
  given: unknown,
  { secret, clock }: { readonly secret: string; readonly clock: Clock },
): Promise<AccessEnvelope | undefined> {
  if (typeof given !== "string") return undefined;
  const text = given.slice(65);
  if (given[64] !== "." || !isSameText(given.slice(0, 64), await hmac(secret, text))) return undefined;
  const [id, from, scopes, clientId, expiresAt, tenant, until, way, key] = JSON.parse(text);
  if (until <= clock.now()) return undefined;
  return {
    principal: {
      id,
      tenant: from,
      scopes: scopes ?? undefined,
      clientId: clientId ?? undefined,
      expiresAt: expiresAt ?? undefined,
    },
    tenant,
    way,
    key: key ?? undefined,
  };
}

function readPlain(given: unknown): AccessEnvelope | undefined {
  const { principal, tenant } = isObject(given) ? given : {};
  if (!isObject(principal) || typeof tenant !== "string") return undefined;
  const { id, tenant: from, scopes, expiresAt } = principal;
  const isSound = typeof id === "string" && typeof from === "string" && (scopes === undefined || isTexts(scopes)) &&
    (expiresAt === undefined || Number.isFinite(expiresAt));
  return isSound ? given as AccessEnvelope : undefined;
}

/**
 * The bytes of a secret.
 *
 * @throws {RangeError} When there are fewer than 16.
 */
export function checkSecret(secret: string): ReturnType<Uint8Array["slice"]> {
  // Bytes have a text of their own; that of a promise that nobody has waited for is known to anybody.
  const isSecret = typeof secret === "string" || ArrayBuffer.isView(secret);
  const bytes = new TextEncoder().encode(isSecret ? secret : "");
  if (bytes.length >= shortestSecret) return bytes;
  throw new RangeError(`Cannot use the secret: it has ${bytes.length} bytes, expected ${shortestSecret} or more`);
}

async function hmac(secret: string, text: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", checkSecret(secret), algorithm, false, ["sign"]);
  return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text))));
}
