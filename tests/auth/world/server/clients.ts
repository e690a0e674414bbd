/**
 * The clients that a server knows, and how it makes sure that it is them (RFC 6749, section 2.3; RFC 7523).
 *
 * @module
 */
import type { Clock } from "../../../../src/ports.ts";
import { isJson, isSignedBy, type Json, readJwt } from "../jwt.ts";
import type { SeenRequest } from "../request_log.ts";
import { Refusal } from "./refusal.ts";

/** A client. */
export interface KnownClient {
  readonly id: string;
  readonly secret?: string | undefined;
  /** When the secret ends, in milliseconds; undefined: never. */
  readonly secretExpiresAt?: number | undefined;
  readonly authMethod: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Public keys, for `private_key_jwt`. */
  readonly keys?: readonly JsonWebKey[] | undefined;
  /** What it said when it registered. */
  readonly metadata?: Json | undefined;
}

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** The clients of one server. */
export class Clients {
  readonly known: Map<string, KnownClient> = new Map();
  readonly #clock: Clock;
  readonly #assertions = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes a client known. */
  add(client: Partial<KnownClient> & Pick<KnownClient, "id">): KnownClient {
    const { secret, keys } = client;
    const authMethod = secret ? "client_secret_basic" : keys ? "private_key_jwt" : "none";
    const grantTypes = ["authorization_code", "refresh_token"];
    const whole = { authMethod, redirectUris: [], grantTypes, ...client };
    this.known.set(whole.id, whole);
    return whole;
  }

  /**
   * Finds out whose a request at an endpoint is.
   *
   * @param audiences What a signed assertion may be meant for.
   * @param find Looks beyond the clients that are known.
   * @throws {Refusal} When it is nobody's, or the proof is wrong.
   */
  async authenticate(
    seen: SeenRequest,
    audiences: readonly string[],
    find: (id: string) => KnownClient | undefined,
  ): Promise<KnownClient> {
    const shown = show(seen);
    const client = this.known.get(shown.id) ?? find(shown.id);
    if (!client) throw stranger("the client is not known");
    if (shown.method !== client.authMethod) throw stranger(`the client is to use ${client.authMethod}`);
    if (client.secretExpiresAt !== undefined && client.secretExpiresAt <= this.#clock.now()) {
      throw stranger("the secret has expired");
    }
    if (shown.secret !== undefined && shown.secret !== client.secret) throw stranger("the secret is another one");
    if (shown.assertion !== undefined) await this.#checkAssertion(shown.assertion, client, audiences);
    return client;
  }

  async #checkAssertion(assertion: string, client: KnownClient, audiences: readonly string[]): Promise<void> {
    const read = readJwt(assertion);
    const { iss, sub, aud, exp, jti } = read?.payload ?? {};
    if (!read || iss !== client.id || sub !== client.id) throw stranger("the assertion is another client's");
    if (![aud].flat().some((name) => audiences.some((known) => known === name))) {
      throw stranger("the assertion is meant for another server");
    }
    if (typeof exp !== "number" || exp * 1_000 <= this.#clock.now()) throw stranger("the assertion has expired");
    if (typeof jti !== "string" || this.#assertions.has(jti)) throw stranger("the assertion is not new");
    const signed = await Promise.all((client.keys ?? []).map((key) => isSignedBy(read, key)));
    if (!signed.includes(true)) throw stranger("the assertion is signed by another key");
    this.#assertions.add(jti);
  }
}

interface Shown {
  readonly id: string;
  readonly method: string;
  readonly secret?: string;
  readonly assertion?: string;
}

/** What a request shows of its client. One way only may be used. */
function show({ headers, form }: SeenRequest): Shown {
  const header = headers.get("authorization");
  const [assertion, secret, id] = [form.get("client_assertion"), form.get("client_secret"), form.get("client_id")];
  if ([header, assertion, secret].filter((way) => way !== null).length > 1) {
    throw new Refusal("invalid_request", "the client shows itself in two ways");
  }
  if (header !== null) return { ...readBasic(header), method: "client_secret_basic" };
  if (assertion !== null) {
    if (form.get("client_assertion_type") !== assertionType) throw stranger("the kind of assertion is not known");
    const subject = readJwt(assertion)?.payload.sub;
    return { id: typeof subject === "string" ? subject : "", method: "private_key_jwt", assertion };
  }
  if (id === null) throw stranger("the client does not say who it is");
  return secret === null ? { id, method: "none" } : { id, method: "client_secret_post", secret };
}

function readBasic(header: string): { id: string; secret: string } {
  const encoded = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(header)?.[1];
  if (encoded === undefined) throw stranger("the Authorization header is none of Basic");
  // Both halves are written as in a form (RFC 6749, section 2.3.1).
  const [id = "", secret = ""] = atob(encoded).split(":").map((half) => {
    return decodeURIComponent(half.replace(/\+/g, " "));
  });
  return { id, secret };
}

function stranger(reason: string): Refusal {
  return new Refusal("invalid_client", reason, 401, { "www-authenticate": "Basic" });
}

/** The client that a document tells of, which stands at the URL that is its id. Undefined: it tells something else. */
export function readClientDocument(url: string, document: unknown): KnownClient | undefined {
  if (!isJson(document) || document.client_id !== url) return undefined;
  const { redirect_uris: uris, grant_types: types, token_endpoint_auth_method: method, jwks } = document;
  const keys = isJson(jwks) && Array.isArray(jwks.keys) ? jwks.keys.filter(isJson) : undefined;
  return {
    id: url,
    authMethod: typeof method === "string" ? method : "none",
    redirectUris: texts(uris),
    grantTypes: types === undefined ? ["authorization_code"] : texts(types),
    keys,
    metadata: document,
  };
}

/** The texts in a list. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
