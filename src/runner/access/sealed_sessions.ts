/**
 * People at a browser, where a runner is many isolates: the cookie itself says who it is, sealed.
 *
 * @module
 */
import { systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { deriveSealingKey, openText, sealText } from "../../protocol/web_crypto.ts";
import { checkAmount } from "../amount.ts";
import { endOf } from "./ends.ts";
import { checkSecret } from "./envelope.ts";
import type { SessionKeeper } from "./sessions.ts";

/** Options of {@linkcode createSealedSessions}. */
export interface SealedSessionOptions {
  /** Shared by all isolates: 16 bytes or more. */
  readonly secret: string;
  /** How long a session lasts, in milliseconds (1 hour). */
  readonly lifetime?: number | undefined;
  /** Time (the system's). */
  readonly clock?: Clock | undefined;
  /** Chance (the system's). */
  readonly random?: Random | undefined;
}

/** What is sealed is good for this alone. */
const kind = "session";

/**
 * Makes sessions that no isolate has to remember: for runners that are many. They begin with an API key alone: nobody would remember
 * that a token was used, so there are none. What `createSessions` promises and this cannot: a session that was ended is gone from its
 * browser, and not from who has copied its cookie before.
 *
 * @throws {RangeError} When the secret is shorter than 16 bytes, or `lifetime` is no number of 1 or more.
 *
 * @example Begun in one isolate, known in the other
 * ```ts
 * import { createSealedSessions } from "@causeway/mcp/runner";
 *
 * const secret = "a secret of 16 bytes or more";
 * const [here, there] = [createSealedSessions({ secret }), createSealedSessions({ secret })];
 * const session = await here.open({ id: "ada", tenant: "acme" });
 * console.assert((await there.find(session?.id ?? ""))?.id === "ada");
 * ```
 */
export function createSealedSessions(options: SealedSessionOptions): SessionKeeper {
  const { secret, lifetime = 3_600_000 } = options;
  const { clock = systemClock, random = systemRandom } = options;
  checkAmount("lifetime", lifetime);
  const bytes = checkSecret(secret);
  let made: CryptoKey | undefined;
  // Callers at the same time make the same key: an isolate must not wait across requests.
  const key = async (): Promise<CryptoKey> => made ??= await deriveSealingKey(bytes, "causeway browser sessions 2");
  return {
    async open(principal) {
      const { id, tenant, scopes, expiresAt: end, key: hash } = principal;
      const expiresAt = endOf(clock.now(), lifetime, end);
      if (expiresAt <= clock.now()) return undefined;
      const text = JSON.stringify([id, tenant, scopes ?? null, expiresAt, hash]);
      return { id: await sealText(await key(), random.bytes(12), text, kind), principal, expiresAt };
    },
    async find(text) {
      const plain = await openText(await key(), text, kind);
      if (plain === undefined) return undefined;
      const [id, tenant, scopes, expiresAt, hash] = JSON.parse(plain);
      if (expiresAt <= clock.now()) return undefined;
      return { id, tenant, ...(scopes && { scopes }), expiresAt, ...(hash && { key: hash }) };
    },
    end: () => Promise.resolve(),
  };
}
