/**
 * A protected MCP resource of the world: it says where tokens come from, and takes those alone that are meant for it.
 *
 * @module
 */
import type { Clock } from "../../../../src/ports.ts";
import { createHandler, McpServer } from "../../../../src/server/mod.ts";
import { heldRequest } from "../../../support/held_request.ts";
import { ProofJudge } from "../dpop.ts";
import { isJson, type Json } from "../jwt.ts";
import type { SeenRequest } from "../request_log.ts";
import type { IssuedToken } from "../server/issued.ts";
import type { AuthorizationServer } from "../server/server.ts";
import { type Quoting, writeChallenge } from "./challenge.ts";

/** What a request wants of the resource. */
export interface Wanted {
  /** The JSON-RPC method; empty where there is none. */
  readonly method: string;
  /** The tool, prompt or resource. */
  readonly name: string;
}

/** What can be told apart about a resource. A test may turn each at any time. */
export interface ResourceKnobs {
  /** Where its metadata is (RFC 9728): at a place of its own that only the challenge tells, at its path, at the root. */
  places: { header: boolean; path: boolean; root: boolean };
  /** `resource_metadata` of the challenge: the first place that there is, nothing, or this text. */
  metadataUrl: "given" | "absent" | { readonly text: string };
  /** `scope` of the challenge. */
  scope: string | undefined;
  /** Laid over the metadata; undefined takes a field away. */
  metadata: Json;
  /** What it calls itself, which is what tokens have to be for. */
  resource: string;
  scheme: string;
  quoting: Quoting;
  /** Challenges of other schemes, before and after its own in one header. */
  before: string[];
  after: string[];
  /** Whole headers in the place of all that. */
  challenges: string[] | undefined;
  /** Whether a request needs a token. */
  protects: (wanted: Wanted) => boolean;
  /** The scopes that a request needs. */
  needs: (wanted: Wanted) => readonly string[];
  /** Takes tokens that name no resource, as servers of 2025-03-26 do. */
  takesUnbound: boolean;
  dpop: "off" | "taken" | "needed";
}

/** What a resource is told of the world. */
export interface ResourceParts {
  readonly url: string;
  readonly clock: Clock;
  /** The servers whose tokens it takes. */
  readonly servers: readonly AuthorizationServer[];
  readonly knobs?: Partial<ResourceKnobs> | undefined;
  /** What stands behind it. Default: an MCP server with the tools `echo` and `write`. */
  readonly handler?: ((request: Request) => Response | Promise<Response>) | undefined;
  /** The eras of the MCP server. */
  readonly eras?: readonly ("modern" | "legacy")[] | undefined;
}

const wellKnown = "/.well-known/oauth-protected-resource";

/** A protected resource. */
export class Resource {
  readonly url: string;
  readonly knobs: ResourceKnobs;
  readonly proofs: ProofJudge;
  /** How many requests were let in. */
  admitted = 0;
  readonly #servers: readonly AuthorizationServer[];
  readonly #handler: (request: Request) => Response | Promise<Response>;

  constructor({ url, clock, servers, knobs, handler, eras }: ResourceParts) {
    this.url = url;
    this.proofs = new ProofJudge(clock);
    this.#servers = servers;
    this.#handler = handler ??
      createHandler(createTools(), { clock, allowedHosts: "*", ...(eras && { eras: [...eras] }) });
    this.knobs = {
      places: { header: false, path: true, root: false },
      metadataUrl: "given",
      scope: undefined,
      metadata: {},
      resource: url,
      scheme: "Bearer",
      quoting: "quoted",
      before: [],
      after: [],
      challenges: undefined,
      protects: () => true,
      needs: () => [],
      takesUnbound: false,
      dpop: "taken",
      ...knobs,
    };
  }

