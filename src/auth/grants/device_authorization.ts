/**
 * What a server answers to a device that asks for a code (RFC 8628, section 3.2).
 *
 * @module
 */
import { isLoopbackHost } from "../../egress/address.ts";
import { AuthorizationError } from "../../protocol/errors.ts";
import { readUrl } from "../../egress/url.ts";

/** A sound answer. */
export interface DeviceAuthorization {
  /** What the device polls with. Secret. */
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string | undefined;
  /** How long the codes are good, in milliseconds. */
  readonly lifetime: number;
  /** How long to wait between two polls, in milliseconds. */
  readonly interval: number;
}

/** Nobody is waited for longer, in milliseconds. */
const longestWait = 1_800_000;
/** Polls come no faster, whatever the server says, in milliseconds. */
const shortestInterval = 1_000;
/** No person types more. */
const longestUserCode = 64;
const longestUrl = 2_048;

/**
 * Reads the answer of a device authorization endpoint.
 *
 * @param issuer The server that it belongs to: on this machine, people may be sent there without TLS.
 * @throws {AuthorizationError} When a field is missing or unsound.
 */
export function readDeviceAuthorization(
  answer: Readonly<Record<string, unknown>>,
  issuer: string,
): DeviceAuthorization {
  const refuse = (field: string, wanted: string): never => {
    throw new AuthorizationError(
      `Cannot use the device authorization response of "${issuer}": expected "${field}" to be ${wanted}`,
      { delivery: "answered" },
    );
  };
  const url = (field: string): string => {
    const isLocal = isLoopbackHost(new URL(issuer).hostname);
    return personUrl(answer[field], isLocal) ??
      refuse(field, `an https URL${isLocal ? ", or http on this machine" : ""}`);
  };
  const seconds = (field: string, fallback?: number): number => {
    const value = answer[field] ?? fallback;
    return typeof value === "number" && value > 0 ? value * 1000 : refuse(field, "a number of seconds above 0");
  };
  const { device_code: deviceCode, user_code: userCode, verification_uri_complete: complete } = answer;
  if (typeof deviceCode !== "string" || !/^[\x20-\x7e]+$/.test(deviceCode)) {
    return refuse("device_code", "a text of visible ASCII characters");
  }
  const shown = typeof userCode === "string" ? userCode.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim() : "";
  if (!shown || shown.length > longestUserCode) {
    return refuse("user_code", `a text of 1 to ${longestUserCode} characters`);
  }
  return {
    deviceCode,
    userCode: shown,
    verificationUri: url("verification_uri"),
    verificationUriComplete: complete === undefined || complete === null ? undefined : url("verification_uri_complete"),
    lifetime: Math.min(seconds("expires_in"), longestWait),
    interval: Math.max(seconds("interval", 5), shortestInterval),
  };
}

/** An address that a person may be shown and sent to, as a parser writes it; undefined when it is none. */
function personUrl(value: unknown, isLocal: boolean): string | undefined {
  if (typeof value !== "string" || value.length > longestUrl || /[\s\p{C}]/u.test(value)) return undefined;
  const url = readUrl(value);
  if (!url) return undefined;
  const { protocol, hostname, username, password, href } = url;
  const isSafe = protocol === "https:" || (isLocal && protocol === "http:" && isLoopbackHost(hostname));
  return isSafe && !username && !password ? href : undefined;
}
