/** A server on a memory channel, and the client's end of it in the hands of the test. */
import type { LogRecord } from "../../../src/ports.ts";
import type { JsonObject, RequestId } from "../../../src/protocol/json_rpc.ts";
import { serveChannel } from "../../../src/server/channel_server.ts";
import type { ChannelServer, ChannelServerOptions } from "../../../src/server/channel_server.ts";
import type { Incoming, ModernServing, ServerParts } from "../../../src/server/seam.ts";
import { createMemoryPair } from "../../../src/transport/memory.ts";
import type { StandIn } from "../stand_in.ts";

/** The client's end. */
export interface Line {
  readonly serving: ChannelServer;
  /** What came, parsed, oldest first. */
  readonly got: JsonObject[];
  readonly log: LogRecord[];
  send(...messages: unknown[]): void;
  /** Sends text as it is. */
  raw(text: string): void;
  close(): Promise<void>;
  readonly ended: boolean;
}

/** Serves a stand-in on a memory channel. */
export async function line(server: StandIn, options: ChannelServerOptions = {}): Promise<Line> {
  const [near, far] = createMemoryPair();
  const log: LogRecord[] = [];
  // The modern era is there where a test brings one.
  const eras = options.modern ? ["modern", "legacy"] as const : ["legacy"] as const;
  const serving = serveChannel(server, far, { eras, logger: (record) => void log.push(record), ...options });
  const got: JsonObject[] = [];
  let ended = false;
  await near.open({
    text: (text) => void got.push(JSON.parse(text)),
    end() {
      ended = true;
    },
  });
  return {
    ...{ serving, got, log },
    send: (...messages) => void near.write(messages.map((message) => JSON.stringify(message))),
    raw: (text) => void near.write([text]),
    close: () => near.close(),
    get ended() {
      return ended;
    },
  };
}

/** A request of the given era. */
export function request(id: RequestId, method: string, params: JsonObject = {}): JsonObject {
  return { jsonrpc: "2.0", id, method, params };
}

/** As {@linkcode request}, with what says that it is modern. */
export function modernRequest(id: RequestId, method: string, params: JsonObject = {}): JsonObject {
  return request(id, method, { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
}

/** Both messages of a handshake. */
export function handshake(protocolVersion = "2025-11-25", capabilities: JsonObject = {}): JsonObject[] {
  return [
    request(0, "initialize", { protocolVersion, capabilities, clientInfo: { name: "tester", version: "1" } }),
    { jsonrpc: "2.0", method: "notifications/initialized" },
  ];
}

/** A stand-in for the modern era: says what it was asked; `hang` and `subscriptions/listen` wait. */
export function modernStandIn(seen: Incoming[] = []): (parts: ServerParts) => ModernServing {
  return () => {
    const streams = new Set<() => void>();
    return {
      answer(incoming) {
        seen.push(incoming);
        const { message: { id, method }, signal } = incoming;
        const answer = { response: { jsonrpc: "2.0" as const, id, result: { modern: method } }, status: 200 };
        if (method !== "hang" && method !== "subscriptions/listen") return Promise.resolve(answer);
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(undefined));
          if (method !== "hang") streams.add(() => resolve(answer));
        });
      },
      close: () => streams.forEach((end) => end()),
    };
  };
}
