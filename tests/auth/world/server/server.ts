/**
 * An authorization server of the world: its endpoints, and what it remembers.
 *
 * @module
 */
import type { Clock } from "../../../../src/ports.ts";
import { ProofJudge } from "../dpop.ts";
import { createSigner, type Json, type Signer } from "../jwt.ts";
import type { SeenRequest } from "../request_log.ts";
import { authorize, readResource, readScopes } from "./authorize.ts";
import { Clients, type KnownClient, readClientDocument } from "./clients.ts";
import { Devices } from "./device.ts";
import { type Given, grants } from "./grants.ts";
import { Issued, type IssuedToken } from "./issued.ts";
import { type ServerKnobs, soundServer } from "./knobs.ts";
import { describeServer, metadataPaths } from "./metadata.ts";
import { need, Refusal, tellRefusal } from "./refusal.ts";
import { register } from "./registration.ts";

/** What a server is told of the world. */
export interface ServerParts {
  readonly issuer: string;
  readonly clock: Clock;
  readonly knobs?: Partial<ServerKnobs> | undefined;
  /** The documents that clients have put on the web. */
  readonly documents: ReadonlyMap<string, unknown>;
}

/** An authorization server. */
export class AuthorizationServer {
  readonly issuer: string;
  readonly clock: Clock;
  readonly knobs: ServerKnobs;
  readonly clients: Clients;
  readonly issued: Issued;
  readonly devices: Devices;
  readonly proofs: ProofJudge;
  /** Keys of others whose assertions are taken, by issuer. */
  readonly trusted: Map<string, readonly JsonWebKey[]> = new Map();
  /** As what clients are known at the servers that assertions are for, by the id that they have here. */
  readonly clientIdsElsewhere: Map<string, string> = new Map();
  readonly #documents: ReadonlyMap<string, unknown>;
  readonly #base: string;
  #signer: Promise<Signer> | undefined;

  constructor({ issuer, clock, knobs, documents }: ServerParts) {
    this.issuer = issuer;
    this.clock = clock;
    this.knobs = { ...soundServer(), ...knobs };
    this.clients = new Clients(clock);
    this.issued = new Issued(clock);
    this.devices = new Devices(clock);
    this.proofs = new ProofJudge(clock);
    this.#documents = documents;
    this.#base = issuer.replace(/\/$/, "");
  }

  /** What it signs assertions with: most worlds need none, and thousands of key pairs take their time. */
  signer(): Promise<Signer> {
    return this.#signer ??= createSigner();
  }

  /** Where one of its endpoints is. */
  url(endpoint: "authorize" | "token" | "register" | "revoke" | "device" | "keys"): string {
    return `${this.#base}/${endpoint}`;
  }

  /** The access token of this text, if it is good now. */
  find(token: string): IssuedToken | undefined {
    const issued = this.issued.access.get(token);
    return issued && this.issued.isGood(issued) ? issued : undefined;
  }

  /** Answers a request. Undefined: it is none of its own. */
  async handle(seen: SeenRequest): Promise<Response | undefined> {
    const { url } = seen;
    if (url.origin !== new URL(this.issuer).origin) return undefined;
    if (metadataPaths(this.issuer, this.knobs).includes(url.pathname)) {
      return Response.json(describeServer(this.issuer, this.knobs));
    }
    const endpoint = url.origin + url.pathname;
    if (endpoint === this.url("authorize")) return this.#authorize(seen);
    if (endpoint === this.url("keys")) return Response.json({ keys: [(await this.signer()).jwk] });
    const answer = this.#endpoints()[endpoint];
    if (!answer) return undefined;
    if (seen.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
    try {
      return await answer(seen);
    } catch (error) {
      return tellRefusal(error, this.knobs.refusesWith200 ? 200 : undefined);
    }
  }

  #endpoints(): Record<string, (seen: SeenRequest) => Response | Promise<Response>> {
    const { registration, revocation, device } = this.knobs;
    return {
      [this.url("token")]: (seen) => this.#token(seen),
      ...(registration &&
        { [this.url("register")]: (seen) => register(seen, this.clients, registration, this.clock) }),
      ...(revocation && { [this.url("revoke")]: (seen) => this.#revoke(seen) }),
      ...(device && {
        [this.url("device")]: async (seen) => {
          const { id } = await this.#authenticate(seen);
          const grounds = {
            clientId: id,
            subject: "ada",
            scopes: readScopes(seen.form, this.knobs),
            resource: readResource(seen.form, this.knobs),
            family: this.issued.family(),
          };
          return this.devices.begin(grounds, `${this.#base}/activate`, device);
        },
      }),
    };
  }

  #authorize(seen: SeenRequest): Response {
    const { issuer, knobs, issued } = this;
    const findClient = (id: string) => this.clients.known.get(id) ?? this.#documented(id);
    return authorize(seen, { issuer, knobs, issued, subject: "ada", findClient });
  }

  #documented(id: string): KnownClient | undefined {
    return this.knobs.clientDocuments ? readClientDocument(id, this.#documents.get(id)) : undefined;
  }

  async #authenticate(seen: SeenRequest): Promise<KnownClient> {
    if (!seen.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded")) {
      throw new Refusal("invalid_request", "it is no form");
    }
    const names = [...seen.form.keys()];
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new Refusal("invalid_request", `${twice} is there twice`);
    const client = await this.clients.authenticate(
      seen,
      [this.issuer, this.url("token")],
      (id) => this.#documented(id),
    );
    if (this.knobs.authMethods.includes(client.authMethod)) return client;
    throw new Refusal("invalid_client", `${client.authMethod} is not taken here`, 401);
  }

