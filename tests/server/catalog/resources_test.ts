import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { newServer, refusal, run } from "./support.ts";

const uri = "test://one";

/** What reading gives: its contents alone. */
async function read(value: unknown, options = {}): Promise<JsonObject[]> {
  const server = newServer();
  server.resource(uri, options, () => value as string);
  return (await run(server, "resources/read", { uri })).contents as JsonObject[];
}

describe("reading resources", () => {
  test("texts and bytes have a type", async () => {
    assertEquals(await read("hello"), [{ uri, mimeType: "text/plain", text: "hello" }]);
    assertEquals(await read(""), [{ uri, mimeType: "text/plain", text: "" }]);
    assertEquals(await read("# a", { mimeType: "text/markdown" }), [{ uri, mimeType: "text/markdown", text: "# a" }]);
    assertEquals(await read(new Uint8Array([0, 255, 16])), [
      { uri, mimeType: "application/octet-stream", blob: "AP8Q" },
    ]);
    assertEquals(await read(new Uint8Array([1]), { mimeType: "image/png" }), [
      { uri, mimeType: "image/png", blob: "AQ==" },
    ]);
    const many = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
    const [large] = await read(many);
    assertEquals(Uint8Array.from(atob(String(large?.blob)), (character) => character.charCodeAt(0)), many);
  });

  test("contents of its own making go out as they are", async () => {
    const one = { uri: "test://other", text: "a", _meta: { a: 1 } };
    assertEquals(await read(one), [one]);
    assertEquals(await read([one, { uri, blob: "AA==" }]), [one, { uri, blob: "AA==" }]);
    assertEquals(await read({ contents: [one] }), [one]);
  });

  test("a resource that is not there is -32602 with its URI (S-076)", async () => {
    const server = newServer();
    server.resource(uri, {}, () => undefined);
    server.template("test://family/{id}", {}, () => Promise.resolve(undefined));
    for (const missing of [uri, "test://two", "test://family/a", "no uri", "", "test://" + "a".repeat(20_000)]) {
      const { message, data } = await refusal(run(server, "resources/read", { uri: missing }));
      assert(message.startsWith("Resource not found: ") && message.length < 600, message);
      assertEquals(data, { uri: missing });
    }
    assert((await refusal(run(server, "resources/read"))).message.includes('"uri" is missing: expected a string'));
  });

  test("what a handler throws, or gives that is no resource, is not the caller's fault", async () => {
    for (const value of [5, {}, { uri }, [{ text: "a" }], { contents: "a" }, { uri, text: "a", _meta: { n: 1n } }]) {
      const error = await assertRejects(() => read(value), TypeError);
      assert(error.message.includes("no sound contents"), error.message);
    }
    const server = newServer();
    server.resource(uri, {}, () => {
      throw new Error("disk");
    });
    await assertRejects(() => run(server, "resources/read", { uri }), Error, "disk");
  });

  test("how long it is good is said of each (S-084); without a word it is not, and private", async () => {
    const server = newServer({ cache: { ttlMs: 9, cacheScope: "public" } });
    server.resource(uri, {}, () => "a");
    server.template("test://{+path}", { cache: { ttlMs: 1_000, cacheScope: "public" } }, () => "b");
    server.resource("test://own", {}, () => ({ contents: [], ttlMs: 5 }));
    const contents = (text: string, of: string) => [{ uri: of, mimeType: "text/plain", text }];
    assertEquals(await run(server, "resources/read", { uri }), {
      contents: contents("a", uri),
      ttlMs: 0,
      cacheScope: "private",
    });
    assertEquals(await run(server, "resources/read", { uri: "test://x" }), {
      contents: contents("b", "test://x"),
      ttlMs: 1_000,
      cacheScope: "public",
    });
    assertEquals(await run(server, "resources/read", { uri: "test://own" }), {
      contents: [],
      ttlMs: 5,
      cacheScope: "private",
    });
  });

  test("a resource comes before a template, an earlier template before a later one", async () => {
    const server = newServer();
    const seen: unknown[] = [];
    server.template("test://{a}/{b}", {}, (found, variables) => seen.push(found, variables) ? "first" : "");
    server.template("test://{+all}", {}, (_, variables) => seen.push(variables) ? "second" : "");
    server.resource("test://a/b", {}, () => "itself");
    const texts: unknown[] = [];
    for (const found of ["test://a/b", "test://a/c%20d", "test://a/b/c"]) {
      const { contents } = await run(server, "resources/read", { uri: found });
      texts.push((contents as JsonObject[])[0]?.text);
    }
    assertEquals(texts, ["itself", "first", "second"]);
    assertEquals(seen, ["test://a/c%20d", { a: "a", b: "c d" }, { all: "a/b/c" }]);
  });

  test("a file: URI that climbs out of its folder reaches no handler (S-078)", async () => {
    const server = newServer();
    server.template("file:///{+path}", {}, (_, { path }) => `read ${path}`);
    for (const path of ["../etc", "a/../../b", "a/%2e%2e/b", "a/..%2Fb", "a/%2E./b", "..", "a%5C..%5Cb", "a%00b"]) {
      await refusal(run(server, "resources/read", { uri: `file:///${path}` }));
    }
    for (const path of ["a/.\t./b", "a/%\n2e./b", "a/.. ", "a/..\u0001"]) {
      await refusal(run(server, "resources/read", { uri: `file:///${path}` }));
    }
    for (const path of ["a/b..c", "a/..b", "a/...", ".hidden"]) {
      const { contents } = await run(server, "resources/read", { uri: `file:///${path}` });
      assertEquals((contents as JsonObject[])[0]?.text, `read ${path}`);
    }
  });

  test("nor does one of which a variable climbs (S-078)", async () => {
    const cases: [template: string, climbing: string, plain: string][] = [
      ["find{?name}", "find?name=../etc", "find?name=a..b"],
      ["find{?name}", "find?name=..", "find?name=..."],
      ["{+a}-{+b}", "x-../etc", "x-..y"],
      ["log.{+name}", "log.../etc", "log.a/b"],
      ["{list}!", "a,..!", "a,b!"],
      ["{+path}", "a/%252e%252e/b", "a/%252e/b"],
    ];
    for (const [template, climbing, plain] of cases) {
      const server = newServer();
      server.template(`file:///${template}`, {}, () => "read");
      await refusal(run(server, "resources/read", { uri: `file:///${climbing}` }));
      const { contents } = await run(server, "resources/read", { uri: `file:///${plain}` });
      assertEquals((contents as JsonObject[])[0]?.text, "read");
    }
  });
});

