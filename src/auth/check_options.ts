/**
 * Options that make no sense are refused when they are given, not when somebody signs in.
 *
 * @module
 */
import { isLoopbackHost } from "../egress/address.ts";
import { readUrl } from "../egress/url.ts";
import type { OAuthOptions } from "./options.ts";

/** @throws {TypeError} When an option makes no sense: it names the option, and what was expected. */
export function checkOptions(
  { redirectUri, clientMetadataUrl, scopes = [], stepUps = 0, timeout = 0 }: OAuthOptions,
): void {
  const need = (isRight: unknown, name: string, value: unknown, expected: string): void => {
    if (!isRight) throw new TypeError(`Cannot use "${name}" ${JSON.stringify(value)}: expected ${expected}`);
  };
  if (redirectUri !== undefined) {
    const url = readUrl(redirectUri);
    const isSafe = url &&
      !/^(http:f|(javascript|data|file|blob|vbscript):)/.test(url.protocol + isLoopbackHost(url.hostname));
    need(isSafe && !redirectUri.includes("#"), "redirectUri", redirectUri, "https, or http on this machine");
  }
  if (clientMetadataUrl !== undefined) {
    need(
      /^https:\/\/[^/#]+\/[^#]+$/.test(clientMetadataUrl),
      "clientMetadataUrl",
      clientMetadataUrl,
      "https and a path",
    );
  }
  for (const scope of scopes) need(/^[!#-[\]-~]+$/.test(scope), "scopes", scope, "names without spaces and quotes");
  need(stepUps >= 0, "stepUps", stepUps, "0 or more");
  // How long others leave a refresh to this process is kept as JSON, which has no word for what never ends.
  need(timeout >= 0 && timeout < Infinity, "timeout", `${timeout}`, "0 or more milliseconds");
}