  async #token(seen: SeenRequest): Promise<Response> {
    const client = await this.#authenticate(seen);
    const type = need(seen.form, "grant_type");
    const grant = grants[type];
    if (!grant || !this.knobs.grantTypes.includes(type)) throw new Refusal("unsupported_grant_type", type);
    if (!client.grantTypes.includes(type)) throw new Refusal("unauthorized_client", `${type} is not for this client`);
    const jkt = await this.#prove(seen);
    return this.#give(await grant({ server: this, client, form: seen.form, jkt }), client);
  }

  /** The key that a request proves. @throws {Refusal} When the proof is wrong or missing. */
  async #prove(seen: SeenRequest): Promise<string | undefined> {
    const { dpop } = this.knobs;
    if (dpop === "off" || (dpop === "taken" && !seen.headers.has("dpop"))) return undefined;
    const judged = await this.proofs.judge(seen);
    if ("jkt" in judged) return judged.jkt;
    const { nonce } = this.proofs;
    throw new Refusal(judged.code, judged.wrong, 400, nonce === undefined ? {} : { "dpop-nonce": nonce });
  }

  #give(given: Given, client: KnownClient): Response {
    const { knobs } = this;
    const headers: Record<string, string> = { "cache-control": "no-store" };
    if (this.proofs.nonce !== undefined) headers["dpop-nonce"] = this.proofs.nonce;
    const reply = "reply" in given ? given.reply : this.#tokens(given, client);
    const told = Object.entries({ ...reply, ...knobs.tokenReply }).filter(([, value]) => value !== undefined);
    if (knobs.reply === "json") return Response.json(Object.fromEntries(told), { headers });
    const form = new URLSearchParams(told.map(([name, value]) => [name, String(value)]));
    return new Response(form.toString(), {
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
    });
  }

  #tokens({ grounds, refresh }: Exclude<Given, { reply: Json }>, client: KnownClient): Json {
    const { knobs, issued } = this;
    const { expiresIn, lifetime } = knobs;
    const gets = refresh === "new" && client.grantTypes.includes("refresh_token") && knobs.refresh !== "none" &&
      (knobs.refresh !== "offline" || grounds.scopes.includes("offline_access"));
    return {
      access_token: issued.token("access", grounds, lifetime),
      token_type: knobs.tokenType ?? (grounds.jkt === undefined ? "Bearer" : "DPoP"),
      expires_in: expiresIn === "absent" ? undefined : expiresIn === "text" ? String(lifetime) : lifetime,
      refresh_token: gets
        ? issued.token("refresh", grounds, knobs.refreshLifetime)
        : typeof refresh === "object"
        ? refresh.token
        : undefined,
      scope: knobs.tellsScope ? grounds.scopes.join(" ") : undefined,
    };
  }

  /** Takes a token back (RFC 7009): a refresh token with all that came of it. */
  async #revoke(seen: SeenRequest): Promise<Response> {
    const client = await this.#authenticate(seen);
    const text = need(seen.form, "token");
    const refresh = this.issued.refresh.get(text);
    const token = refresh ?? this.issued.access.get(text);
    if (token && token.clientId !== client.id) throw new Refusal("invalid_grant", "the token is another client's");
    if (refresh) this.issued.revokeFamily(refresh.family);
    else if (token) token.isRevoked = true;
    return new Response(null, { status: 200 });
  }
}
