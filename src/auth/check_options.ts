/**
 * Options that make no sense are refused when they are given, not when somebody signs in.
 *
 * @module
 */
import { isLoopbackHost } from "../egress/address.ts";
import type { OAuthOptions } from "./options.ts";

/** @throws {TypeError} When an option makes no sense: it names the option, and what was expected. */
export function checkOptions({ redirectUri, clientMetadataUrl, scopes, stepUps, timeout }: OAuthOptions): void {
  const wrong = (name: string, value: unknown, expected: string) =>
    new TypeError(`Cannot use "${name}" ${JSON.stringify(value)}: expected ${expected}`);
  const redirect = readUrl(redirectUri);
  if (redirectUri !== undefined) {
    const isPlain = redirect?.protocol === "http:" && !isLoopbackHost(redirect.hostname);
    if (!redirect || isPlain || redirect.hash || /^(javascript|data|file|blob|vbscript):$/.test(redirect.protocol)) {
      throw wrong(
        "redirectUri",
        redirectUri,
        "https, http on this machine, or a scheme of your own, without a fragment",
      );
    }
  }
  const document = readUrl(clientMetadataUrl);
  if (clientMetadataUrl !== undefined && (document?.protocol !== "https:" || document.pathname === "/")) {
    throw wrong("clientMetadataUrl", clientMetadataUrl, "an https URL with a path");
  }
  for (const scope of scopes ?? []) {
    if (!/^[!#-[\]-~]+$/.test(scope)) throw wrong("scopes", scope, "names without spaces and quotes");
  }
  for (const [name, value] of Object.entries({ stepUps, timeout })) {
    if (value !== undefined && !(value >= 0)) throw wrong(name, value, "0 or more");
  }
}

function readUrl(text: string | undefined): URL | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}