  /** Answers a request. Undefined: it is none of its own. */
  async handle(seen: SeenRequest): Promise<Response | undefined> {
    if (this.metadataUrls().includes(seen.url.href)) return Response.json(this.#describe());
    if (seen.url.origin + seen.url.pathname !== this.url) return undefined;
    const wanted = readWanted(seen.body);
    const refused = this.knobs.protects(wanted) ? await this.#judge(seen, wanted) : undefined;
    if (refused) return refused;
    this.admitted++;
    const { method, url, headers, body, signal } = seen;
    const init = { method, headers, ...(body === "" ? {} : { body }), ...(signal && { signal }) };
    const response = await this.#handler(heldRequest(url.href, init));
    if (this.proofs.nonce === undefined) return response;
    const reply = new Response(response.body, response);
    reply.headers.set("dpop-nonce", this.proofs.nonce);
    return reply;
  }

  /** Where its metadata is, in the order in which the challenge would tell it. */
  metadataUrls(): string[] {
    const { origin, pathname } = new URL(this.url);
    const { header, path, root } = this.knobs.places;
    return [
      ...(header ? [`${origin}/metadata/of/this`] : []),
      ...(path ? [origin + wellKnown + pathname.replace(/\/$/, "")] : []),
      ...(root ? [origin + wellKnown] : []),
    ];
  }

  #describe(): Json {
    const { resource, metadata } = this.knobs;
    const servers = this.#servers.map(({ issuer }) => issuer);
    return { resource, authorization_servers: servers, bearer_methods_supported: ["header"], ...metadata };
  }

  async #judge(seen: SeenRequest, wanted: Wanted): Promise<Response | undefined> {
    const header = seen.headers.get("authorization");
    if (seen.url.searchParams.has("access_token")) return this.#refuse(400, { error: "invalid_request" });
    if (header === null) return this.#refuse(401, { scope: this.knobs.scope });
    const [, scheme = "", text = ""] = /^(bearer|dpop) (\S+)$/i.exec(header) ?? [];
    const token = this.#servers.map((server) => server.find(text)).find((found) => found !== undefined);
    if (!token || !this.#isForThis(token)) {
      return this.#refuse(401, { error: "invalid_token", scope: this.knobs.scope });
    }
    const unproved = await this.#prove(seen, scheme.toLowerCase(), token);
    if (unproved) return this.#refuse(401, { error: unproved }, "DPoP");
    const needed = this.knobs.needs(wanted);
    if (needed.every((scope) => token.scopes.includes(scope))) return undefined;
    return this.#refuse(403, { error: "insufficient_scope", scope: needed.join(" ") });
  }

  #isForThis({ resource }: IssuedToken): boolean {
    return resource === this.knobs.resource || (resource === undefined && this.knobs.takesUnbound);
  }

  /** What is wrong with how a token is shown. */
  async #prove(seen: SeenRequest, scheme: string, { token, jkt }: IssuedToken): Promise<string | undefined> {
    if (jkt === undefined) return scheme === "bearer" && this.knobs.dpop !== "needed" ? undefined : "invalid_token";
    if (scheme !== "dpop" || this.knobs.dpop === "off") return "invalid_token";
    const judged = await this.proofs.judge(seen, token);
    if ("code" in judged) return judged.code;
    return judged.jkt === jkt ? undefined : "invalid_token";
  }

  /** @param scheme For what has to do with a proof (RFC 9449, section 7.1). Default: what the test says. */
  #refuse(status: number, fields: Readonly<Record<string, string | undefined>>, scheme?: string): Response {
    const headers = new Headers();
    for (const value of this.#challenges(fields, scheme)) headers.append("www-authenticate", value);
    if (this.proofs.nonce !== undefined) headers.set("dpop-nonce", this.proofs.nonce);
    return new Response("no entry", { status, headers });
  }

  #challenges(fields: Readonly<Record<string, string | undefined>>, other: string | undefined): string[] {
    const { challenges, metadataUrl, scheme, quoting, before, after } = this.knobs;
    if (challenges) return challenges;
    const [first] = this.metadataUrls();
    const told = metadataUrl === "given" ? first : metadataUrl === "absent" ? undefined : metadataUrl.text;
    const own = writeChallenge(other ?? scheme, { ...fields, resource_metadata: told }, quoting);
    return [[...before, own, ...after].join(", ")];
  }
}

function createTools(): McpServer {
  const server = new McpServer({ name: "protected", version: "1.0.0" });
  const input = { type: "object", properties: { text: { type: "string" } } };
  server.tool("echo", { input }, ({ text }) => `echo: ${String(text)}`);
  server.tool("write", { input }, ({ text }) => `written: ${String(text)}`);
  return server;
}

function readWanted(body: string): Wanted {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    // A GET, or no JSON: it wants nothing by name.
  }
  const { method, params } = isJson(message) ? message : {};
  const { name, uri } = isJson(params) ? params : {};
  return { method: typeof method === "string" ? method : "", name: String(name ?? uri ?? "") };
}
