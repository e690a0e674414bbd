/** The grants at servers that judge for themselves: what they bring back opens the resource. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  clientCredentials,
  deviceCode,
  enterpriseAuthorization,
  type Grant,
  privateKeyJwt,
  type ServerMetadata,
  workloadIdentity,
} from "../../../src/auth/mod.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { call } from "../world/by_hand.ts";
import { lostReply, networkFailure } from "../world/faults.ts";
import { createSigner } from "../world/jwt.ts";
import { createWorld, issuer, resourceUrl, type World } from "../world/world.ts";
import { createContext } from "./context.ts";

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const platform = "https://platform.example.com";

/** Gets a token in the world, as `createOAuth` would. */
async function obtain(world: World, grant: Grant, secrets: string[] = []): Promise<string> {
  const response = await world.fetch(`${issuer}/.well-known/oauth-authorization-server`, {});
  const metadata: ServerMetadata = await response.json();
  const context = createContext(grant, {
    metadata,
    resource: resourceUrl,
    scopes: ["mcp:use"],
    clock: world.clock,
    fetch: world.fetch,
    secret: (value) => void secrets.push(value),
  });
  return (await grant.obtain(context)).accessToken;
}

/** What the resource says to who comes with a token. */
async function open(world: World, token: string): Promise<number> {
  const reply = await call(world, { authorization: `Bearer ${token}` });
  await reply.text();
  return reply.status;
}

const later = (world: World, seconds: number): number => Math.floor(world.clock.now() / 1_000) + seconds;

describe("grants in the world", () => {
  test("client credentials, by a secret and by a key, as often as needed", async () => {
    const world = await createWorld();
    const key = await createSigner();
    const grantTypes = ["client_credentials"];
    world.server.clients.add({ id: "a:b", secret: "s e+c%ret", grantTypes });
    world.server.clients.add({ id: "signer", keys: [key.jwk], grantTypes });
    const authenticate = privateKeyJwt(key.privateKey, { clock: world.clock });
    const grants = [
      clientCredentials({ clientId: "a:b", clientSecret: "s e+c%ret" }),
      clientCredentials({ clientId: "signer", authenticate }),
    ];
    for (const grant of grants) {
      for (const _ of [1, 2]) assertEquals(await open(world, await obtain(world, grant)), 200);
    }
    const stranger = await createSigner();
    const forged = clientCredentials({
      clientId: "signer",
      authenticate: privateKeyJwt(stranger.privateKey, { clock: world.clock }),
    });
    const error = await assertRejects(() => obtain(world, forged), AuthorizationError);
    assertEquals(error.error, "invalid_client");
  });

  test("what a platform says of a workload, and nothing that is meant for another, or over", async () => {
    const world = await createWorld();
    const key = await createSigner();
    world.server.trusted.set(platform, [key.jwk]);
    world.server.clients.add({ id: "workload", grantTypes: [jwtBearer] });
    const say = (claims: Record<string, unknown>): Grant =>
      workloadIdentity({
        clientId: "workload",
        assertion: ({ audience }) =>
          key.sign({ iss: platform, sub: "workload", aud: audience, exp: later(world, 60), ...claims }),
      });
    assertEquals(await open(world, await obtain(world, say({}))), 200);
    for (const claims of [{ aud: "https://other.example.com" }, { exp: later(world, -1) }]) {
      world.log.clear();
      const error = await assertRejects(() => obtain(world, say(claims)), AuthorizationError);
      assertEquals([error.error, world.log.tokens().length], ["invalid_grant", 1]);
    }
  });

  test("the word of an enterprise: two servers, nobody is sent to the second", async () => {
    const world = await createWorld();
    const idp = await world.addServer("https://login.example.org", { needsResource: false });
    const person = await createSigner();
    idp.trusted.set(idp.issuer, [person.jwk]);
    idp.clients.add({
      id: "assistant-at-login",
      secret: "of login",
      grantTypes: [
        "urn:ietf:params:oauth:grant-type:token-exchange",
      ],
    });
    idp.clientIdsElsewhere.set("assistant-at-login", "assistant");
    world.server.trusted.set(idp.issuer, [(await idp.signer()).jwk]);
    world.server.clients.add({ id: "assistant", secret: "of auth", grantTypes: [jwtBearer] });
    const idToken = await person.sign({
      iss: idp.issuer,
      sub: "ada",
      aud: "assistant-at-login",
      exp: later(world, 60),
    });
    const grant = enterpriseAuthorization({
      clientId: "assistant",
      clientSecret: "of auth",
      identityProvider: { issuer: idp.issuer, clientId: "assistant-at-login", clientSecret: "of login" },
      idToken,
    });
    const secrets: string[] = [];
    const token = await obtain(world, grant, secrets);
    assertEquals(await open(world, token), 200);
    assertEquals(world.server.find(token)?.subject, "ada");
    assertEquals([world.log.count("/authorize"), world.log.count("/register")], [0, 0]);
    assertEquals(world.log.holding(idToken).map(({ url }) => url.href), ["https://login.example.org/token"]);
    const [, bearer] = world.log.tokens();
    const idJag = bearer?.form.get("assertion") ?? "none";
    assertEquals([bearer?.url.origin, secrets.includes(idJag), secrets.includes(idToken)], [issuer, true, true]);
    await world.clock.advance(61_000);
    const late = await assertRejects(() => obtain(world, grant), AuthorizationError, "login.example.org");
    assertEquals(late.error, "invalid_grant");
    assertEquals(late.message.includes(idToken), false);
  });
});

describe("a device in the world", () => {
  const type = "urn:ietf:params:oauth:grant-type:device_code";

  async function begin(decide: (world: World, userCode: string) => void) {
    const world = await createWorld();
    world.server.clients.add({ id: "registered", grantTypes: [type] });
    const grant = deviceCode({ onCode: ({ userCode }) => decide(world, userCode) });
    return { world, run: () => world.clock.until(obtain(world, grant)) };
  }

  test("gets its token once the person has said yes, however the server slows it down", async () => {
    const { world, run } = await begin((world, userCode) => {
      world.clock.schedule(() => world.server.devices.decide(userCode, "approved"), 20_000);
    });
    if (world.server.knobs.device) world.server.knobs.device.answers.push("slow_down");
    assertEquals(await open(world, await run()), 200);
    const [first = 0, ...others] = world.log.tokens(type).map(({ at }) => at);
    assertEquals(others.map((at) => (at - first) / 1_000), [10, 20]);
  });

  test("asks again when a connection breaks; a token that was lost on the way is not to be had again", async () => {
    const broken = await begin((world, userCode) => world.server.devices.decide(userCode, "approved"));
    broken.world.fault("/token", networkFailure, 2);
    assertEquals(await open(broken.world, await broken.run()), 200);
    const lost = await begin((world, userCode) => world.server.devices.decide(userCode, "approved"));
    lost.world.fault("/token", lostReply);
    const error = await assertRejects(lost.run, AuthorizationError);
    assertEquals([error.error, lost.world.log.tokens(type).length], ["invalid_grant", 2]);
  });

  test("hears the person's no, and the end of its code", async () => {
    const refused = await begin((world, userCode) => world.server.devices.decide(userCode, "denied"));
    const no = await assertRejects(refused.run, AuthorizationError, "the person refused");
    assertEquals(no.error, "access_denied");
    const forgotten = await begin(() => {});
    const end = await assertRejects(forgotten.run, AuthorizationError, "not entered in time");
    assertEquals([end.error, forgotten.world.clock.monotonic()], ["expired_token", 600_000]);
    assertStringIncludes(end.message, issuer);
  });
});
