/**
 * What a refusal asks for (RFC 6750, section 3; RFC 9728, section 5.1).
 *
 * @module
 */
import { readChallenges } from "../challenge.ts";
import { readScopes } from "./scopes.ts";

/** What a server asked for. */
export interface Demand {
  /** Where the metadata of the resource is. */
  readonly metadataUrl?: string | undefined;
  /** The scopes of its challenge. */
  readonly scopes: readonly string[];
  /** Why a token that was sent is no good, in the server's words. */
  readonly refusal?: string | undefined;
  /** What is asked for beside what the server names. */
  readonly wanted?: readonly string[] | undefined;
  /** More is asked for than what the tokens allow. */
  readonly isStepUp?: boolean;
  /** Somebody asked for this sign-in: a person may have something to do for it. */
  readonly isExplicit?: boolean;
}

/** Reads the challenges of a reply. */
export function readDemand(
  { headers }: { readonly headers: Headers },
): Demand & { readonly error: string | undefined } {
  const challenges = readChallenges(headers.get("www-authenticate"));
  const ours = challenges.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  // What one leaves out another may say; the first that says it counts.
  const said: Readonly<Record<string, string>> = Object.assign(
    {},
    ...ours.reverse().map(({ parameters }) => parameters),
  );
  const { resource_metadata: metadataUrl, scope, error, error_description: refusal } = said;
  return { metadataUrl, scopes: readScopes(scope), error, refusal };
}
