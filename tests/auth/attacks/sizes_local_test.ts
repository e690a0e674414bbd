/** Replies of a real server that are far too large: announced, unannounced, and compressed to almost nothing. */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, test } from "node:test";
import { assert, assertEquals, assertLess } from "@std/assert";
import { createOAuth } from "../../../src/auth/mod.ts";
import { LimitExceededError } from "../../../src/protocol/errors.ts";
import { refusalOf } from "./attack.ts";

const gigabyte = 1_073_741_824;
/** 64 MiB of blanks in some 64 KiB, three times over. */
const layer = gzipSync(" ".repeat(67_108_864));
const bomb = gzipSync("{" + " ".repeat(67_108_864) + "}");

/** What the token endpoint answers. `sent` counts the bytes that it could get rid of. */
type Reply = (reply: ServerResponse, count: (bytes: number) => void) => void;

/** Writes blanks until there have been so many, or nobody takes them. */
function pour(reply: ServerResponse, count: (bytes: number) => void, most: number): void {
  const blanks = new Uint8Array(65_536).fill(32);
  let left = most;
  const write = () => {
    while (left > 0 && !reply.destroyed) {
      left -= blanks.length;
      count(blanks.length);
      if (!reply.write(blanks)) return void reply.once("drain", write);
    }
    if (!reply.destroyed) reply.end();
  };
  write();
}

const json = { "content-type": "application/json" };
const replies: Record<string, Reply> = {
  "a gigabyte, announced": (reply, count) => {
    reply.writeHead(200, { ...json, "content-length": gigabyte });
    pour(reply, count, gigabyte);
  },
  "a gigabyte, unannounced": (reply, count) => {
    reply.writeHead(200, json);
    pour(reply, count, gigabyte);
  },
  "a bomb": (reply, count) => {
    reply.writeHead(200, { ...json, "content-encoding": "gzip" });
    count(bomb.length);
    reply.end(bomb);
  },
  "a bomb that says that it is small": (reply, count) => {
    reply.writeHead(200, { ...json, "content-encoding": "gzip", "content-length": bomb.length });
    count(bomb.length);
    reply.end(bomb);
  },
  "many bombs in a row": (reply, count) => {
    reply.writeHead(400, { ...json, "content-encoding": "gzip" });
    for (let index = 0; index < 8; index++) {
      count(layer.length);
      reply.write(layer);
    }
    reply.end();
  },
};

/** A server that is everything at once, on this machine. */
async function serve(answer: Reply) {
  const seen = { sent: 0, closed: 0 };
  const server = createServer((request, reply) => {
    const { port } = server.address() as { port: number };
    const origin = `http://127.0.0.1:${port}`;
    request.resume();
    reply.on("close", () => void seen.closed++);
    reply.on("error", () => {});
    const say = (body: unknown) => reply.writeHead(200, json).end(JSON.stringify(body));
    switch (request.url) {
      case "/.well-known/oauth-protected-resource/mcp":
        return say({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      case "/.well-known/oauth-authorization-server":
        return say({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          code_challenge_methods_supported: ["S256"],
        });
      case "/token":
        return answer(reply, (bytes) => void (seen.sent += bytes));
      default:
        return reply.writeHead(401, { "www-authenticate": "Bearer" }).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${port}/mcp`, seen, [Symbol.asyncDispose]: close };
}

describe("replies without measure", () => {
  for (const [what, reply] of Object.entries(replies)) {
    test(`${what}: given up early`, async () => {
      await using server = await serve(reply);
      const oauth = createOAuth({
        redirectUri: "http://127.0.0.1:1/callback",
        client: { clientId: "app" },
        authorize: ({ authorizationUrl }) => {
          const { searchParams } = new URL(authorizationUrl);
          return Promise.resolve(`http://127.0.0.1:1/callback?code=code-1&state=${searchParams.get("state")}`);
        },
      });
      const error = await refusalOf(oauth.signIn(server.url));
      assert(error instanceof LimitExceededError, `${error.name}: ${error.message}`);
      assertEquals([error.limit, error.value], ["limits.documentBytes", 262_144]);
      // What a runtime and the system take in advance is some megabytes at most.
      assertLess(server.seen.sent, 64_000_000);
      assertEquals(await oauth.status(server.url), undefined);
    });
  }
});
