/**
 * Signs a person in who has a browser elsewhere: the device shows a code, and asks until the person has entered it (RFC 8628).
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import {
  AuthorizationError,
  ConnectError,
  ConnectionClosedError,
  McpError,
  TimeoutError,
} from "../../protocol/errors.ts";
import type { Grant, GrantContext, TokenResponse } from "../seam.ts";
import { type DeviceAuthorization, readDeviceAuthorization } from "./device_authorization.ts";

/** What a person has to be shown. */
export interface DeviceCodePrompt {
  /** Where the person goes: https, or this machine. */
  readonly verificationUri: string;
  /** The same with the code in it, for a link or a QR code, where the server gives one. */
  readonly verificationUriComplete: string | undefined;
  /** What the person enters there, without control characters. */
  readonly userCode: string;
  /** Until when, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** Aborted when the sign-in is over, however it ended: there is nothing left to show. */
  readonly signal: AbortSignal;
}

/** Options of {@linkcode deviceCode}. */
export interface DeviceCodeOptions {
  /** Shows the code to the person. It may take its time: the server is asked meanwhile. What it throws ends the sign-in. */
  onCode: (prompt: DeviceCodePrompt) => void | Promise<void>;
}

const grantType = "urn:ietf:params:oauth:grant-type:device_code";
/** What `slow_down` adds to the interval, in milliseconds (RFC 8628, section 3.5). */
const slowDown = 5_000;
/** So many polls in a row may fail for want of a connection. */
const mostFailures = 3;

/**
 * Signs a person in by a code that they enter in a browser on another device: the `grant` of `createOAuth`, for programs without
 * a browser, or without a way for it to come back. It ends with the code, after half an hour at most.
 *
 * @param options `onCode` shows the code.
 * @throws {TypeError} When `onCode` is no function.
 *
 * @example A terminal
 * ```ts
 * import { deviceCode } from "@causeway/mcp/auth";
 *
 * const grant = deviceCode({
 *   onCode: ({ verificationUri, userCode }) => console.log(`Go to ${verificationUri} and enter ${userCode}`),
 * });
 * console.assert(grant.isInteractive);
 * ```
 */
export function deviceCode(options: DeviceCodeOptions): Grant {
  const { onCode } = options;
  if (typeof onCode !== "function") throw new TypeError('Cannot use "deviceCode": expected "onCode" to be a function');
  return {
    grantTypes: [grantType, "refresh_token"],
    isInteractive: true,
    obtain: (context) => obtain(context, onCode),
  };
}

async function obtain(context: GrantContext, onCode: DeviceCodeOptions["onCode"]): Promise<TokenResponse> {
  const { clock, signal } = context;
  signal.throwIfAborted();
  const authorization = await ask(context);
  const { deviceCode: secret, lifetime, interval: _, ...shown } = authorization;
  context.secret(secret);
  const until = clock.monotonic() + lifetime;
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const prompt = { ...shown, expiresAt: clock.now() + lifetime, signal: controller.signal };
  const failure = new Promise<never>((_, reject) => {
    void Promise.resolve().then(() => onCode(prompt)).catch(reject);
  });
  try {
    return await Promise.race([failure, poll(context, authorization, until, controller.signal)]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    controller.abort();
  }
}

/** Asks for a code. */
async function ask({ metadata, resource, scopes, post }: GrantContext): Promise<DeviceAuthorization> {
  const { issuer, device_authorization_endpoint: endpoint } = metadata;
  if (!endpoint) {
    throw new AuthorizationError(
      `Cannot get a device code: expected the metadata of "${issuer}" to have "device_authorization_endpoint"`,
    );
  }
  const answer = await post("device_authorization_endpoint", {
    ...(scopes.length ? { scope: scopes.join(" ") } : {}),
    ...(resource === undefined ? {} : { resource }),
  });
  return readDeviceAuthorization(answer, issuer);
}

/** Asks for the token until the person has decided. */
async function poll(
  { clock, metadata, request }: GrantContext,
  { deviceCode, interval }: DeviceAuthorization,
  until: number,
  signal: AbortSignal,
): Promise<TokenResponse> {
  let failures = 0;
  for (;;) {
    // A connection that fails is tried less and less often (RFC 8628, section 3.5).
    const pause = interval * 2 ** failures;
    const left = until - clock.monotonic();
    await wait(clock, Math.min(pause, left), signal);
    if (pause >= left) throw ended(metadata.issuer, "expired_token");
    try {
      return await request(grantType, { device_code: deviceCode });
    } catch (error) {
      signal.throwIfAborted();
      const code = error instanceof AuthorizationError ? error.error : undefined;
      if (code === "access_denied" || code === "expired_token") throw ended(metadata.issuer, code, error);
      if (code === "slow_down") interval += slowDown;
      if (code === "slow_down" || code === "authorization_pending") failures = 0;
      else if (code !== undefined || !isPassing(error) || ++failures > mostFailures) throw error;
    }
  }
}

/** Whether a failure may be gone with the next request. */
function isPassing(error: unknown): boolean {
  return error instanceof ConnectError || error instanceof ConnectionClosedError || error instanceof TimeoutError ||
    (error instanceof McpError && error.retryable);
}

function ended(issuer: string, error: "access_denied" | "expired_token", cause?: unknown): AuthorizationError {
  const reason = error === "expired_token" ? "the code was not entered in time" : "the person refused";
  return new AuthorizationError(`Cannot sign in at "${issuer}" with a device code: ${reason}`, {
    error,
    cause,
    delivery: "answered",
  });
}

/** Waits; rejects with the signal's reason. */
function wait(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = clock.schedule(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    const onAbort = (): void => {
      stop();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
