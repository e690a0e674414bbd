/**
 * How a config wants one to sign in: our `auth`, that of Cursor, and `oauth` of Claude Code and Gemini.
 *
 * @module
 */
import { isObject, isTexts } from "../../../protocol/json_rpc.ts";
import type { Entry } from "./entry.ts";
import { didYouMean } from "../nearest.ts";
import { kindOf, quoted } from "../problems.ts";
import type { ConfiguredServer, SignIn } from "../types.ts";
import { readUrl } from "../../../egress/url.ts";

/** What is read, by the names in configs. */
const texts: ReadonlyMap<
  string,
  "clientId" | "clientSecret" | "issuer" | "redirectUri" | "clientMetadataUrl"
> = new Map([
  ["clientId", "clientId"],
  ["CLIENT_ID", "clientId"],
  ["clientSecret", "clientSecret"],
  ["CLIENT_SECRET", "clientSecret"],
  ["issuer", "issuer"],
  ["redirectUri", "redirectUri"],
  ["clientMetadataUrl", "clientMetadataUrl"],
]);
const urls: readonly string[] = ["issuer", "redirectUri", "clientMetadataUrl"];
/** Where the authorization server's metadata is: our name, and Claude Code's. */
const places: readonly string[] = ["metadataUrl", "authServerMetadataUrl"];
/** What is known of the authorization server. */
const ofServers: readonly string[] = ["metadata", "resource", ...places];
/** What others know besides: it is found out by asking. */
const passedOver: readonly string[] = [
  ...["authorizationUrl", "tokenUrl", "registrationUrl", "tokenParamName", "audiences"],
];
/** A program has nobody who comes back to it. */
const ofPrograms: readonly string[] = ["privateKey", "algorithm", "keyId"];
const known: readonly string[] = ["type", "enabled", "token", "scopes", "callbackPort", ...ofServers, ...texts.keys()];

/** Reads `auth` and `oauth`; a bearer token is given apart. */
export function readSignIn(entry: Entry): { signIn?: SignIn; token?: string } {
  const field = entry.has("auth") ? "auth" : "oauth";
  const given = entry.value(field);
  // Null counts as missing, as in the fields around it.
  const value = isObject(given)
    ? Object.fromEntries(Object.entries(given).filter(([, inner]) => inner !== null))
    : given;
  if (field === "auth" && entry.has("oauth")) {
    entry.error(["oauth"], () => 'it stands beside "auth": keep one of the two');
  }
  if (value === undefined) return {};
  if (value === false || value === "none") return { signIn: { type: "none" } };
  if (value === true || value === "oauth") return { signIn: { type: "oauth" } };
  if (!isObject(value)) {
    entry.error(
      [field],
      () => `expected { "type": "oauth" } or { "type": "bearer", "token": … }, found ${kindOf(value)}`,
    );
    return {};
  }
  const { type = "token" in value ? "bearer" : "oauth", enabled } = value;
  for (const name of Object.keys(value)) {
    const names = type === "client_credentials" ? [...known, ...ofPrograms] : known;
    if (names.includes(name) || passedOver.includes(name)) continue;
    entry.warn(
      [field, name],
      () => `unknown field${didYouMean(name, names)}: correct its name or take it out`,
      "unknown-field",
    );
  }
  if (enabled === false || type === "none") return { signIn: { type: "none" } };
  if (type === "bearer") return readBearer(entry, field, value.token);
  if (type === "oauth") return { signIn: readOAuth(entry, field, value) };
  if (type === "client_credentials") {
    const signIn = readProgram(entry, field, value);
    return signIn ? { signIn } : {};
  }
  entry.error([field, "type"], () => {
    const found = typeof type === "string" ? `${quoted(type)} is no way to sign in` : `found ${kindOf(type)}`;
    return `${found}: expected "bearer", "oauth", "client_credentials" or "none"`;
  });
  return {};
}

function readBearer(entry: Entry, field: string, value: unknown): { token?: string } {
  const token = entry.text([field, "token"], value, true);
  if (token === undefined) return {};
  if (/^[!-~]+$/.test(token)) return { token };
  entry.error([field, "token"], () => 'it cannot be sent: expected visible ASCII without spaces, and without "Bearer"');
  return {};
}

