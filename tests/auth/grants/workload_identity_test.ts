/** Tokens for a program whose platform says who it is. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { workloadIdentity, type WorkloadIdentityOptions } from "../../../src/auth/mod.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { GrantWorld, issuer, refusal, resource, tokenEndpoint } from "./context.ts";

const grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const assertion = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3b3JrbG9hZCJ9.c2lnbmF0dXJl";

describe("workload identity", () => {
  test("the assertion is the grant; the client names itself", async () => {
    const world = new GrantWorld();
    const token = await world.obtain(workloadIdentity({ clientId: "workload-7", assertion }));
    assertEquals(token.accessToken, "the-access-token");
    assertEquals(Object.fromEntries(world.forms(tokenEndpoint)[0] ?? []), {
      grant_type: grantType,
      assertion,
      client_id: "workload-7",
      scope: "files:read",
      resource,
    });
    assertEquals(world.redactor.redact(`got ${assertion}`), "got [redacted]");
  });

  test("without a client only the assertion says who asks, and nothing is registered", async () => {
    const world = new GrantWorld();
    const grant = workloadIdentity({ assertion });
    await world.obtain(grant);
    assertEquals(grant.client !== undefined, true, "a client of its own: none is registered");
    assertEquals(workloadIdentity({ assertion, issuer }).client?.issuer, issuer, "it may be bound to a server");
    const [seen] = world.seen;
    assertEquals([seen?.form.get("client_id"), seen?.headers.get("authorization")], [null, null]);
  });

  test("a client with a secret shows it", async () => {
    const world = new GrantWorld();
    await world.obtain(workloadIdentity({ clientId: "workload", clientSecret: "s3cret", assertion }));
    assertEquals(world.seen[0]?.headers.get("authorization"), `Basic ${btoa("workload:s3cret")}`);
  });

  test("a function is asked for each token, and told whom it is for; line ends of files go", async () => {
    const world = new GrantWorld();
    const asked: string[] = [];
    const grant = workloadIdentity({
      clientId: "workload",
      assertion: async ({ audience, signal }) => {
        asked.push(audience);
        assertEquals(signal.aborted, false);
        return await Promise.resolve(`${assertion}${asked.length}\n`);
      },
    });
    await world.obtain(grant);
    await world.obtain(grant);
    assertEquals(asked, [issuer, issuer]);
    assertEquals(world.forms(tokenEndpoint).map((form) => form.get("assertion")), [`${assertion}1`, `${assertion}2`]);
  });

  test("when the server refuses, nothing is tried again, and nothing else", async () => {
    for (const code of ["invalid_grant", "invalid_scope", "unauthorized_client"]) {
      const world = new GrantWorld();
      world.servers.set(tokenEndpoint, () => refusal(code));
      const grant = workloadIdentity({ clientId: "workload", assertion: () => assertion });
      const error = await assertRejects(() => world.obtain(grant), AuthorizationError);
      assertEquals([error.error, world.seen.length], [code, 1]);
    }
  });

  test("what the function throws goes through; nothing is sent", async () => {
    const world = new GrantWorld();
    const failure = new Error("the metadata service is away");
    const grant = workloadIdentity({ clientId: "workload", assertion: () => Promise.reject(failure) });
    assertStrictEquals(await assertRejects(() => world.obtain(grant), Error), failure);
    assertEquals(world.seen, []);
  });

  test("who no longer waits is not held up by a function that never answers", async () => {
    const controller = new AbortController();
    const world = new GrantWorld({ signal: controller.signal });
    const grant = workloadIdentity({ clientId: "workload", assertion: () => new Promise<string>(() => {}) });
    const work = world.obtain(grant);
    const reason = new Error("enough");
    controller.abort(reason);
    assertStrictEquals(await assertRejects(() => work, Error), reason);
    assertStrictEquals(await assertRejects(() => world.obtain(grant), Error), reason);
    assertEquals(world.seen, []);
  });

  test("what is no token is refused before anything is sent, and not shown", async () => {
    for (
      const bad of [undefined, null, 7, "", " \n", "s3cret with spaces", "s3cret\u0000", "s3crét", "x".repeat(140_000)]
    ) {
      const options = { clientId: "workload", assertion: bad } as WorkloadIdentityOptions;
      const early = assertThrows(() => workloadIdentity(options), TypeError, '"assertion"');
      const world = new GrantWorld();
      const grant = workloadIdentity({ clientId: "workload", assertion: () => bad as string });
      const late = await assertRejects(() => world.obtain(grant), TypeError, '"assertion"');
      for (const { message } of [early, late]) assertEquals(/s3cr|xxx/.test(message), false, message);
      assertEquals(world.seen, []);
    }
  });

  test("a secret without a client, and a client without a name, are mistakes", () => {
    assertThrows(() => workloadIdentity({ assertion, clientSecret: "s3cret" }), TypeError, '"clientId"');
    assertThrows(() => workloadIdentity({ assertion, clientId: "" }), TypeError, '"clientId"');
  });
});
