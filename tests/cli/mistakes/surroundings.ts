/** Servers and ports that the mistakes need. */
import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import { createServer as createSocketServer } from "node:net";
import type { Server } from "node:net";
import { freePort } from "../../support/free_port.ts";

/** What there is, by the names of variables in command lines. */
export interface Surroundings extends AsyncDisposable {
  readonly variables: Readonly<Record<string, string>>;
}

const html = { "content-type": "text/html" };
const json = { "content-type": "application/json" };
type Answer = readonly [status: number, headers: Readonly<Record<string, string>>, body: string];

/** What is answered at a path; at `/never` nothing ever is, and at `/hang-up` the connection ends. */
const answers: Readonly<Record<string, Answer>> = {
  "/401": [401, { "www-authenticate": "Bearer" }, ""],
  "/expired": [401, { "www-authenticate": 'Bearer error="invalid_token", error_description="expired"' }, ""],
  "/403": [403, { "www-authenticate": 'Bearer error="insufficient_scope"' }, ""],
  "/host": [403, json, '{"jsonrpc":"2.0","error":{"code":-32600,"message":"This Host is not in allowedHosts"}}'],
  "/other-host": [421, {}, "Invalid Host header"],
  "/404": [404, html, "Not Found"],
  "/500": [500, html, "oops"],
  "/503": [503, html, "busy"],
  "/moved": [302, { location: "https://elsewhere.invalid/mcp" }, ""],
  "/json": [200, json, '{"hello":1}'],
  "/broken-json": [200, json, '{"hello"'],
  "/nothing": [200, {}, ""],
  "/page": [200, html, "<h1>Hello</h1>\nand more"],
};

/** Begins them. */
export async function openSurroundings(): Promise<Surroundings> {
  const http = createServer((request, response) => {
    request.resume();
    const path = request.url ?? "";
    if (path === "/never") return;
    if (path === "/hang-up") return void request.socket.destroy();
    const [status, headers, body] = answers[path] ?? [404, {}, ""];
    response.writeHead(status, headers).end(body);
  });
  // What a server of TLS says to a request in plain text: an alert, then nothing.
  const tls = createSocketServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46])));
  });
  const [port, tlsPort] = await Promise.all([http, tls].map(listen));
  const shutPort = await freePort();
  const variables = { HTTP: `http://127.0.0.1:${port}`, PORT: `${port}`, SHUT: `${shutPort}`, TLS: `${tlsPort}` };
  return {
    variables,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await Promise.all([end(http), end(tls)]);
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

function end(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
