/**
 * People at a browser, where a runner is many isolates: the cookie itself says who it is, sealed.
 *
 * @module
 */
import { systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { deriveSealingKey, openText, sealText } from "../../protocol/web_crypto.ts";
import type { SessionKeeper } from "./sessions.ts";
import type { Principal } from "./types.ts";

/** Options of {@linkcode createSealedSessions}. */
export interface SealedSessionOptions {
  /** Shared by all isolates: 16 bytes or more. */
  readonly secret: string;
  /** How long a session lasts, in milliseconds (1 hour). */
  readonly lifetime?: number | undefined;
  /** How long a token waits to be used, in milliseconds (1 minute). */
  readonly tokenLifetime?: number | undefined;
  /** Time (the system's). */
  readonly clock?: Clock | undefined;
  /** Chance (the system's). */
  readonly random?: Random | undefined;
}

type Kind = "token" | "session";

/**
 * Makes sessions that no isolate has to remember: for runners that are many. What `createSessions` promises and this cannot: a token is good
 * until its minute is over, and not once; and a session that was ended is gone from its browser, and not from who has copied
 * its cookie before.
 *
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 *
 * @example Begun in one isolate, known in the other
 * ```ts
 * import { createSealedSessions } from "@causeway/mcp/runner";
 *
 * const secret = "a secret of 16 bytes or more";
 * const [here, there] = [createSealedSessions({ secret }), createSealedSessions({ secret })];
 * const session = await here.begin(await here.invite({ id: "ada", tenant: "acme" }));
 * console.assert((await there.find(session?.id ?? ""))?.id === "ada");
 * ```
 */
export function createSealedSessions(options: SealedSessionOptions): SessionKeeper {
  const { secret, lifetime = 3_600_000, tokenLifetime = 60_000 } = options;
  const { clock = systemClock, random = systemRandom } = options;
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < 16) {
    throw new RangeError(`Cannot use the secret: it has ${bytes.length} bytes, expected 16 or more`);
  }
  let made: CryptoKey | undefined;
  // Callers at the same time make the same key: an isolate must not wait across requests.
  const key = async (): Promise<CryptoKey> => made ??= await deriveSealingKey(bytes, "causeway browser sessions 1");
  const seal = async (kind: Kind, { id, tenant, scopes, expiresAt }: Principal, until: number): Promise<string> => {
    const text = JSON.stringify([id, tenant, scopes ?? null, expiresAt ?? null, until]);
    return await sealText(await key(), random.bytes(12), text, kind);
  };
  const open = async (kind: Kind, text: string): Promise<{ principal: Principal; until: number } | undefined> => {
    const plain = await openText(await key(), text, kind);
    if (plain === undefined) return undefined;
    const [id, tenant, scopes, expiresAt, until] = JSON.parse(plain);
    const principal = { id, tenant, ...(scopes && { scopes }), ...(expiresAt !== null && { expiresAt }) };
    return until > clock.now() ? { principal, until } : undefined;
  };
  // Neither is good for longer than what it was begun with.
  const endOf = ({ expiresAt = Infinity }: Principal, milliseconds: number): number =>
    Math.min(clock.now() + milliseconds, expiresAt);
  return {
    invite: (principal) => seal("token", principal, endOf(principal, tokenLifetime)),
    async begin(token) {
      const { principal } = await open("token", token) ?? {};
      if (!principal) return undefined;
      const expiresAt = endOf(principal, lifetime);
      return { id: await seal("session", principal, expiresAt), principal, expiresAt };
    },
    async find(id) {
      const { principal, until } = await open("session", id) ?? {};
      return principal && { ...principal, expiresAt: until };
    },
    end: () => Promise.resolve(),
  };
}