describe("registering resources", () => {
  test("resources and templates are listed with all that is said of them", async () => {
    const server = newServer();
    const said = {
      title: "T",
      description: "D",
      mimeType: "text/html",
      annotations: { priority: 1 },
      icons: [{ src: "data:image/png;base64,AA==" }],
    };
    server.resource(uri, { ...said, name: "one", size: 3, meta: { a: 1 }, cache: { ttlMs: 5 } }, () => "abc");
    server.resource("test://two", {}, () => "");
    server.template("test://{id}", { ...said, name: "family", meta: { a: 1 }, complete: {} }, () => "");
    server.template("test://{id}/more", {}, () => "");
    assertEquals(await run(server, "resources/list"), {
      resources: [{ uri, name: "one", ...said, size: 3, _meta: { a: 1 } }, { uri: "test://two", name: "test://two" }],
    });
    assertEquals(await run(server, "resources/templates/list"), {
      resourceTemplates: [
        { uriTemplate: "test://{id}", name: "family", ...said, _meta: { a: 1 } },
        { uriTemplate: "test://{id}/more", name: "test://{id}/more" },
      ],
    });
  });

  test("what is wrong is named at once", () => {
    const server = newServer();
    for (const bad of ["", "one", "/one", "test:", "test://a b", "test://a\n", "test://{id}", 5]) {
      assertThrows(() => server.resource(bad as string, {}, () => ""), TypeError, "expected an absolute URI");
    }
    for (const bad of ["test://{", "test://{a", "test://}", "test://{a b}"]) {
      assertThrows(() => server.template(bad, {}, () => ""), TypeError, "expected an RFC 6570 template");
    }
    assertThrows(() => server.template("", {}, () => ""), TypeError, '"uriTemplate" is ""');
    assertThrows(() => server.resource(uri, { size: "3" as never }, () => ""), TypeError, '"size" is a string');
    assertThrows(() => server.resource(uri, { cache: { ttlMs: -1 } }, () => ""), TypeError, '"cache.ttlMs" is -1');
    assertThrows(() => server.resource(uri, {}, undefined as never), TypeError, '"handler" is missing');
    assertThrows(
      () => server.template("test://{a}{?b*,c:3}", { complete: { d: () => [] } }, () => ""),
      TypeError,
      '"complete" is "d", expected one of its variables (a,b,c)',
    );
    assertThrows(
      () => server.template("test://{a}", { complete: { a: ["one"] as never } }, () => ""),
      TypeError,
      '"complete.a" is ["one"], expected a function',
    );
    assertThrows(
      () => server.template("test://{a}", { title: 5 as never }, () => ""),
      TypeError,
      '"title" is a number',
    );
    server.resource(uri, {}, () => "");
    server.template("test://{id}", {}, () => "");
    assertThrows(() => server.resource(uri, {}, () => ""), TypeError, "already");
    assertThrows(() => server.template("test://{id}", {}, () => ""), TypeError, "already");
  });

  test("what is removed is not read any more", async () => {
    const server = newServer();
    server.resource(uri, {}, () => "a")();
    server.template("test://{id}", {}, () => "a")();
    await refusal(run(server, "resources/read", { uri }));
    assertEquals(await run(server, "resources/list"), { resources: [] });
  });
});
