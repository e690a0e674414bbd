/**
 * A server that says again what it was sent, wherever a reply has room for it: a hostile one, or one in debug mode.
 *
 * @module
 */
import type { FetchTarget } from "../../servers/memory_fetch.ts";

/** Where it says it. */
export type Echo = string;

/** What a reply is made of. */
interface Heard {
  /** All that was heard in all forms but that of JSON. */
  readonly words: string;
  /** The headers as they came. */
  readonly sent: readonly string[];
  /** The same, and escaped as in JSON: for what is none itself. */
  readonly plain: string;
  /** One word of them. */
  readonly word: string;
  /** The id of the request. */
  readonly id: unknown;
}

const json = { "content-type": "application/json" };

const replies: Readonly<Record<string, (heard: Heard) => Response>> = {
  "body of a 500": ({ plain }) => new Response(plain, { status: 500 }),
  "JSON of a 500": ({ sent }) => Response.json({ headers: { sent } }, { status: 500 }),
  "long body of a 400": ({ words }) => new Response("x".repeat(2_000) + words, { status: 400 }),
  "body of a 401": ({ plain }) => new Response(plain, { status: 401 }),
  "challenge of a 401": ({ words }) => new Response("", { status: 401, headers: { "www-authenticate": words } }),
  "challenge of a 403": ({ words }) =>
    new Response("", { status: 403, headers: { "www-authenticate": `Bearer realm="${words}"` } }),
  "message of an error": ({ words, id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32603, message: words } }),
  "data of an error": ({ words, id }) =>
    Response.json({
      jsonrpc: "2.0",
      id,
      error: { code: -32000, message: "no", data: { deep: [{ words }] } },
    }),
  "error of a 400": ({ words, id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32602, message: words, data: words } }, { status: 400 }),
  "revisions": ({ words, id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32022, message: "no", data: { supported: [words] } } }),
  "id of an answer": ({ words }) => Response.json({ jsonrpc: "2.0", id: words, result: {} }),
  "type of a result": ({ words, id }) =>
    Response.json({ jsonrpc: "2.0", id, result: { resultType: words, content: [] } }),
  "text in the place of an answer": ({ plain }) => new Response(plain),
  "type of the content": ({ word }) => new Response("x", { headers: { "content-type": word } }),
  "what is no JSON": ({ word }) => new Response(word, { headers: json }),
  "JSON that breaks off": ({ words }) => new Response(JSON.stringify([words]).slice(0, -1), { headers: json }),
  "what is no JSON-RPC": ({ words, id }) => Response.json({ id, [words]: words }),
  "redirect by path": ({ word }) => redirect(307, `https://evil.test/${word}`),
  "redirect by query": ({ word }) => redirect(308, `https://evil.test/?k=${word}`),
  "redirect of another kind": ({ word }) => redirect(302, `/${word}`),
  "redirect to what is no URL": ({ word }) => redirect(307, `http://[${word}`),
  "redirect with a password": ({ word }) => redirect(307, `https://${word}:${word}@evil.test/`),
};

/** All places. */
export const echoes: readonly Echo[] = Object.keys(replies);

/** A server that answers every request so. */
export function createEchoingServer(echo: Echo): FetchTarget {
  return {
    async fetch(request) {
      const sent: string[] = [];
      request.headers.forEach((value, name) => {
        if (!/^(accept|content-|mcp-)/.test(name)) sent.push(value);
      });
      const parts = sent.flatMap((value) => [value, ...value.split(" ")]);
      const inUrls = parts.flatMap((part) => [encodeURIComponent(part), base64url(part), hex(part)]);
      const words = [...parts, ...inUrls, ...parts.map((part) => btoa(`user:${part}`))].join(" ; ");
      const escaped = parts.map((part) => JSON.stringify(part).replaceAll("/", "\\/")).join();
      const id: unknown = await request.json().then((message) => message.id, () => undefined);
      return (replies[echo] ?? nothing)({ words, sent, plain: words + escaped, word: inUrls.join("-"), id });
    },
  };
}

function base64url(text: string): string {
  return btoa(`user:${text}`).replaceAll("+", "-").replaceAll("/", "_").replace(/=*$/, "");
}

function hex(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function nothing(): Response {
  throw new TypeError("Cannot echo in this way: expected one of `echoes`");
}

function redirect(status: number, location: string): Response {
  return new Response(null, { status, headers: { location } });
}
