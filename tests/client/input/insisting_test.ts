import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { connect, UrlElicitationRequiredError } from "../../../mod.ts";
import type { Handlers } from "../../../mod.ts";
import type { JsonObject } from "../../servers/core/wire.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { handshaking } from "../played.ts";
import { until } from "../support.ts";

describe("-32042 of a server that insists (C-221)", () => {
  const visiting: Handlers = { elicitationUrl: () => ({ action: "accept" }) };
  const page: JsonObject = {
    mode: "url",
    elicitationId: "sign-1",
    url: "https://example.com/sign",
    message: "Sign in",
  };
  /** Answers each call with the pages that have to be visited first. */
  const insisting = (elicitations: JsonObject[]) =>
    handshaking(({ id, method }, send) => {
      const error = { code: -32042, message: "Sign in first", data: { elicitations } };
      if (method === "tools/call") send({ jsonrpc: "2.0", id, error });
    });

  test("one that names no page is told at once, and the call is not repeated", async () => {
    const server = insisting([{ ...page, elicitationId: 1 }]);
    await using client = await connect(server.transport, { handlers: visiting });
    await assertRejects(() => client.callTool("x"), UrlElicitationRequiredError);
    assertEquals(server.methods().filter((method) => method === "tools/call").length, 1);
  });

  test("one that comes again and again is told after limits.inputRounds", async () => {
    const server = insisting([page]);
    const elicitationUrl: Handlers["elicitationUrl"] = ({ elicitationId = "" }) => {
      server.send({ jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId } });
      return { action: "accept" };
    };
    const options = { handlers: { elicitationUrl }, limits: { inputRounds: 2 } };
    await using client = await connect(server.transport, options);
    await assertRejects(() => client.callTool("x"), UrlElicitationRequiredError);
    assertEquals(server.methods().filter((method) => method === "tools/call").length, 3);
  });

  test("a call that is answered with a page that was done meanwhile is sent again, and nobody is asked twice", async () => {
    let done = false;
    const late: JsonObject[] = [];
    const server = handshaking((message, send) => {
      if (message.method !== "tools/call") return;
      const { id } = message;
      if (done) return send({ jsonrpc: "2.0", id: id!, result: { content: [] } });
      const error = { code: -32042, message: "Sign in first", data: { elicitations: [page] } };
      late.push({ jsonrpc: "2.0", id: id!, error });
      if (late.length === 2) send(late[0]!);
    });
    let asked = 0;
    const elicitationUrl: Handlers["elicitationUrl"] = () => {
      asked++;
      return { action: "accept" };
    };
    await using client = await connect(server.transport, { handlers: { elicitationUrl } });
    const calls = [client.callTool("x"), client.callTool("x")];
    await until(() => asked === 1);
    done = true;
    const params = { elicitationId: "sign-1" };
    server.send({ jsonrpc: "2.0", method: "notifications/elicitation/complete", params }, late[1]!);
    await Promise.all(calls);
    assertEquals([asked, server.methods().filter((method) => method === "tools/call").length], [1, 4]);
  });

  test("a server that never says when it is done: its error, once the time is over", async () => {
    const clock = new VirtualClock();
    const server = insisting([page]);
    const client = await clock.until(connect(server.transport, { handlers: visiting, clock }));
    const call = assertRejects(() => client.callTool("x", {}, { timeout: 5_000 }), UrlElicitationRequiredError);
    await clock.until(call);
    assertEquals(server.methods().filter((method) => method === "tools/call").length, 1);
    await client.close();
  });
});

test("of questions without end a thousand are asked at once; the others are refused, and later ones are asked again", async () => {
  const asked: (() => void)[] = [];
  const elicitation: Handlers["elicitation"] = () =>
    new Promise((resolve) => asked.push(() => resolve({ action: "cancel" })));
  const server = handshaking(({ id, method, params }, send) => {
    if (method !== "tools/call") return;
    const { name } = params as { readonly name: string };
    const form = { message: "More", requestedSchema: { type: "object", properties: {} } };
    const ask = (at: number) => ({ jsonrpc: "2.0", id: `${name} ${at}`, method: "elicitation/create", params: form });
    send(...Array.from({ length: 3_000 }, (_, at) => ask(at)), { jsonrpc: "2.0", id: id!, result: { content: [] } });
  });
  const client = await connect(server.transport, { handlers: { elicitation } });
  const refused = () => server.seen.filter(({ error }) => error);
  for (const [at, name] of ["first", "second"].entries()) {
    await client.callTool(name);
    await until(() => refused().length === 2_000 * (at + 1));
    assertEquals(asked.length, 1_000);
    const error = { code: -32603, message: "The client could not answer" };
    assertEquals(refused().at(-1), { jsonrpc: "2.0", id: `${name} 2999`, error });
    for (const answer of asked.splice(0)) answer();
    await until(() => server.seen.filter(({ result }) => result).length === 1_000 * (at + 1));
  }
  await client.close();
});
