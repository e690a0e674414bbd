/**
 * A server on a pipe that is a function: for what no real peer does.
 *
 * @module
 */
import { ChannelTransport, createMemoryPair } from "../../mod.ts";
import { isJsonObject, type JsonObject } from "../servers/core/wire.ts";

/** Sends messages, in one write. */
export type Send = (...messages: JsonObject[]) => void;

/** A server that is played, and what it got. */
export interface PlayedServer {
  readonly transport: ChannelTransport;
  readonly seen: JsonObject[];
  methods(): unknown[];
  /** Sends what was not asked for. */
  readonly send: Send;
}

/** Makes a server that does what `answer` says to each message. */
export function played(answer: (message: JsonObject, send: Send) => void): PlayedServer {
  const seen: JsonObject[] = [];
  let current: Send = () => {};
  const transport = new ChannelTransport(() => {
    const [near, far] = createMemoryPair();
    const send: Send = (...messages) => void far.write(messages.map((message) => JSON.stringify(message)));
    current = send;
    void far.open({
      text(text) {
        const message: unknown = JSON.parse(text);
        if (!isJsonObject(message)) return;
        seen.push(message);
        answer(message, send);
      },
      end() {},
    });
    return near;
  });
  return {
    transport,
    seen,
    methods: () => seen.map(({ method }) => method),
    send: (...messages) => current(...messages),
  };
}

/** A handshake server that does what `more` says before its own answers. */
export function handshaking(more: Parameters<typeof played>[0]): PlayedServer {
  return played((message, send) => {
    more(message, send);
    const { id, method } = message;
    if (method === "server/discover") send({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
    if (method !== "initialize") return;
    const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } };
    send({ jsonrpc: "2.0", id, result });
  });
}
