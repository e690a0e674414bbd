/** The object of a legacy session, with a storage in memory: what it keeps, and when it forgets. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../mod.ts";
import { SessionObject } from "../../workers/session_object.ts";

type State = ConstructorParameters<typeof SessionObject>[0];

/** A storage, and objects over it. */
class Place {
  readonly stored = new Map<string, unknown>();
  alarms = 0;
  /** Whether an alarm can be set. */
  isWell = true;
  object: SessionObject = this.wake();
  headers: Record<string, string> = {};

  /** An object without memory. */
  wake(): SessionObject {
    const storage: State["storage"] = {
      get: (key) => Promise.resolve(this.stored.get(key)),
      put: (key, value) => Promise.resolve(void this.stored.set(key, structuredClone(value))),
      delete: (key) => Promise.resolve(this.stored.delete(key)),
      setAlarm: () => this.isWell ? Promise.resolve(void this.alarms++) : Promise.reject(new Error("storage failed")),
      deleteAlarm: () => Promise.resolve(),
      deleteAll: () => Promise.resolve(this.stored.clear()),
    };
    const state: State = { id: "object", storage };
    const nobody = { newUniqueId: () => "", idFromString: () => "", get: () => ({ fetch: () => Promise.reject() }) };
    return this.object = new SessionObject(state, { SESSIONS: nobody, SOCKETS: nobody });
  }

  post(message: JsonObject): Promise<Response> {
    return this.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  async send(body: string | ReadableStream<Uint8Array>): Promise<Response> {
    const init = {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...this.headers,
      },
      body,
      duplex: "half",
    };
    const response = await this.object.fetch(new Request("http://localhost/mcp", init));
    const id = response.headers.get("mcp-session-id");
    if (id !== null) this.headers = { "mcp-session-id": id };
    return response;
  }

  async open(): Promise<void> {
    const clientInfo = { name: "test", version: "1" };
    await this.post({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    await this.post({ method: "notifications/initialized" });
  }

  listen(): Promise<Response> {
    const headers = { accept: "text/event-stream", ...this.headers };
    return this.object.fetch(new Request("http://localhost/mcp", { headers }));
  }

  /** What is kept of the session: its level, and the resources that are watched. */
  kept(): unknown[] {
    const records = [...this.stored.values()].map((text) => JSON.parse(String(text)));
    return records.map(({ lasting: { level, resources } }) => [level, resources]);
  }
}

describe("the object of a legacy session", () => {
  test("keeps what lasts, and not what was taken back, replaced or refused, however long it goes on", async () => {
    const place = new Place();
    await place.open();
    let id = 0;
    const send = (method: string, params: JsonObject) => place.post({ id: ++id, method, params });
    await send("logging/setLevel", { level: "debug" });
    await send("resources/subscribe", { uri: "about://first" });
    for (let count = 0; count < 60; count++) {
      await send("resources/subscribe", { uri: `about://${count}` });
      await send("resources/unsubscribe", { uri: `about://${count}` });
    }
    await send("resources/subscribe", { uri: "about://first" });
    await send("resources/subscribe", { uri: 7 });
    await send("logging/setLevel", { level: "error" });
    await send("logging/setLevel", { level: "loud" });
    await send("resources/subscribe", { uri: "about://last" });
    assertEquals(place.kept(), [["error", ["about://first", "about://last"]]]);
    place.wake();
    const response = await send("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    assertEquals((await response.json()).result.structuredContent, { sum: 3 });
  });

  test("is forgotten when its alarm comes, but not while a stream of it is open", async () => {
    const place = new Place();
    await place.open();
    const stream = await place.listen();
    assertEquals(stream.status, 200);
    const before = place.alarms;
    await place.object.alarm();
    assertEquals([place.alarms - before, (await place.post({ id: 1, method: "ping" })).status], [1, 200]);
    await stream.body?.cancel();
    await place.object.alarm();
    assertEquals([place.stored.size, (await place.post({ id: 2, method: "ping" })).status], [0, 404]);
  });

  test("is not forgotten while a request of it comes in", async () => {
    const place = new Place();
    await place.open();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    const slow = place.send(readable);
    await writer.write(bytes('{"jsonrpc":"2.0","id":1,'));
    await place.object.alarm();
    await writer.write(bytes('"method":"ping"}'));
    await writer.close();
    assertEquals([(await slow).status, (await place.post({ id: 2, method: "ping" })).status], [200, 200]);
    await place.object.alarm();
    assertEquals(place.stored.size, 0);
  });

  test("an alarm that cannot be set costs no answer, and is set with the next one", async () => {
    const place = new Place();
    place.isWell = false;
    await place.open();
    assertEquals((await place.post({ id: 1, method: "ping" })).status, 200);
    place.isWell = true;
    assertEquals((await place.post({ id: 2, method: "ping" })).status, 200);
    assertEquals(place.alarms, 1);
  });

  test("a stream that ends with its session is let go of", async () => {
    const place = new Place();
    await place.open();
    const stream = await place.listen();
    const ended = await place.object.fetch(
      new Request("http://localhost/mcp", { method: "DELETE", headers: place.headers }),
    );
    assertEquals(ended.status, 200);
    assert((await stream.text()).length >= 0);
    assertEquals(place.stored.size, 0);
  });
});
