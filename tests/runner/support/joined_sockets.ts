/**
 * Two ends of one WebSocket, in memory.
 *
 * @module
 */
import type { WebSocketEvent, WebSocketLike } from "../../../src/ports.ts";

/** One end; what is sent arrives at the other end in a later tick. */
class JoinedSocket implements WebSocketLike {
  readyState = 1;
  readonly protocol = "mcp";
  other: JoinedSocket | undefined;
  readonly #listeners: [string, (event: WebSocketEvent) => void][] = [];

  send(text: string): void {
    setTimeout(() => this.other?.tell("message", { data: text }), 0);
  }

  close(code?: number): void {
    if (this.readyState > 1) return;
    this.readyState = 3;
    setTimeout(() => this.other?.goodbye(code), 0);
  }

  goodbye(code: number = 1005): void {
    this.readyState = 3;
    this.tell("close", { code });
  }

  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    this.#listeners.push([type, listener]);
  }

  tell(type: string, event: WebSocketEvent): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === type) listener(event);
  }
}

/** Makes both ends. */
export function joinedSockets(): readonly [near: WebSocketLike, far: WebSocketLike] {
  const [near, far] = [new JoinedSocket(), new JoinedSocket()];
  near.other = far;
  far.other = near;
  return [near, far];
}
