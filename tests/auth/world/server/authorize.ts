/**
 * The authorization endpoint: the person says yes at once, and goes back with a code.
 *
 * @module
 */
import type { SeenRequest } from "../request_log.ts";
import type { KnownClient } from "./clients.ts";
import type { Issued } from "./issued.ts";
import type { ServerKnobs } from "./knobs.ts";
import { need, Refusal, scopesOf } from "./refusal.ts";
import { readUrl } from "../../../../src/egress/url.ts";

/** What the endpoint uses of its server. */
export interface AuthorizeParts {
  readonly issuer: string;
  readonly knobs: ServerKnobs;
  readonly issued: Issued;
  /** Whom the person is. */
  readonly subject: string;
  findClient(id: string): KnownClient | undefined;
}

/** Answers a visit: with a page where nobody can be trusted with the answer, otherwise by sending the person back. */
export function authorize({ method, url }: SeenRequest, parts: AuthorizeParts): Response {
  if (method !== "GET") return new Response("come by GET", { status: 405 });
  const { searchParams: asked } = url;
  const client = parts.findClient(asked.get("client_id") ?? "");
  const redirectUri = asked.get("redirect_uri") ?? "";
  if (!client) return page("The client is not known");
  if (!client.redirectUris.includes(redirectUri)) return page(`"${redirectUri}" is no redirect URI of the client`);
  const state = asked.get("state") ?? undefined;
  const { iss, callback } = parts.knobs;
  const issuer = iss === "present" ? parts.issuer : iss === "absent" ? undefined : iss.wrong;
  const back = new URL(redirectUri);
  for (const [name, value] of Object.entries({ ...decide(asked, client, parts), state, iss: issuer, ...callback })) {
    if (value !== undefined) back.searchParams.set(name, value);
  }
  return new Response(null, { status: 302, headers: { location: back.href } });
}

function decide(
  asked: URLSearchParams,
  client: KnownClient,
  parts: AuthorizeParts,
): Readonly<Record<string, string | undefined>> {
  if (parts.knobs.authorizationError) return { ...parts.knobs.authorizationError };
  try {
    return { code: grant(asked, client, parts) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { error: error.code, error_description: error.message };
  }
}

function grant(asked: URLSearchParams, client: KnownClient, { knobs, issued, subject }: AuthorizeParts): string {
  if (asked.get("response_type") !== "code") throw new Refusal("unsupported_response_type", "only code is known");
  if (!client.grantTypes.includes("authorization_code")) throw new Refusal("unauthorized_client", "not this client");
  const challenge = need(asked, "code_challenge");
  if (asked.get("code_challenge_method") !== "S256" || !/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    throw new Refusal("invalid_request", "only S256 is taken");
  }
  need(asked, "state");
  const resource = readResource(asked, knobs);
  const scopes = readScopes(asked, knobs);
  if (knobs.registration && knobs.registration.limitsScopes) {
    const named = String(client.metadata?.scope ?? "").split(" ");
    const other = scopes.find((scope) => !named.includes(scope));
    if (other !== undefined) {
      throw new Refusal("invalid_scope", `the client was not registered with the scope ${other}`);
    }
  }
  return issued.code({
    clientId: client.id,
    subject,
    scopes,
    resource,
    redirectUri: asked.get("redirect_uri") ?? "",
    challenge,
    jkt: asked.get("dpop_jkt") ?? undefined,
    family: issued.family(),
  });
}

/** What the token is to be for. @throws {Refusal} When it is missing or not known (RFC 8707). */
export function readResource(asked: URLSearchParams, { needsResource, resources }: ServerKnobs): string | undefined {
  const [resource, ...more] = asked.getAll("resource");
  if (resource === undefined) {
    if (needsResource) throw new Refusal("invalid_target", "resource is missing");
    return undefined;
  }
  const isSound = readUrl(resource) !== undefined && !resource.includes("#") && !more.length;
  if (!isSound || resources?.includes(resource) === false) {
    throw new Refusal("invalid_target", `the resource ${asked.getAll("resource").join(" ")} is not known`);
  }
  return resource;
}

/** What is granted of what a form asks for. @throws {Refusal} When something is not known. */
export function readScopes(asked: URLSearchParams, knobs: ServerKnobs): readonly string[] {
  const scopes = scopesOf(asked);
  const unknown = scopes.find((scope) => !knobs.scopes.includes(scope));
  if (unknown !== undefined) throw new Refusal("invalid_scope", `the scope ${unknown} is not known`);
  return scopes.length ? knobs.grantsScopes(scopes) : knobs.defaultScopes;
}

function page(text: string): Response {
  return new Response(text, { status: 400, headers: { "content-type": "text/plain" } });
}
