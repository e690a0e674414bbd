/**
 * Endpoints that say again what they were sent: a client's program must show none of it.
 *
 * @module
 */
import type { Fault } from "../world/faults.ts";
import type { SeenRequest } from "../world/request_log.ts";

/** Where an endpoint says what it was sent. */
export type Place = string;

interface Heard {
  /** All values that came so far, as they are, URL-encoded, in base64 (also after a name), in base64url and hex. */
  readonly words: string;
  /** The value that came last: a code of an error has no room for more. */
  readonly last: string;
  /** One word of them, which can stand in a URL and a header. */
  readonly word: string;
}

const places: Readonly<Record<string, (heard: Heard) => Response>> = {
  "error description": ({ words }: Heard) => refusal({ error: "invalid_request", error_description: words }),
  "description of a refused grant": ({ words }: Heard) => refusal({ error: "invalid_grant", error_description: words }),
  "description of a refused client": ({ words }: Heard) =>
    refusal({ error: "invalid_client", error_description: words }, 401),
  "error": ({ last }: Heard) => refusal({ error: last }),
  "error in hex": ({ last }: Heard) => refusal({ error: hex(last) }),
  "long error": ({ words }: Heard) => refusal({ error: words, error_description: words }, 401),
  "other field": ({ words }: Heard) => refusal({ sent: { words }, message: words }, 422),
  "JSON of a 500": ({ words }: Heard) => Response.json({ error: { deep: [words] } }, { status: 500 }),
  "page of a 500": ({ words }: Heard) =>
    new Response(`<!doctype html><pre>${words}</pre>`, { status: 500, headers: { "content-type": "text/html" } }),
  "page of a 404": ({ words }: Heard) => new Response(`<p>${words}`, { status: 404 }),
  "page": ({ words }: Heard) => new Response(words, { headers: { "content-type": "text/html" } }),
  "form": ({ word }: Heard) => new Response(`error=${word}&error_description=${word}`, { status: 400 }),
  "broken JSON": ({ words }: Heard) => new Response(JSON.stringify([words]).slice(0, -1)),
  "challenge of a 401": ({ words }: Heard) => challenge(401, `Bearer error="${words}", error_description="${words}"`),
  "scope of a 403": ({ words, word }: Heard) =>
    challenge(403, `Bearer error="insufficient_scope", scope="${word}", error_description="${words}"`),
  "realm of a 401": ({ words }: Heard) => challenge(401, `Basic realm="${words}", DPoP error="${words}"`),
  "redirect": ({ word }: Heard) => redirect(307, `https://evil.example.com/${word}?k=${word}`),
  "redirect of another kind": ({ word }: Heard) => redirect(302, `http://${word}@evil.example.com/#${word}`),
  "redirect to what is no URL": ({ word }: Heard) => redirect(308, `http://[${word}`),
  "status text": ({ word }: Heard) => new Response("", { status: 418, statusText: word.slice(0, 4_000) }),
  "type of the content": ({ last }: Heard) => new Response("x", { headers: { "content-type": last } }),
  "token type": ({ last }: Heard) => Response.json({ access_token: "a-token-of-theirs", token_type: last }),
  "fields of another type": ({ words }: Heard) => Response.json({ access_token: { words }, refresh_token: [words] }),
  "issuer and endpoints": ({ words, word }: Heard) =>
    Response.json({
      ...{ issuer: words, resource: words, authorization_servers: [words], scopes_supported: [words] },
      ...{ token_endpoint: word, authorization_endpoint: word, client_secret: words },
    }),
  "lists of metadata": ({ words, last }: Heard) =>
    Response.json({
      ...{ issuer: "https://auth.example.com", resource: "https://mcp.example.com/mcp" },
      ...{ authorization_servers: [last], scopes_supported: words, token_endpoint: words },
    }),
  "message of an error of the connection": broken,
};

/** All of them. */
export const allPlaces: readonly Place[] = Object.keys(places);

/** Says at a place what the requests before, and this one, have told. */
export function echo(place: Place, heard: () => readonly string[]): Fault {
  return () => {
    const values = heard();
    const written = values.flatMap((value) => [
      ...[encodeURIComponent(value), base64(value), base64(`user:${value}`)],
      ...[base64(value).replaceAll("+", "-").replaceAll("/", "_").replace(/=*$/, ""), hex(value)],
    ]);
    const safe = written.filter((value) => /^[\w.~%-]+$/.test(value)).join("-");
    const answer = places[place] ?? broken;
    return answer({ words: fit([...values, ...written].join(" ; ")), last: values.at(-1) ?? "", word: safe });
  };
}

/** What a request tells, word by word. */
export function told({ url, headers, form }: SeenRequest): string[] {
  const sent = [...url.searchParams.values(), ...form.values()];
  headers.forEach((value, name) => {
    if (!/^(accept|content-|mcp-(method|name|protocol)|user-agent)/.test(name)) sent.push(value, ...value.split(" "));
  });
  return sent.filter(({ length }) => length > 5);
}

/** What no header may hold becomes its escape. */
function fit(text: string): string {
  return text.replace(/[^ -~]/g, encodeURIComponent).replaceAll('"', "'");
}

function refusal(body: Readonly<Record<string, unknown>>, status: number = 400): Response {
  return Response.json(body, { status });
}

function challenge(status: number, text: string): Response {
  return new Response("no entry", { status, headers: { "www-authenticate": text } });
}

function redirect(status: number, location: string): Response {
  return new Response(null, { status, headers: { location } });
}

function broken({ words }: Heard): never {
  throw new TypeError(`fetch failed: ${words}`, { cause: Object.assign(new Error(words), { request: words }) });
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}

function hex(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
