/**
 * Who asks, and whether they may: finds the caller of a request, opens the policy, and writes down each decision.
 *
 * @module
 */
import { canonicalJson } from "../../hub/pins/canonical.ts";
import { systemClock } from "../../ports.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { readBearer } from "../../server/auth/bearer.ts";
import type { Bearer } from "../../server/auth/bearer.ts";
import type { ProtectedResource } from "../../server/auth/options.ts";
import type { AuthInfo } from "../../server/definitions.ts";
import { isReply } from "../../server/http/guards.ts";
import { ask, Refusal, wrongField } from "../rest/problem.ts";
import { hashApiKey, isApiKey } from "./keys.ts";
import type { ApiKeyRecord, KeyStore } from "./keys.ts";
import type { SessionKeeper, SessionPrincipal } from "./sessions.ts";
import type { Action, AuditLog, AuditOutcome, AuditRow, Can, Policy, Principal } from "./types.ts";
import { after } from "../../protocol/promise.ts";

/** How many hashes are remembered, so that each key is hashed once and not with each request. */
const mostHashes = 1_000;

/** Who may come in, and what they may do then. */
export interface AccessOptions {
  /** Finds API keys by their hashes (none). Beside `handedOver`: looks whether those who stay for long still have theirs. */
  readonly keys?: KeyStore | undefined;
  /** Signed access tokens (none are taken). */
  readonly tokens?: {
    /** Verifies them, their audience too: of `protectResource`. */
    readonly resource: ProtectedResource;
    /** Whose principal a verified caller is; undefined: it is nobody's, and not let in. */
    tenantOf(auth: AuthInfo): string | undefined;
  } | undefined;
  /** Callers that another runner has let in and hands over: of `createHandedOver`. Then nobody else is let in. */
  readonly handedOver?: { find(request: Request): Promise<Caller | undefined> } | undefined;
  /** Sessions of browsers, of `createSessions` or `createSealedSessions` (none). */
  readonly sessions?: SessionKeeper | undefined;
  /** Who may do what: of `createPolicy`, or your own. */
  readonly policy: Policy;
  /** Keeps a row for each decision (none). */
  readonly audit?: AuditLog | undefined;
}

/** What access needs beside its options. */
export interface AccessParts {
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/** A caller, and how it showed who it is. */
export interface Caller {
  /** Who it is. */
  readonly principal: Principal;
  /** By an API key, an access token, or the cookie of a session. */
  readonly way: "key" | "token" | "session";
  /** The hash of the API key that it has shown, or that its session was begun with (none). */
  readonly key?: string | undefined;
}

/** What is written down. */
export interface Decision {
  /** The server; empty where there is none. */
  readonly server: string;
  /** The tool, prompt, agent or URI. */
  readonly tool: string;
  /** What it was about. */
  readonly action: Action;
  /** What was decided. */
  readonly outcome: AuditOutcome;
  /** What would be sent: only its hash is kept. */
  readonly arguments?: JsonObject | undefined;
}

/** Who decides, for one principal in one tenant. */
export interface Judge {
  /** Who asks. */
  readonly principal: Principal;
  /** Whose things are asked for. */
  readonly tenant: string;
  /** Opens the policy: as it is now. */
  open(): Can | Promise<Can>;
  /** Writes a decision down. */
  record(decision: Decision): Promise<void>;
}

/** What {@linkcode createJudge} is made of. */
export interface JudgeOptions {
  /** Who may do what. */
  readonly policy: Policy;
  /** Who asks. */
  readonly principal: Principal;
  /** Whose things are asked for. */
  readonly tenant: string;
  /** Keeps a row for each decision (none). */
  readonly audit?: AuditLog | undefined;
  /** The id of the request, for the rows (none). */
  readonly requestId?: string | undefined;
  /** Time (the system's). */
  readonly clock?: Clock | undefined;
  /** Hears of what is down (nobody). */
  readonly logger?: Logger | undefined;
}

/** Makes what decides for one principal in one tenant, and writes it down: for `scopeHub`, where an agent runs. */
export function createJudge(options: JudgeOptions): Judge {
  const { policy, principal, tenant, audit, requestId, clock = systemClock, logger } = options;
  return {
    principal,
    tenant,
    open: () => ask("The policy", () => policy.open(principal, tenant), logger),
    async record({ arguments: given, server, tool, action, outcome }) {
      if (!audit) return;
      const argumentsHash = given && await hashOf(given);
      const at = clock.now();
      const { id, tenant: from } = principal;
      const row: AuditRow = {
        at,
        requestId,
        principal: id,
        from,
        tenant,
        server,
        tool,
        action,
        outcome,
        argumentsHash,
      };
      await ask("The audit log", () => audit.write(row), logger);
    },
  };
}

/** The door of a runner. */
export class Access {
  readonly #options: AccessOptions;
  readonly #parts: AccessParts;
  /** The hashes of keys that were good when they were sent last: whether they still are is looked up each time. */
  readonly #hashes = new Map<string, string>();

