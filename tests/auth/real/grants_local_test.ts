/** Tokens without a browser of this program, from a real authorization server, with the public API alone. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { type CallToolResult, connect } from "../../../src/entry/local.ts";
import { clientCredentials, createDpop, createOAuth, deviceCode, privateKeyJwt } from "../../../src/auth/mod.ts";
import { type Clock, systemClock } from "../../../src/ports.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { createSigner } from "../world/jwt.ts";
import { Browser } from "./browser.ts";
import { introspector, startResources } from "./resource.ts";
import { skipReal, startProvider } from "./start.ts";

const skip = { skip: skipReal };
/** The runtime's clock, but that 5 seconds, which are between two questions of a device, are over at once. */
const hasty: Clock = {
  ...systemClock,
  schedule: (callback, milliseconds, options) =>
    systemClock.schedule(callback, milliseconds === 5_000 ? 50 : milliseconds, options),
};
const tells = (text: string): CallToolResult["content"] => [{ type: "text", text }];
const program = { redirect_uris: [], response_types: [], grant_types: ["client_credentials"] };

interface Real {
  readonly issuer: string;
  readonly signed: string;
  readonly bound: string;
}

async function withReal(
  clients: readonly Readonly<Record<string, unknown>>[],
  run: (real: Real) => Promise<void>,
): Promise<void> {
  await using provider = await startProvider({ clients: [introspector, ...clients] });
  await using resources = await startResources(provider.issuer);
  await run({ issuer: provider.issuer, signed: resources.signed, bound: resources.bound });
}

describe("grants at a real server", () => {
  for (const authMethod of ["client_secret_basic", "client_secret_post"] as const) {
    test(`a program with a secret is known by ${authMethod}, and one with another is not`, skip, async () => {
      const clientSecret = "plus+ colon: percent% tilde~ and-dash";
      const known = {
        client_id: "nightly:report",
        client_secret: clientSecret,
        token_endpoint_auth_method: authMethod,
      };
      await withReal([{ ...program, ...known }], async ({ issuer, signed }) => {
        const client = { clientId: known.client_id, clientSecret, authMethod, issuer };
        const oauth = createOAuth({ grant: clientCredentials(client) });
        await using connected = await connect(signed, { auth: oauth });
        assertEquals((await connected.callTool("whoami")).content, tells(`${issuer}#nightly:report`));
        assertEquals((await oauth.status(signed))?.refreshable, true);
        // The server withdraws no signed tokens: this one is forgotten here alone.
        assertEquals([await oauth.signOut(signed), await oauth.status(signed)], [{ revoked: false }, undefined]);
        const stranger = createOAuth({ grant: clientCredentials({ ...client, clientSecret: "guessed" }) });
        await assertRejects(() => stranger.signIn(signed), AuthorizationError);
      });
    });
  }

  test("a program with a key signs, and one with another key is not known", skip, async () => {
    const [key, other] = await Promise.all([createSigner(), createSigner()]);
    const method = { token_endpoint_auth_method: "private_key_jwt", token_endpoint_auth_signing_alg: "ES256" };
    const known = { ...program, ...method, client_id: "signer", jwks: { keys: [key.jwk] } };
    await withReal([known], async ({ issuer, signed, bound }) => {
      const create = ({ privateKey }: { readonly privateKey: CryptoKey }) =>
        clientCredentials({ clientId: "signer", issuer, authenticate: privateKeyJwt(privateKey) });
      await using client = await connect(signed, { auth: createOAuth({ grant: create(key) }) });
      assertEquals((await client.callTool("whoami")).content, tells(`${issuer}#signer`));
      const proving = createOAuth({ grant: create(key), dpop: createDpop() });
      await using holder = await connect(bound, { auth: proving });
      assertEquals((await holder.callTool("whoami")).content, tells("who holds the key"));
      await assertRejects(() => createOAuth({ grant: create(other) }).signIn(signed), AuthorizationError);
    });
  });

  test("a person says yes on another device, to a client that registered", skip, async () => {
    await withReal([], async ({ issuer, signed }) => {
      const pages: Promise<string>[] = [];
      const grant = deviceCode({
        onCode: ({ verificationUriComplete = "missing" }) =>
          void pages.push(new Browser("eve").go(verificationUriComplete)),
      });
      const oauth = createOAuth({ grant, clock: hasty, clientMetadata: { client_name: "A television" } });
      await oauth.signIn(signed, { scopes: ["mcp:use"] });
      assertEquals((await Promise.all(pages)).map((page) => /Sign-in Success/.test(page)), [true]);
      await using client = await connect(signed, { auth: oauth });
      assertEquals((await client.callTool("whoami")).content, tells(`${issuer}#eve`));
      assertEquals((await oauth.status(signed))?.refreshable, true);
    });
  });
});
