/** Serves a handler on a loopback port of whatever runtime this is: `Bun.serve`, `Deno.serve`, else `node:http`. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** What answers requests. */
export type Handler = (request: Request) => Promise<Response>;

const hostname = "127.0.0.1";

declare const Bun: {
  serve(options: { hostname: string; port: number; idleTimeout: number; fetch: Handler }): {
    readonly port: number;
    stop(now: boolean): Promise<void>;
  };
};

/** What listens. */
export interface Listener {
  readonly port: number;
  /** Ends it with all its connections. */
  close(): Promise<void>;
}

/**
 * Listens, on 127.0.0.1 alone.
 *
 * @param port 0 takes any that is free.
 */
export async function listen(handler: Handler, port: number): Promise<Listener> {
  if ("Bun" in globalThis) {
    const server = Bun.serve({ hostname, port, idleTimeout: 0, fetch: handler });
    return { port: server.port, close: () => server.stop(true) };
  }
  if ("Deno" in globalThis) {
    const stop = new AbortController();
    const server = Deno.serve({ hostname, port, signal: stop.signal, onListen: () => {} }, handler);
    return { port: server.addr.port, close: () => (stop.abort(), server.finished) };
  }
  return await listenNode(handler, port);
}

function listenNode(handler: Handler, port: number): Promise<Listener> {
  const server = createServer((incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch((error) => {
      console.error(error);
      outgoing.destroy();
    });
  });
  const close = () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    return closed;
  };
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      const address = server.address();
      resolve({ port: typeof address === "object" && address !== null ? address.port : port, close });
    });
  });
}

async function answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const response = await handler(await requestOf(incoming, gone.signal));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  gone.signal.addEventListener("abort", () => reader?.cancel().catch(() => {}));
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) outgoing.write(part.value);
  outgoing.end();
}

async function requestOf(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = "GET", url = "/" } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of incoming) parts.push(Uint8Array.from(part));
  const body = method === "GET" || method === "HEAD" ? null : new Blob(parts);
  return new Request(new URL(url, `http://${incoming.headers.host ?? hostname}`), { method, headers, body, signal });
}
