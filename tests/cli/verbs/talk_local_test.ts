import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { createModernServer } from "../../servers/modern.ts";
import { assertFailure, causeway, peer } from "../support.ts";

describe("causeway resources and read", () => {
  test("lists resources and templates; --json prints exactly the MCP object", async () => {
    const [text, json, templates] = await Promise.all([
      causeway(["resources", peer("modern")]),
      causeway(["resources", peer("legacy"), "--json"]),
      causeway(["resources", peer("modern"), "--json", "--templates"]),
    ]);
    assertEquals([text.code, text.err], [0, ""]);
    assertStringIncludes(text.out, "test://text\n    A text (text/plain, 11 bytes)\n");
    assertStringIncludes(text.out, "test://item/{id}\n    item (application/json)\n");
    const { resources, truncated } = JSON.parse(json.out);
    assertEquals([resources[0].uri, truncated], ["test://text", undefined]);
    assertEquals(JSON.parse(templates.out).resourceTemplates[0].uriTemplate, "test://item/{id}");
  });

  test("a list of templates that has no end is said to be cut, as any other", async () => {
    const more = { resourceTemplates: [{ name: "a", uriTemplate: "a:{b}" }], resources: [] };
    await using host = await serveHttp(async (request) => {
      const { id, method, params } = await request.json();
      const nextCursor = method === "resources/templates/list" ? `${Number(params?.cursor ?? 0) + 1}` : undefined;
      const about = { supportedVersions: ["2026-07-28"], capabilities: { resources: {} } };
      const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", ...about, ...more, nextCursor };
      return Response.json({ jsonrpc: "2.0", id, result });
    }, { port: 0 });
    for (const rest of [[], ["--templates"], ["--templates", "--json"]]) {
      const { code, err } = await causeway(["resources", `${host.url}/mcp`, ...rest]);
      assertEquals([code, err], [0, "causeway: the list is not whole: it was cut at the limit of pages\n"]);
    }
  });

  test("its very bytes go into a pipe, and with --output into a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-read-"));
    const file = join(folder, "out");
    try {
      const [text, blob, saved, json] = await Promise.all([
        causeway(["read", peer("modern"), "test://text"]),
        causeway(["read", peer("legacy"), "test://blob", "--json"]),
        causeway(["read", peer("modern"), "test://blob", "--output", file]),
        causeway(["read", peer("legacy"), "test://text", "--json"]),
      ]);
      assertEquals(text, { code: 0, out: "hello world", err: "" });
      assertEquals(JSON.parse(json.out).contents[0].text, "hello world");
      const bytes = readFileSync(file);
      assertEquals(bytes.toString("base64"), JSON.parse(blob.out).contents[0].blob);
      assertEquals([saved.code, saved.out, saved.err], [0, "", `causeway: wrote ${bytes.length} bytes to ${file}\n`]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("what is missing, unknown or cannot be written is one line", async () => {
    assertFailure(
      await causeway(["read", peer("modern")]),
      2,
      /The uri is missing: write causeway read <target> <uri>/,
    );
    assertFailure(
      await causeway(["read", peer("modern"), "test://none"]),
      2,
      /Cannot read "test:\/\/none" of ".*": .*causeway resources lists/,
    );
    assertFailure(
      await causeway(["read", peer("modern"), "test://text", "--output", "/no/such/folder/x"]),
      2,
      /Cannot write "\/no\/such\/folder\/x": /,
    );
  });
});

describe("causeway prompts and prompt", () => {
  test("lists them, and fills one in; --json prints exactly the MCP object", async () => {
    const [list, json, filled, object] = await Promise.all([
      causeway(["prompts", peer("modern")]),
      causeway(["prompts", peer("legacy"), "--json"]),
      causeway(["prompt", peer("legacy"), "greet", "who=Ada", "tone=5"]),
      causeway(["prompt", peer("modern"), "greet", "--args", '{"who":"Ada"}', "--json"]),
    ]);
    assertEquals([list.code, list.err], [0, ""]);
    assertStringIncludes(list.out, "greet  Greeting: Greets somebody\n    who    Whom to greet\n    tone?\n");
    assertEquals(JSON.parse(json.out).prompts[0].name, "greet");
    assertMatch(filled.out, /^user: .*Ada.*5/);
    assertEquals(JSON.parse(object.out).messages[0].role, "user");
  });

  test("bad arguments are named before anything is asked", async () => {
    assertFailure(
      await causeway(["prompt", peer("modern"), "greet", "wo=Ada"]),
      2,
      /"greet" do not fit: "who" is missing; there is no "wo" \(did you mean "who"\?\); causeway prompts shows/,
    );
    assertFailure(await causeway(["prompt", peer("modern"), "gret"]), 2, /Unknown prompt "gret".*did you mean "greet"/);
    assertFailure(await causeway(["prompt", peer("modern")]), 2, /The prompt is missing: write causeway prompt/);
  });
});

describe("a prompt that is none", () => {
  test("is left out of the list with the reason, which who asks for it is told, too", async () => {
    await using host = await serveHttp(async (request) => {
      const { id } = await request.json();
      const about = { supportedVersions: ["2026-07-28"], capabilities: { prompts: {} } };
      const prompts = [{ name: "good" }, { name: "bad", arguments: [{ name: 1 }] }];
      const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", ...about, prompts };
      return Response.json({ jsonrpc: "2.0", id, result });
    }, { port: 0 });
    const url = `${host.url}/mcp`;
    const { code, out, err } = await causeway(["prompts", url]);
    const [, reason = ""] = /^causeway: left out the prompt "bad": (.*)\n$/.exec(err) ?? [];
    assertEquals([code, out, reason === ""], [0, "good\n", false], err);
    const asked = await causeway(["prompt", url, "bad"]);
    assertEquals([asked.code, asked.err], [5, `causeway: Cannot use the prompt "bad" of "${url}": ${reason}\n`]);
  });
});

describe("causeway resources --templates", () => {
  test("says of a server without templates that it has none, and not that it has no resources", async () => {
    const server = new McpServer({ name: "notes", version: "1.0.0" });
    server.resource("note://today", {}, () => "open");
    await using host = await serveHttp(createHandler(server), { port: 0 });
    const { code, out, err } = await causeway(["resources", `${host.url}/mcp`, "--templates"]);
    assertEquals([code, out, err], [0, "", `causeway: "${host.url}/mcp" has no templates\n`]);
  });
});

describe("causeway watch", () => {
  test("says what is watched; with --timeout it ends well", async () => {
    await using host = await serveHttp(createModernServer().fetch, { port: 0 });
    const watch = (time: string) => causeway(["watch", `${host.url}/mcp`, "test://watched", "--timeout", time]);
    let run = await watch("2");
    // A busy machine needs more to begin.
    if (run.code !== 0) run = await watch("8");
    assertEquals([run.code, run.out], [0, ""]);
    assertMatch(run.err, /^causeway: watches the list of tools, the list of prompts, .*, test:\/\/watched of "/);
  });

  test("--timeout is over also while nobody answers yet, or nobody has agreed to tell of changes", async () => {
    const about = { supportedVersions: ["2026-07-28"], capabilities: { tools: { listChanged: true } } };
    const answer = async (request: Request): Promise<Response> => {
      const { id, method } = await request.json();
      if (method !== "server/discover" || request.url.endsWith("/silent")) return await new Promise(() => {});
      return Response.json({
        jsonrpc: "2.0",
        id,
        result: { resultType: "complete", ttlMs: 0, cacheScope: "private", ...about },
      });
    };
    await using host = await serveHttp(answer, { port: 0 });
    const begun = Date.now();
    const watch = (path: string) => causeway(["watch", `${host.url}/${path}`, "--timeout", "1"]);
    const late = /^causeway: Not done within 1000 ms/;
    for (const run of await Promise.all(["silent", "mcp"].map(watch))) assertFailure(run, 4, late);
    assert(Date.now() - begun < 10_000, `it took ${Date.now() - begun} ms`);
  });

  test("ends when nobody reads what it tells any more", async () => {
    const server = createModernServer();
    await using host = await serveHttp(server.fetch, { port: 0 });
    let emitting: ReturnType<typeof setInterval> | undefined;
    const { code, err } = await causeway(["watch", `${host.url}/mcp`], {
      started(child) {
        emitting = setInterval(() => server.emit({ type: "tools" }), 20);
        child.stdout?.once("data", () => child.stdout?.destroy());
      },
    });
    clearInterval(emitting);
    // One that goes on is killed in the end, and has no code.
    assertEquals(code, 0, err);
    assertMatch(err, /^causeway: watches [^\n]*\n$/);
  });

  test("tells of changes, line by line, until it is interrupted", async () => {
    const server = createModernServer();
    await using host = await serveHttp(server.fetch, { port: 0 });
    const { code, out, err } = await causeway(["watch", `${host.url}/mcp`, "test://text", "--json"], {
      started(child) {
        child.stderr?.on("data", (text: string) => {
          if (!text.includes("watches")) return;
          server.emit({ type: "tools" });
          server.emit({ type: "resource", uri: "test://text" });
        });
        let seen = "";
        child.stdout?.on("data", (text: string) => {
          seen += text;
          // Not by `child.kill`: Deno then reports the signal instead of the exit code.
          if (seen.includes("test://text")) process.kill(child.pid ?? 0, "SIGINT");
        });
      },
    });
    assertEquals(out.trim().split("\n").map((line) => JSON.parse(line)), [
      { type: "tools" },
      { type: "resource", uri: "test://text" },
    ]);
    assertEquals(code, 130);
    assert(err.endsWith("causeway: interrupted\n"), err);
  });
});
