/**
 * What is kept between two requests, and between two processes.
 *
 * @module
 */
import { isObject, isTextOrMissing, isTexts } from "../../protocol/json_rpc.ts";
import type { ClientAuthMethod, ServerMetadata } from "../seam.ts";

/** A client as it is kept with what it got. Secret. */
export interface KnownClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** The server gave the id: it says nothing of the clients that were made in advance. */
  readonly isRegistered?: boolean | undefined;
  readonly authMethod?: ClientAuthMethod | undefined;
  /** When the secret ends, in milliseconds since 1970. */
  readonly secretExpiresAt?: number | undefined;
}

/** What is known of an MCP server, for one subject. */
export interface ServerRecord {
  readonly issuer: string;
  readonly resource?: string | undefined;
  readonly metadata: ServerMetadata;
  /** All scopes that were asked for so far. */
  readonly scopes: readonly string[];
}

/** The tokens of one subject for one resource. Secret. */
export interface TokenRecord {
  readonly accessToken: string;
  readonly tokenType: "bearer" | "dpop";
  readonly refreshToken?: string | undefined;
  /** In milliseconds since 1970, as `renewAt`: from then on it is renewed before it is used. */
  readonly expiresAt?: number | undefined;
  readonly renewAt?: number | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** All scopes that were asked for so far, by whichever server of the resource. */
  readonly asked?: readonly string[] | undefined;
  readonly client: KnownClient;
  /** The key that the tokens are bound to. */
  readonly dpopKey?: string | undefined;
  /** Somebody is refreshing them, until then at the latest. */
  readonly lease?: { readonly id: string; readonly until: number } | undefined;
}

/** A sign-in that waits for its person. Secret. */
export interface PendingRecord {
  readonly state: string;
  readonly verifier: string;
  readonly server: string;
  readonly redirectUri: string;
  readonly resource?: string | undefined;
  readonly metadata: ServerMetadata;
  readonly scopes: readonly string[];
  readonly client: KnownClient;
  readonly session?: string | undefined;
  readonly expiresAt: number;
}

/** The sign-ins of one subject that nobody has finished, the oldest first. */
export interface PendingList {
  readonly list: readonly { readonly key: string; readonly expiresAt: number }[];
}

/** A record before it was looked at. */
type Raw = Readonly<Record<string, unknown>>;

/** The sign-ins of a {@linkcode PendingList}, as far as they are some: what is none hides no other one. */
export function pendingOf({ list }: Raw): PendingList["list"] {
  return Array.isArray(list)
    ? list.filter((entry) => isObject(entry) && typeof entry.key === "string" && Number.isFinite(entry.expiresAt))
    : [];
}

/** Tells whether it is a {@linkcode KnownClient}. */
export function isKnownClient(value: unknown): value is KnownClient {
  return isObject(value) && typeof value.clientId === "string" && isTextOrMissing(value.clientSecret);
}

/** Tells whether it is a {@linkcode ServerRecord}. */
export function isServerRecord(value: object): value is ServerRecord {
  const { issuer, resource, metadata, scopes }: Raw = { ...value };
  // The fields of the metadata were looked at when it came.
  return typeof issuer === "string" && isTextOrMissing(resource) && isObject(metadata) &&
    typeof metadata.issuer === "string" && isTexts(scopes);
}

/** Tells whether it is a {@linkcode TokenRecord}. */
export function isTokenRecord(value: object): value is TokenRecord {
  const { accessToken, refreshToken, dpopKey, scopes = [], asked = [], client }: Raw = { ...value };
  return typeof accessToken === "string" && isTextOrMissing(refreshToken) && isTextOrMissing(dpopKey) &&
    isTexts(scopes) && isTexts(asked) && isKnownClient(client);
}

/** Tells whether it is a {@linkcode PendingRecord}. */
export function isPendingRecord(value: object): value is PendingRecord {
  const { state, verifier, server, redirectUri, client, expiresAt }: Raw = { ...value };
  return isTexts([state, verifier, server, redirectUri]) && isServerRecord({ issuer: "", ...value }) &&
    isKnownClient(client) && Number.isFinite(expiresAt);
}
