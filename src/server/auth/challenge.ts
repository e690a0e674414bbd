/**
 * Replies that send a caller away, and tell it what it needs (RFC 6750, section 3; RFC 9728, section 5.1).
 *
 * @module
 */
import { refuse } from "../http/replies.ts";

/** What a challenge says. Texts are our own: nothing that a caller sent is ever repeated. */
export interface Challenge {
  /** The code of RFC 6750, section 3.1; missing where no token was sent. */
  readonly error?: "invalid_request" | "invalid_token" | "insufficient_scope" | undefined;
  /** Why, for people: plain letters without quotes. */
  readonly description?: string | undefined;
  /** All scopes that the request needs. */
  readonly scopes?: readonly string[] | undefined;
  /** Where the metadata of the resource is. */
  readonly metadataUrl: string;
}

const statuses = { invalid_request: 400, invalid_token: 401, insufficient_scope: 403 } as const;

/** The value of a WWW-Authenticate header. */
export function writeChallenge({ error, description, scopes, metadataUrl }: Challenge): string {
  const fields = {
    error,
    error_description: description?.replace(/["\\]/g, "'"),
    scope: scopes?.length ? scopes.join(" ") : undefined,
    resource_metadata: metadataUrl,
  };
  const written = Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [`${name}="${value}"`]);
  return `Bearer ${written.join(", ")}`;
}

/** The reply with a challenge: 400, 401 or 403. */
export function challenge(said: Challenge): Response {
  const { error, description = "A bearer token is needed here" } = said;
  return refuse(error ? statuses[error] : 401, description, {
    headers: { "www-authenticate": writeChallenge(said), "cache-control": "no-store" },
  });
}
