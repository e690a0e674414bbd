/**
 * The options of `causeway login`.
 *
 * @module
 */
import { UsageError } from "../failure.ts";
import { readUrl } from "../../egress/url.ts";

/** How to sign in. */
export interface SignInOptions {
  /** With a code that is entered on any device, instead of a browser on this one. */
  readonly device: boolean;
  /** Whether a browser is opened. */
  readonly open: boolean;
  readonly scopes: readonly string[];
  readonly clientId: string | undefined;
  /** The path of the file that holds the client's secret. */
  readonly clientSecretFile: string | undefined;
  readonly clientMetadataUrl: string | undefined;
  /** The issuer that its authorization server names itself by. */
  readonly issuer: string | undefined;
  /** Whether the server is taken for its own authorization server where it names none. */
  readonly legacy: boolean;
  /** Where the browser comes back to; undefined: a free one. */
  readonly port: number | undefined;
}

/**
 * Reads the options.
 *
 * @param given What was written, by name.
 * @throws {UsageError} When they cannot be understood, or do not go together.
 */
export function readSignInOptions(given: Readonly<Record<string, readonly string[]>>): SignInOptions {
  const together = (name: string, other: string, why: string): void => {
    if (given[name] && given[other]) throw new UsageError(`Cannot use --${name} with --${other}: ${why}`);
  };
  together("device", "no-open", "with --device no browser is opened; leave --no-open out");
  together("device", "port", "with --device nothing comes back to this machine; leave --port out");
  together("client-id", "client-metadata-url", "each of them says who asks; leave one out");
  if (given["client-secret-file"] && !given["client-id"]) {
    throw new UsageError("Cannot use --client-secret-file alone: add --client-id");
  }
  return {
    device: given.device !== undefined,
    open: given["no-open"] === undefined,
    scopes: readScopes(given.scope ?? []),
    clientId: readClientId(given["client-id"]?.at(-1)),
    clientSecretFile: given["client-secret-file"]?.at(-1),
    clientMetadataUrl: readMetadataUrl(given["client-metadata-url"]?.at(-1)),
    issuer: readIssuer(given.issuer?.at(-1)),
    legacy: given.legacy !== undefined,
    port: readPort(given.port?.at(-1)),
  };
}

/** What RFC 6749 allows in a scope (section 3.3). Several may stand in one text, as it writes them. */
function readScopes(texts: readonly string[]): string[] {
  const scopes = texts.flatMap((text) => text.split(" ")).filter((scope) => scope !== "");
  const bad = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (bad !== undefined) {
    throw new UsageError(`Cannot use the scope ${JSON.stringify(bad)}: write plain characters, without quotes`);
  }
  return [...new Set(scopes)];
}

function readClientId(text: string | undefined): string | undefined {
  if (text === undefined || /^[\x20-\x7e]+$/.test(text)) return text;
  throw new UsageError(`Cannot use --client-id ${JSON.stringify(text)}: write plain characters`);
}

function readMetadataUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = readUrl(text);
  if (url?.protocol === "https:" && url.pathname !== "/" && url.username + url.password + url.hash === "") return text;
  throw new UsageError(`Cannot use this --client-metadata-url: write an https URL with a path, as it is published`);
}

function readIssuer(text: string | undefined): string | undefined {
  if (text === undefined || /^https?:$/.test(readUrl(text)?.protocol ?? "")) return text;
  throw new UsageError(`Cannot use --issuer ${JSON.stringify(text)}: write its URL, letter by letter`);
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new UsageError(`Cannot read --port "${text}": write a number from 1 to 65535`);
}
