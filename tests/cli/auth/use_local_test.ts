import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { findSignIn, withAdvice } from "../../../src/cli/auth/use.ts";
import type { UsedSignIn } from "../../../src/cli/auth/use.ts";
import { describeFailure } from "../../../src/cli/failure.ts";
import {
  AuthorizationError,
  AuthorizationRequiredError,
  ConnectError,
  UnauthorizedError,
} from "../../../src/protocol/mod.ts";
import { runCommand, server, TestWorld } from "./world.ts";

const to = (target: string, headers = {}) => ({ target, headers, hint: "" });

/** Signs in, so that there is something to use. */
async function signedIn(): Promise<TestWorld> {
  const world = new TestWorld();
  assertEquals((await runCommand(["login", server, "--device"], world)).code, 0);
  world.settings.length = 0;
  return world;
}

describe("the sign-in that tools and call use", { concurrency: false }, () => {
  test("is that of the server alone; credentials that someone gave win, and programs have none", async () => {
    const world = await signedIn();
    assert(await findSignIn(world, to(server)));
    assert(await findSignIn(world, to(`${server}#part`)));
    assertEquals(world.settings.length, 2);
    const others = [
      ...[to("https://mcp.example/other"), to("https://mcp.example:8443/mcp"), to("http://mcp.example/mcp")],
      ...[to(server, { aUTHORIZATION: "Bearer x" }), { ...to(""), target: { command: "x" } }],
    ];
    for (const other of others) assertEquals(await findSignIn(world, other), undefined);
    assertEquals(world.settings.length, 2, "OAuth is not even opened");
  });

  test("a place that cannot be read is told, and does not stop a server that needs none", async () => {
    const world = new TestWorld();
    world.store.mood = "fails";
    const seen: string[] = [];
    const { write } = process.stderr;
    const take = (text: string, done?: () => void): boolean => {
      seen.push(text);
      done?.();
      return true;
    };
    try {
      Object.assign(process.stderr, { write: take });
      assertEquals(await findSignIn(world, to(server)), undefined);
    } finally {
      Object.assign(process.stderr, { write });
    }
    assertEquals(seen, ["causeway: no sign-in is used: the disk is on fire\n"]);
  });

  test("what a sign-in would help against says so, with 3; other failures stay what they are", async () => {
    const world = await signedIn();
    const found = await findSignIn(world, to(server));
    assert(found);
    const auth = { ...found, kept: { ...found.kept, redirectUri: "http://127.0.0.1:1/callback" } };
    const tell = async (error: Error, used: UsedSignIn = auth) =>
      describeFailure(await withAdvice(error, to(server), used));
    const required = (scopes: string[]) =>
      new AuthorizationRequiredError("x", {
        authorizationUrl: "https://as.example/",
        pending: { id: "1", server, issuer: "https://as.example", scopes, expiresAt: 0 },
      });
    const unauthorized = new UnauthorizedError("refused", { status: 401, challenge: "" });
    const first = `Sign in first: causeway login ${server}`;
    assertEquals(await tell(required(["read"])), { exitCode: 3, line: first });
    assertEquals(
      (await tell(required(["read", "admin:x", "$(calc)", "--port", "a b"]))).line,
      `${first} --scope admin:x`,
    );
    assertEquals((await tell(unauthorized)).line, first);
    assertEquals((await tell(new AuthorizationError("set it"), found)).line, `${first} --device`);
    const none = await withAdvice(unauthorized, to(`${server}?key=hidden`), undefined);
    assertEquals(describeFailure(none), {
      exitCode: 3,
      line: `${first}?…, or send credentials with --header 'Authorization: Bearer …'`,
    });
    assertEquals(
      (await tell(new AuthorizationError("The client is gone"))).line,
      `The client is gone; sign in again: causeway login ${server}`,
    );
    for (
      const error of [
        new ConnectError("down"),
        new UnauthorizedError("no", { status: 403, challenge: "" }),
        new Error("x"),
      ]
    ) {
      assertEquals(await withAdvice(error, to(server), auth), error);
    }
    assertEquals(await withAdvice(unauthorized, to(server, { authorization: "x" }), undefined), unauthorized);
  });
});
