/** In the place of a team's authorization server: it signs access tokens (RFC 9068), and tells its key to who verifies them. */
import { type HttpHost, serveHttp } from "@causeway/mcp/local";

/** What a token says. */
export interface Granted {
  readonly subject: string;
  readonly scope: string;
  /** The resource that it is meant for. */
  readonly audience: string;
}

/** An authorization server at work. */
export interface Authority extends AsyncDisposable {
  readonly issuer: string;
  /** A token that is good for a minute. */
  sign(granted: Granted): Promise<string>;
}

/** Starts one on a free port of this machine. */
export async function startAuthority(): Promise<Authority> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const key = { ...await crypto.subtle.exportKey("jwk", publicKey), kid: "1", alg: "ES256", use: "sig" };
  const host: HttpHost = await serveHttp(({ url }) => {
    if (url.endsWith("/keys")) return Response.json({ keys: [key] });
    return Response.json({ issuer: host.url, jwks_uri: `${host.url}/keys`, response_types_supported: ["code"] });
  }, { port: 0 });
  return {
    issuer: host.url,
    async sign({ subject, scope, audience }) {
      const now = Math.floor(Date.now() / 1_000);
      const times = { iat: now, exp: now + 60, jti: crypto.randomUUID() };
      const claims = { iss: host.url, sub: subject, aud: audience, client_id: "editor", scope, ...times };
      const text = `${encode(JSON.stringify({ alg: "ES256", typ: "at+jwt", kid: "1" }))}.${
        encode(JSON.stringify(claims))
      }`;
      const signature = await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(text));
      return `${text}.${encode(String.fromCharCode(...new Uint8Array(signature)))}`;
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
}

function encode(text: string): string {
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