function readOAuth(entry: Entry, field: string, value: Record<string, unknown>): SignIn {
  const found: [string, string][] = [];
  for (const [name, meant] of texts) {
    if (value[name] === undefined) continue;
    const text = entry.text([field, name], value[name], meant === "clientSecret");
    if (text === undefined) continue;
    if (urls.includes(meant) && !readUrl(text)) {
      entry.error([field, name], () => "this is no URL: expected one like https://example.com/");
    }
    found.push([meant, text]);
  }
  const { callbackPort, scopes } = value;
  const isPort = Number.isInteger(callbackPort) && Number(callbackPort) > 0 && Number(callbackPort) < 65_536;
  if (callbackPort !== undefined && !isPort) {
    entry.error([field, "callbackPort"], () => "this is no port: expected a whole number from 1 to 65535");
  }
  const names = readScopes(entry, field, scopes);
  return {
    type: "oauth",
    ...Object.fromEntries(found),
    ...(names && { scopes: names }),
    ...readServer(entry, field, value),
    ...(isPort && { callbackPort: Number(callbackPort) }),
  };
}

/** What it knows of the authorization server itself. */
function readServer(entry: Entry, field: string, value: Record<string, unknown>): ConfiguredServer {
  const { metadata, resource, issuer } = value;
  const isListed = (one: unknown) => ["string", "boolean"].includes(typeof one) || isTexts(one);
  const isMetadata = isObject(metadata) && !("issuer" in metadata) && Object.values(metadata).every(isListed);
  if (metadata !== undefined && !isMetadata) {
    entry.error(
      [field, "metadata"],
      () => 'expected fields of RFC 8414 without "issuer", as in { "code_challenge_methods_supported": ["S256"] }',
    );
  }
  const [place] = places.filter((name) => value[name] !== undefined);
  const metadataUrl = place && entry.text([field, place], value[place]);
  if (place && metadataUrl !== undefined && !readUrl(metadataUrl)) {
    entry.error([field, place], () => "this is no URL: expected one like https://example.com/");
  }
  // Nothing is a resource too: then none is named.
  const named = resource === undefined ? undefined : entry.fill([field, "resource"], resource);
  if ((metadata ?? named) !== undefined && (issuer ?? place) === undefined) {
    entry.error([field, "issuer"], () => "it is missing: expected the authorization server that this is about");
  }
  return {
    ...(isMetadata && { metadata }),
    ...(metadataUrl !== undefined && { metadataUrl }),
    ...(named !== undefined && { resource: named }),
  };
}

function readScopes(entry: Entry, field: string, scopes: unknown): string[] | undefined {
  const listed = typeof scopes === "string" ? scopes.split(" ").filter((scope) => scope !== "") : scopes;
  return listed === undefined ? undefined : entry.names([field, "scopes"], listed);
}

/** A program that signs in with its own credentials; undefined when it cannot: what is wrong is told. */
function readProgram(entry: Entry, field: string, value: Record<string, unknown>): SignIn | undefined {
  const text = (name: string): string | undefined =>
    value[name] === undefined ? undefined : entry.text([field, name], value[name]);
  const secret = (name: string): string | undefined => {
    const given = value[name];
    // Who reads the file must not be able to be the program.
    if (typeof given === "string" && !/^\$\{(env:|input:)?[\w.-]+\}$/.test(given)) {
      entry.secret(given);
      entry.error([field, name], () => 'it stands in the file: put it into a variable, and write "${NAME}"');
      return undefined;
    }
    return given === undefined ? undefined : entry.text([field, name], given, true);
  };
  const { clientSecret, privateKey } = value;
  if (value.clientId === undefined) entry.error([field, "clientId"], () => "it is missing: expected the program's id");
  if ((clientSecret === undefined) === (privateKey === undefined)) {
    entry.error([field], () => 'expected either "clientSecret" or "privateKey", each as "${NAME}"');
  }
  const issuer = text("issuer");
  if (issuer !== undefined && !readUrl(issuer)) {
    entry.error([field, "issuer"], () => "this is no URL: expected one like https://example.com/");
  } else if (issuer === undefined && clientSecret !== undefined) {
    entry.warn([field, "issuer"], () => "it is missing: the server says who is given the secret; name the issuer");
  }
  const scopes = readScopes(entry, field, value.scopes);
  const found = {
    clientId: text("clientId"),
    clientSecret: secret("clientSecret"),
    privateKey: secret("privateKey"),
    algorithm: text("algorithm"),
    keyId: text("keyId"),
    issuer,
    scopes,
  };
  const { clientId } = found;
  if (clientId === undefined) return undefined;
  const said = Object.fromEntries(Object.entries(found).filter(([, one]) => one !== undefined));
  return { ...said, ...readServer(entry, field, value), type: "client_credentials", clientId };
}
