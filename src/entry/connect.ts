/**
 * `connect` with everything filled in: the ports of a runtime, all bindings, output checks.
 *
 * @module
 */
import type { Client } from "../client/client.ts";
import { allFeatures } from "../client/features.ts";
import { createPlainValidator } from "../protocol/json_schema/mod.ts";
import { TimeoutError } from "../protocol/errors.ts";
import { find, maybeObject } from "../protocol/shapes/shape.ts";
import { ChannelTransport } from "../transport/channel.ts";
import type { Resolve } from "../ports.ts";
import { createLegacySseChannel } from "../transport/legacy_sse.ts";
import { createStdioChannel } from "../transport/stdio.ts";
import { createWebSocketChannel } from "../transport/websocket.ts";
import type { WebSocketOptions } from "../transport/websocket.ts";
import { connectTarget } from "./targets.ts";
import type { ConnectOptions, Target } from "./targets.ts";

/** Connects to one MCP server. */
export type Connect = (target: Target, options?: ConnectOptions) => Promise<Client>;

/** What a runtime brings along. */
export type RuntimePorts = Pick<
  ConnectOptions,
  "fetch" | "spawn" | "environment" | "openWebSocket" | "clock" | "limits" | "stream"
>;

/**
 * Makes a `connect` that has its ports filled in; the caller's own options come first. A person who signs in for it takes the
 * time that they need: `timeouts` are the server's.
 *
 * @param resolve Resolves names: what an `auth` follows is judged by its addresses too.
 */
export function createConnect(ports: () => RuntimePorts, resolve: Resolve): Connect {
  return async (target, given = {}) => {
    const { auth, signal } = given;
    auth?.resolveWith?.(resolve);
    const open = () => connectTarget(target, filled({ ...ports(), ...given }));
    try {
      return await open();
    } catch (error) {
      const isLate = error instanceof TimeoutError && (typeof target === "string" || target instanceof URL);
      const signingIn = isLate ? auth?.underWay?.(String(target), signal) : undefined;
      if (!signingIn) throw error;
      await signingIn;
      return await open();
    }
  };
}

/** The same for programs that cannot start processes: their bundles do not carry the code for it. */
export function createWebConnect(ports: () => RuntimePorts): Connect {
  return async (target, given = {}) => await connectTarget(target, webFilled({ ...ports(), ...given }));
}

/**
 * What programs have that cannot start processes.
 *
 * @throws {TypeError} When an option is none.
 */
export function webFilled(options: ConnectOptions): ConnectOptions {
  checkOptions(options);
  return {
    validator: createPlainValidator(),
    ...options,
    features: { ...allFeatures, ...options.features },
    bindings: {
      webSocket: (url, rest) => {
        if (!rest.openWebSocket) throw new TypeError('Cannot open a WebSocket: pass "openWebSocket"');
        return new ChannelTransport(() => createWebSocketChannel(url, rest as WebSocketOptions), rest);
      },
      legacySse: (url, rest) => new ChannelTransport(() => createLegacySseChannel(url, rest), rest),
      ...options.bindings,
    },
  };
}

function filled(options: ConnectOptions): ConnectOptions {
  const web = webFilled(options);
  return {
    ...web,
    bindings: {
      ...(options.spawn && {
        stdio: (command, { spawn, environment: baseEnvironment, ...rest }) => {
          if (!spawn) throw new TypeError('Cannot start a process here: pass the option "spawn"');
          return new ChannelTransport(() => createStdioChannel(command, { ...rest, spawn, baseEnvironment }), rest);
        },
      }),
      ...web.bindings,
    },
  };
}

/** Tells what programs without types get wrong, where it would fail far from here, or be passed over. No value: it may be a secret. */
function checkOptions(options: ConnectOptions): void {
  const wrong = find(options, { auth: maybeObject, retry: maybeObject, timeout: 'time in "timeouts"?' });
  if (wrong) throw new TypeError(`Cannot connect: "${wrong.slice(1)}`);
}