  /** @throws {TypeError} When there is no policy, or no way in. */
  constructor(options: AccessOptions, parts: AccessParts) {
    if (typeof options?.policy?.open !== "function") {
      throw new TypeError('Cannot make a runner: "access.policy" is missing, expected what createPolicy gives');
    }
    if (!options.keys && !options.tokens && !options.sessions && !options.handedOver) {
      throw new TypeError('Cannot make a runner: nobody could come in, expected "access.keys", "tokens" or "sessions"');
    }
    this.#options = options;
    this.#parts = parts;
  }

  /** Sessions of browsers, where there are some. */
  get sessions(): SessionKeeper | undefined {
    return this.#options.sessions;
  }

  /** What protects the runner as a resource, where there is something. */
  get resource(): ProtectedResource | undefined {
    return this.#options.tokens?.resource;
  }

  /**
   * Finds who asks: at once where the store of keys knows at once.
   *
   * @throws {Refusal} 401 when nobody known does, 503 when that cannot be found out.
   */
  identify(request: Request): Caller | Promise<Caller> {
    if (this.#options.handedOver) return this.#byRunner(request);
    const bearer = readBearer(request);
    if (bearer.token === undefined || !isApiKey(bearer.token)) return this.#byOther(request, bearer);
    const hash = this.#hashes.get(bearer.token);
    return hash === undefined ? this.#byNewKey(bearer.token) : this.#byKey(bearer.token, hash);
  }

  /** Whether who asked would be let in now, too, with the same scopes. Who was handed over with a token is known by the runner in front alone. */
  async isStill(request: Request, { principal, key }: Pick<Caller, "principal" | "key">): Promise<boolean> {
    const { handedOver, keys } = this.#options;
    if (handedOver && (key === undefined || !keys)) return true;
    try {
      const now = handedOver && key !== undefined
        ? await this.#holding(principal, key)
        : (await this.identify(request)).principal;
      return proofOf(now) === proofOf(principal);
    } catch (error) {
      // What cannot be found out now says nothing of the caller.
      return !(error instanceof Refusal) || error.status >= 500;
    }
  }

  async #byRunner(request: Request): Promise<Caller> {
    const caller = await this.#options.handedOver?.find(request);
    if (caller) return caller;
    throw notSignedIn("This request was not handed over by the runner, or too late");
  }

  async #byOther(request: Request, bearer: Bearer): Promise<Caller> {
    if (bearer.token !== undefined || bearer.wrong !== undefined) return await this.#byToken(request);
    const id = cookieOf(request);
    const found = id === undefined ? undefined : await this.#options.sessions?.find(id);
    return found ? await this.#bySession(found) : await this.#byToken(request);
  }

  /** One that was begun with a key is there as long as the key is, and may what that may now. */
  async #bySession({ key, ...principal }: SessionPrincipal): Promise<Caller> {
    if (key === undefined) return { principal, way: "session" };
    return { principal: await this.#holding(principal, key), way: "session", key };
  }

