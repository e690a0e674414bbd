/** A gateway for each caller, or one made anew each time, over one hub and one relay: calls that wait are there for the next request. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { connect } from "../../../mod.ts";
import type { Client } from "../../../mod.ts";
import { createGateway, createRelay } from "../../../src/hub/gateway/mod.ts";
import type { Gateway, GatewayOptions } from "../../../src/hub/gateway/mod.ts";
import { createHandler, perCaller } from "../../../src/server/mod.ts";
import { heldRequest } from "../../support/held_request.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { openHub } from "../support.ts";
import { all, textOf } from "./support.ts";

/** Joins clients, each of whom answers with their own name, to gateways that are made anew for each request. */
async function scene(one: ReturnType<typeof all>, options: GatewayOptions = {}) {
  const relay = createRelay();
  const { handlers, features, middleware, tasks } = relay;
  const hub = await openHub({ one: one.config }, { handlers, features, middleware, tasks });
  const made: Gateway[] = [];
  const servers = perCaller(() => {
    const gateway = createGateway(hub, { relay, ...options });
    made.push(gateway);
    return gateway;
  });
  const auth = ({ headers }: Request) => ({ principal: headers.get("x-user") ?? "nobody" });
  const handler = createHandler(servers, { auth, eras: ["modern"] });
  const join = (user: string, answer?: () => Promise<void>): Promise<Client> =>
    connect("http://localhost/mcp", {
      headers: { "x-user": user },
      fetch: (url, init) => handler(heldRequest(url, init)),
      handlers: {
        elicitation: async () => {
          await answer?.();
          return { action: "accept", content: { name: user } };
        },
      },
    });
  return { join, made, hub, close: () => (handler.close(), hub.close()) };
}

describe("gateways that are made anew for each request", () => {
  for (const back of ["modern", "legacy"] as const) {
    test(`go on with a call that has asked, ${back} behind`, async () => {
      const one = all("one", back);
      const { join, close } = await scene(one);
      await using client = await join("ada");
      assertEquals(textOf(await client.callTool("one__asks")), "ada, ada");
      if (back === "legacy") assertEquals(one.runs.count, 1);
      await close();
    });
  }

  test("take turns among all of them", async () => {
    const one = all("one", "legacy");
    const { join, close } = await scene(one, { takesTurns: true });
    const users = ["ada", "ben", "eve"];
    const clients = await Promise.all(users.map((user) => join(user)));
    const results = await Promise.all(clients.map((client) => client.callTool("one__asks")));
    assertEquals(results.map(textOf), users.map((user) => `${user}, ${user}`));
    for (const client of clients) await client.close();
    await close();
  });

  test("that are closed end what they had begun", async () => {
    const one = all("one", "legacy");
    const clock = new VirtualClock();
    const { join, made, close } = await scene(one, { clock });
    const asked: (() => void)[] = [];
    let asking = (): void => {};
    const isAsked = new Promise<void>((resolve) => asking = resolve);
    await using client = await join("ada", () => {
      asking();
      return new Promise((resolve) => void asked.push(resolve));
    });
    const called = client.callTool("one__asks").catch((error: unknown) => String(error));
    await isAsked;
    for (const gateway of made) gateway.close();
    for (const answer of asked) answer();
    const outcome = await called;
    assertEquals(JSON.stringify(outcome).includes("it is over"), true, JSON.stringify(outcome));
    await clock.advance(5_000);
    assertEquals(clock.waiting, 0);
    await close();
  });
});
