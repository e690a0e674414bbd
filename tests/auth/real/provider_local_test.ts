/** The real authorization server, the browser and our protected servers do together what the tests of signing in count on. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { callAt } from "../world/by_hand.ts";
import { createSigner, isJson, type Json, sha256, type Signer } from "../world/jwt.ts";
import { Browser } from "./browser.ts";
import { introspector, startResources } from "./resource.ts";
import { type ProviderOptions, skipReal, startProvider } from "./start.ts";

const redirectUri = "http://127.0.0.1:4000/callback";
const verifier = "verifier-".repeat(6);
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

const editor = {
  client_id: "editor",
  token_endpoint_auth_method: "none",
  application_type: "native",
  redirect_uris: [redirectUri],
  grant_types: ["authorization_code", "refresh_token", deviceGrant],
};
const machine = {
  client_id: "machine",
  client_secret: "the secret of the machine",
  redirect_uris: [],
  response_types: [],
  grant_types: ["client_credentials"],
};

async function withReal(run: (real: Real) => Promise<void>, options: ProviderOptions = {}): Promise<void> {
  await using provider = await startProvider({ clients: [editor, machine, introspector], ...options });
  await using resources = await startResources(provider.issuer);
  await run({ issuer: provider.issuer, resources });
}

interface Real {
  readonly issuer: string;
  readonly resources: { readonly signed: string; readonly opaque: string; readonly bound: string };
}

interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

async function post(url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Said> {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams(form).toString();
  const response = await fetch(url, { method: "POST", headers: { ...type, ...headers }, body });
  const text = await response.text();
  const told: unknown = text === "" ? {} : JSON.parse(text);
  return { status: response.status, headers: response.headers, body: isJson(told) ? told : {} };
}

async function getCode({ issuer }: Real, resource: string, scope: string = "mcp:use"): Promise<string> {
  const url = new URL(`${issuer}/auth`);
  const asked = {
    response_type: "code",
    client_id: "editor",
    redirect_uri: redirectUri,
    state: "state-1",
    code_challenge: await sha256(verifier),
    code_challenge_method: "S256",
    resource,
    scope,
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  const back = new URL(await new Browser().go(url, redirectUri));
  assertEquals([back.searchParams.get("state"), back.searchParams.get("iss")], ["state-1", issuer]);
  return back.searchParams.get("code") ?? `no code: ${back.search}`;
}

async function exchange(real: Real, resource: string, scope?: string): Promise<Json> {
  const code = await getCode(real, resource, scope);
  const { status, body } = await post(`${real.issuer}/token`, codeForm(code, resource));
  assertEquals(status, 200, JSON.stringify(body));
  return body;
}

function codeForm(code: string, resource: string): Record<string, string> {
  const form = { grant_type: "authorization_code", client_id: "editor", code_verifier: verifier };
  return { ...form, code, redirect_uri: redirectUri, resource };
}

async function callTool(url: string, headers: Record<string, string>, name = "whoami"): Promise<Response> {
  const response = await callAt(url, headers, { name, arguments: {}, fetch });
  // Read here, so that no connection stays busy.
  return new Response(await response.text(), response);
}

const bearer = (body: Json) => ({ authorization: `Bearer ${String(body.access_token)}` });

async function prove(key: Signer, url: string, extra: Json = {}): Promise<string> {
  const claims = { htm: "POST", htu: url, iat: Math.floor(Date.now() / 1_000), jti: crypto.randomUUID(), ...extra };
  return await key.sign(claims, { typ: "dpop+jwt", jwk: key.jwk });
}

const skip = { skip: skipReal };

describe("a real authorization server", () => {
  test("signs a person in, for one resource", skip, async () => {
    await withReal(async (real) => {
      const { signed, opaque } = real.resources;
      const refused = await callTool(signed, {});
      assertEquals(refused.status, 401);
      assertStringIncludes(
        refused.headers.get("www-authenticate") ?? "",
        "/.well-known/oauth-protected-resource/signed/mcp",
      );
      const token = await exchange(real, signed);
      const reply = await callTool(signed, bearer(token));
      assertStringIncludes(await reply.text(), "ada");
      assertEquals((await callTool(opaque, bearer(token))).status, 401);
      const more = await callTool(signed, bearer(token), "write");
      assertEquals(more.status, 403);
      assertStringIncludes(more.headers.get("www-authenticate") ?? "", 'scope="mcp:use files:write"');
      const wide = await exchange(real, signed, "mcp:use files:write");
      assertStringIncludes(await (await callTool(signed, bearer(wide), "write")).text(), "written");
    });
  });

  test("renews with a new refresh token each time, and takes all back when an old one comes", skip, async () => {
    await withReal(async (real) => {
      const { opaque } = real.resources;
      const first = await exchange(real, opaque);
      const renew = (token: unknown) => {
        const form = { grant_type: "refresh_token", client_id: "editor", resource: opaque };
        return post(`${real.issuer}/token`, { ...form, refresh_token: String(token) });
      };
      const { body: second } = await renew(first.refresh_token);
      assertNotEquals(second.refresh_token, first.refresh_token);
      assertEquals((await callTool(opaque, bearer(second))).status, 200);
      assertEquals((await renew(first.refresh_token)).body.error, "invalid_grant");
      assertEquals((await renew(second.refresh_token)).body.error, "invalid_grant");
      assertEquals((await callTool(opaque, bearer(second))).status, 401);
    });
  });

  test("takes a token back on demand", skip, async () => {
    await withReal(async (real) => {
      const token = await exchange(real, real.resources.opaque);
      assertEquals((await callTool(real.resources.opaque, bearer(token))).status, 200);
      const form = { client_id: "editor", token: String(token.refresh_token) };
      assertEquals((await post(`${real.issuer}/token/revocation`, form)).status, 200);
      assertEquals((await callTool(real.resources.opaque, bearer(token))).status, 401);
    });
  });

  test("knows machines by secret, and by what they sign; and registers clients", skip, async () => {
    await withReal(async ({ issuer, resources: { signed } }) => {
      const form = { grant_type: "client_credentials", resource: signed, scope: "mcp:use" };
      const secret = encodeURIComponent(machine.client_secret).replaceAll("%20", "+");
      const authorization = `Basic ${btoa(`machine:${secret}`)}`;
      const given = await post(`${issuer}/token`, form, { authorization });
      assertEquals((await callTool(signed, bearer(given.body))).status, 200);
      const key = await createSigner();
      const response = await fetch(`${issuer}/reg`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          redirect_uris: [],
          response_types: [],
          grant_types: ["client_credentials"],
          token_endpoint_auth_method: "private_key_jwt",
          token_endpoint_auth_signing_alg: "ES256",
          jwks: { keys: [key.jwk] },
        }),
      });
      const { client_id: id } = await response.json();
      assertEquals(response.status, 201);
      const now = Math.floor(Date.now() / 1_000);
      const claims = { iss: id, sub: id, aud: issuer, iat: now, exp: now + 60, jti: crypto.randomUUID() };
      const shown = {
        client_assertion: await key.sign(claims),
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      };
      const signedIn = await post(`${issuer}/token`, { ...form, ...shown });
      assertEquals((await callTool(signed, bearer(signedIn.body))).status, 200);
      assertEquals((await post(`${issuer}/token`, { ...form, ...shown })).body.error, "invalid_client");
    });
  });

  test("waits for a person with another device", skip, async () => {
    await withReal(async ({ issuer, resources: { signed } }) => {
      const asked = { client_id: "editor", resource: signed, scope: "mcp:use" };
      const { body } = await post(`${issuer}/device/auth`, asked);
      const form = { grant_type: deviceGrant, client_id: "editor", resource: signed };
      const poll = () => post(`${issuer}/token`, { ...form, device_code: String(body.device_code) });
      assertEquals((await poll()).body.error, "authorization_pending");
      const page = await new Browser().go(String(body.verification_uri_complete));
      assertStringIncludes(page, "Success");
      const given = await poll();
      assertStringIncludes(await (await callTool(signed, bearer(given.body))).text(), "ada");
    });
  });

  for (const nonces of [false, true]) {
    test(`binds tokens to keys, ${nonces ? "with" : "without"} nonces`, skip, async () => {
      await withReal(async (real) => {
        const { bound } = real.resources;
        const [key, thief] = await Promise.all([createSigner(), createSigner()]);
        const url = `${real.issuer}/token`;
        const form = codeForm(await getCode(real, bound), bound);
        let given = await post(url, form, { dpop: await prove(key, url) });
        assertEquals(given.body.error, nonces ? "use_dpop_nonce" : undefined);
        if (nonces) {
          const nonce = given.headers.get("dpop-nonce");
          given = await post(url, form, { dpop: await prove(key, url, { nonce }) });
        }
        const token = String(given.body.access_token);
        assertEquals(given.body.token_type, "DPoP");
        const ath = await sha256(token);
        const use = (dpop: string) => callTool(bound, { authorization: `DPoP ${token}`, dpop });
        const proof = await prove(key, bound, { ath });
        assertStringIncludes(await (await use(proof)).text(), "who holds the key");
        for (const wrong of [proof, await prove(thief, bound, { ath }), await prove(key, bound)]) {
          assertEquals((await use(wrong)).status, 401);
        }
        assert(!(await callTool(bound, bearer(given.body))).ok);
      }, { nonces });
    });
  }
});
