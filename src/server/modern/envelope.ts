/**
 * What every modern request says of itself in `_meta` (specification 2026-07-28: basic, Per-request protocol fields).
 *
 * @module
 */
import { InvalidParamsError, UnsupportedVersionError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import { isObject, isRequestId } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import { modernRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { loggingLevels } from "../common/logging_levels.ts";
import { capabilitiesKey, versionKey } from "../common/meta_keys.ts";
import type { ClientCapabilities, Implementation, LoggingLevel, Meta, ProgressToken } from "../../protocol/types.ts";

const levelKey = metaPrefix + "logLevel";
const clientKey = metaPrefix + "clientInfo";

/** What was read of a request. */
export interface Envelope {
  readonly meta: Meta;
  readonly revision: Revision;
  /** What the client can do during this request. Members are as they came: objects, where they are used. */
  readonly capabilities: ClientCapabilities;
  /** Who the client says it is; undefined when it says nothing, or nothing that can be read. */
  readonly client: Implementation | undefined;
}

/** What a request asks to be told before its answer. */
export interface Wishes {
  readonly logLevel: LoggingLevel | undefined;
  readonly progressToken: ProgressToken | undefined;
}

/**
 * Reads what has to be there.
 *
 * @param supported The revisions that are named to a client that speaks none of ours.
 * @throws {InvalidParamsError} When something is missing or malformed.
 * @throws {UnsupportedVersionError} When the revision is not a modern one of ours.
 */
export function readEnvelope(message: JsonRpcRequest, supported: readonly Revision[]): Envelope {
  const data = hint(message, supported);
  const meta = message.params?._meta;
  if (!isObject(meta)) throw malformed("params._meta", meta, "an object", data);
  const requested = meta[versionKey];
  if (typeof requested !== "string") throw malformed(inMeta(versionKey), requested, "a string", data);
  const capabilities = meta[capabilitiesKey];
  if (!isObject(capabilities)) throw malformed(inMeta(capabilitiesKey), capabilities, "an object", data);
  const revision = modernRevisions.find((ours) => ours === requested);
  if (!revision) {
    throw new UnsupportedVersionError(`Protocol version "${excerpt(requested, 64)}" is not supported`, {
      rpcCode: -32022,
      data: { supported: [...supported], requested: excerpt(requested, 64) },
    });
  }
  return { meta: meta as Meta, revision, capabilities, client: clientInfo(meta[clientKey]) };
}

/** Tells who opens with a handshake what is spoken here instead (S-013). */
export function hint({ method }: JsonRpcRequest, supported: readonly Revision[]): JsonObject | undefined {
  return method === "initialize" ? { supported: [...supported] } : undefined;
}

/**
 * Reads what may be there.
 *
 * @throws {InvalidParamsError} When it cannot be read (S-064).
 */
export function readWishes(meta: Meta): Wishes {
  const { progressToken } = meta;
  if (progressToken !== undefined && !isRequestId(progressToken)) {
    throw malformed("params._meta.progressToken", progressToken, "a string or an integer");
  }
  const wanted = meta[levelKey];
  if (wanted === undefined) return { logLevel: undefined, progressToken };
  const logLevel = loggingLevels.find((level) => level === wanted);
  if (!logLevel) {
    throw malformed(inMeta(levelKey), wanted, `one of ${loggingLevels.join(", ")}`);
  }
  return { logLevel, progressToken };
}

/** Not trusted and not needed: what cannot be read is left out (S-011). */
function clientInfo(value: unknown): Implementation | undefined {
  const sound = isObject(value) && typeof value.name === "string" && typeof value.version === "string";
  return sound ? value as unknown as Implementation : undefined;
}

function inMeta(key: string): string {
  return `params._meta["${key}"]`;
}

function malformed(where: string, value: unknown, expected: string, data?: JsonObject): InvalidParamsError {
  const found = value === undefined ? "missing" : "malformed";
  return new InvalidParamsError(`${where} is ${found}: expected ${expected}`, { rpcCode: -32602, status: 400, data });
}