  /** The same one, as the key with this hash lets in now. */
  async #holding(principal: Principal, key: string): Promise<Principal> {
    const { principal: { id, tenant, scopes } } = await this.#byKey("", key);
    if (id !== principal.id || tenant !== principal.tenant) throw unknownKey();
    return { ...principal, scopes };
  }

  /** Decides for a principal in a tenant. */
  judge(principal: Principal, tenant: string, requestId?: string): Judge {
    const { policy, audit } = this.#options;
    return createJudge({ policy, audit, principal, tenant, requestId, ...this.#parts });
  }

  async #byNewKey(key: string): Promise<Caller> {
    const hash = await hashApiKey(key);
    if (hash === undefined) throw unknownKey();
    const caller = await this.#byKey(key, hash);
    if (this.#hashes.size >= mostHashes) this.#hashes.clear();
    this.#hashes.set(key, hash);
    return caller;
  }

  #byKey(key: string, hash: string): Caller | Promise<Caller> {
    const { keys } = this.#options;
    const found = keys && ask("The store of keys", () => keys.find(hash), this.#parts.logger);
    return after(found, (record) => this.#holder(key, hash, record));
  }

  #holder(key: string, hash: string, record: ApiKeyRecord | undefined): Caller {
    if (!record || (record.expiresAt !== undefined && record.expiresAt <= this.#parts.clock.now())) {
      this.#hashes.delete(key);
      throw unknownKey();
    }
    const { principal: id, tenant, scopes, expiresAt } = record;
    return { principal: { id, tenant, scopes, expiresAt }, way: "key", key: hash };
  }

  async #byToken(request: Request): Promise<Caller> {
    const { tokens } = this.#options;
    if (!tokens) throw notSignedIn("Send an API key as bearer");
    const auth = await tokens.resource(request);
    if (isReply(auth)) throw await refusedToken(auth);
    const tenant = tokens.tenantOf(auth);
    if (typeof tenant !== "string" || tenant === "") {
      throw new Refusal(403, "no_tenant", "The token belongs to no tenant of this runner");
    }
    const { principal: id, scopes, clientId, expiresAt } = auth;
    return { principal: { id, tenant, scopes, clientId, expiresAt }, way: "token" };
  }
}

/** All of a principal that a policy may look at, as one text: what one program may do is not what another one may. Scopes have no order. */
export function proofOf({ id, tenant, scopes, clientId = "" }: Principal): string {
  // Databases give null for none.
  return JSON.stringify([tenant, id, [...scopes ?? []].sort(), clientId]);
}

/**
 * SHA-256 of the canonical JSON of arguments, in hexadecimal digits.
 *
 * @throws {Refusal} 400 when JSON cannot hold them.
 */
export function hashOf(given: JsonObject): Promise<string> {
  let text: string;
  try {
    text = canonicalJson(given);
  } catch {
    throw wrongField("", "it holds a number that is too large, or is nested too deeply");
  }
  return sha256(text);
}

/**
 * The name of the cookie. Over plain http not every browser keeps one that is bound to its host (Chromium does, at loopback). All
 * ports of a host share their cookies (RFC 6265, section 8.5): without the port two runners would sign people out of each other.
 */
export function cookieName(request: Request): string {
  const { protocol, port } = new URL(request.url);
  const name = protocol === "https:" ? "__Host-causeway" : "causeway-session";
  return port ? `${name}-${port}` : name;
}

/** What the cookie of a request holds. */
export function cookieOf(request: Request): string | undefined {
  const name = cookieName(request);
  const found = (request.headers.get("cookie") ?? "").split(";").map((part) => part.trim().split("="))
    .filter(([given]) => given === name);
  // Two of one name: somebody has put one beside ours.
  return found.length === 1 ? found[0]?.[1] : undefined;
}

function unknownKey(): Refusal {
  return notSignedIn("The API key is not known, was withdrawn or has ended");
}

/** 401, with what the caller can do about it. */
export function notSignedIn(detail: string): Refusal {
  return new Refusal(401, "not_signed_in", detail, { headers: { "www-authenticate": "Bearer" } });
}

/** What verifies tokens answers in the form of MCP: its status and challenge are kept. */
async function refusedToken(response: Response): Promise<Refusal> {
  await response.body?.cancel();
  const headers: Record<string, string> = {};
  for (const name of ["www-authenticate", "retry-after"]) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  const { status } = response;
  if (status === 401) return new Refusal(401, "not_signed_in", "The token is missing or not valid", { headers });
  if (status === 403) return new Refusal(403, "insufficient_scope", "The token allows too little", { headers });
  if (status >= 500) return new Refusal(503, "unavailable", "Tokens cannot be verified now", { headers });
  return new Refusal(status >= 400 ? status : 401, "invalid_token", "The token cannot be taken", { headers });
}
