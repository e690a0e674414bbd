/**
 * What a grant is told, over servers in memory: clients authenticate for real, and every request is judged as it would be.
 *
 * @module
 */
import { type AuthorizationServer, customFetch, genericTokenEndpointRequest } from "oauth4webapi";
import { assert } from "@std/assert";
import { authenticationOf } from "../../../src/auth/authentication.ts";
import type { Grant, GrantContext, OAuthClient, ServerMetadata, TokenResponse } from "../../../src/auth/seam.ts";
import { createGuardedFetch } from "../../../src/egress/guarded_fetch.ts";
import { Redactor } from "../../../src/egress/redact.ts";
import { type Fetch, systemRandom } from "../../../src/ports.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { isObject } from "../../../src/protocol/json_rpc.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

export const issuer = "https://auth.example.com";
export const tokenEndpoint: string = `${issuer}/token`;
export const deviceEndpoint: string = `${issuer}/device`;
export const resource = "https://mcp.example.com/mcp";

/** One request that a server got. */
export interface Seen {
  readonly url: string;
  readonly method: string;
  readonly form: URLSearchParams;
  readonly headers: Headers;
}

/** What a server in memory answers. */
export type Answer = (seen: Seen, count: number) => Response | Promise<Response>;

/** What a world may be given. */
export interface WorldOptions {
  readonly metadata?: Partial<ServerMetadata>;
  readonly scopes?: readonly string[];
  readonly resource?: string | undefined;
  readonly signal?: AbortSignal;
  /** The URL that the operator gave. */
  readonly operator?: string;
}

/** A sound answer of a token endpoint. */
export const token = (): Response =>
  Response.json({ access_token: "the-access-token", token_type: "Bearer", expires_in: 60 });

/** A refusal of a token endpoint. */
export function refusal(error: string, description?: string, status = 400): Response {
  return Response.json({ error, ...(description === undefined ? {} : { error_description: description }) }, { status });
}

/** Servers by URL, and a grant's context over them. */
export class GrantWorld {
  readonly clock: VirtualClock = new VirtualClock();
  readonly seen: Seen[] = [];
  readonly redactor: Redactor = new Redactor();
  readonly servers: Map<string, Answer> = new Map([[tokenEndpoint, token]]);
  readonly #options: WorldOptions;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
  }

  /** The forms that one address got. */
  forms(url: string): URLSearchParams[] {
    return this.seen.filter((seen) => seen.url === url && seen.method === "POST").map(({ form }) => form);
  }

  /** Runs a grant. */
  obtain(grant: Grant): Promise<TokenResponse> {
    return grant.obtain(this.context(grant));
  }

  /** What the grant is told. */
  context(grant: Grant): GrantContext {
    const { scopes = ["files:read"], signal, operator, metadata } = this.#options;
    return createContext(grant, {
      metadata: { issuer, token_endpoint: tokenEndpoint, ...metadata },
      resource: "resource" in this.#options ? this.#options.resource : resource,
      scopes,
      signal,
      operator,
      clock: this.clock,
      fetch: (url, init) => this.#answer(url, init),
      secret: (value) => this.redactor.add(value),
    });
  }

  async #answer(url: string, init: RequestInit): Promise<Response> {
    const form = new URLSearchParams(typeof init.body === "string" ? init.body : String(init.body ?? ""));
    const seen = { url, method: init.method ?? "GET", form, headers: new Headers(init.headers) };
    this.seen.push(seen);
    const count = this.seen.filter((other) => other.url === url).length;
    return await this.servers.get(url)?.(seen, count) ?? new Response("<!doctype html>nothing here", { status: 404 });
  }
}

/** What a context is made of. */
export interface ContextParts extends Pick<GrantContext, "metadata" | "resource" | "scopes" | "secret" | "clock"> {
  readonly fetch: Fetch;
  readonly operator?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Makes what a grant is told. */
export function createContext(grant: Grant, parts: ContextParts): GrantContext {
  const { fetch: send, operator = resource, signal = new AbortController().signal, ...told } = parts;
  const { metadata, scopes } = told;
  const client: OAuthClient = grant.client ?? { clientId: "registered" };
  const fetch = createGuardedFetch({
    fetch: send,
    operator,
    clock: told.clock,
    ...(grant.allow ? { allow: grant.allow } : {}),
  });
  const ask = async (url: string, init: object): Promise<Response> => {
    const { status, headers, text } = await fetch(url, init);
    return new Response(text, { status, headers });
  };
  const server = metadata as AuthorizationServer; // what is read of it has the same types
  return {
    ...told,
    clientId: client.clientId,
    signal,
    random: systemRandom,
    fetch,
    async request(grantType, parameters = {}) {
      const scope: Record<string, string> = scopes.length ? { scope: scopes.join(" ") } : {};
      const form = { ...scope, ...(told.resource === undefined ? {} : { resource: told.resource }), ...parameters };
      const answer = await readAnswer(
        await genericTokenEndpointRequest(
          server,
          { client_id: client.clientId },
          authenticationOf(client),
          grantType,
          form,
          { [customFetch]: ask, signal },
        ),
      );
      assert(typeof answer.access_token === "string");
      return { accessToken: answer.access_token, tokenType: "bearer" };
    },
    async post(endpoint, parameters) {
      const body = new URLSearchParams(parameters);
      const headers = new Headers({ accept: "application/json" });
      await authenticationOf(client)({ issuer: metadata.issuer }, { client_id: client.clientId }, body, headers);
      headers.set("content-type", "application/x-www-form-urlencoded");
      return await readAnswer(
        await ask(metadata[endpoint] ?? "", { method: "POST", body: body.toString(), headers, signal }),
      );
    },
  };
}

async function readAnswer(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // No JSON is no answer.
  }
  if (response.ok && isObject(answer)) return answer;
  const error = isObject(answer) && typeof answer.error === "string" ? answer.error : undefined;
  throw new AuthorizationError(`The server refused (${response.status})`, { error });
}

/** The parts of a JWT. */
export function readJwt(text: string): { header: Record<string, unknown>; payload: Record<string, unknown> } {
  const [header = {}, payload = {}] = text.split(".", 2).map((part): Record<string, unknown> => {
    const value: unknown = JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
    return isObject(value) ? value : {};
  });
  return { header, payload };
}
