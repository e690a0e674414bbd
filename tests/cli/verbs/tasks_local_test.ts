import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import { createHandler, createTasks, McpServer } from "../../../src/server/mod.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { createModernServer } from "../../servers/modern.ts";
import { assertFailure, causeway, peer } from "../support.ts";
import type { Run } from "../support.ts";

/** A server over HTTP, where tasks outlive the command, and a home of one's own. */
async function withServer(
  fetch: (request: Request) => Promise<Response>,
  use: (url: string, run: (...words: string[]) => Promise<Run>) => Promise<void>,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "causeway-tasks-"));
  try {
    await using host = await serveHttp(fetch, { port: 0 });
    await use(`${host.url}/mcp`, (...words) => causeway(words, { env: { CAUSEWAY_HOME: home } }));
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** A server that calls its only task "1". */
function counting(): (request: Request) => Promise<Response> {
  const { fetch } = createModernServer();
  let id: string | undefined;
  return async (request) => {
    const headers = new Headers(request.headers);
    const text = await request.text();
    if (id !== undefined && headers.get("mcp-name") === "1") headers.set("mcp-name", id);
    const body = text.replace('"taskId":"1"', `"taskId":"${id}"`);
    const response = await fetch(new Request(request.url, { method: request.method, headers, body: body || null }));
    const answer = await response.text();
    id ??= /"taskId":"([^"]+)"/.exec(answer)?.[1];
    const type = response.headers.get("content-type") ?? "";
    const { status } = response;
    return new Response(id === undefined ? answer : answer.replaceAll(id, "1"), {
      status,
      headers: { "content-type": type },
    });
  };
}

describe("causeway tasks", () => {
  test("detach, list, get by the id alone, wait", async () => {
    await withServer(createModernServer().fetch, async (url, run) => {
      const detached = await run("tasks", "detach", url, "job", "polls=2", "text=done");
      const id = detached.out.trim();
      assertEquals([detached.code, detached.err], [0, `causeway: causeway tasks wait ${id} waits for it\n`]);
      assertStringIncludes((await run("tasks", "list")).out, `${id}  ${url}  job  `);
      assertMatch((await run("tasks", "get", id)).out, /^task +.*\nstatus +(working|completed)\n/);
      assertEquals(JSON.parse((await run("tasks", "get", url, id, "--json")).out).taskId, id);
      const waited = await run("tasks", "wait", id);
      assertEquals([waited.code, waited.err], [0, ""]);
      assertStringIncludes(waited.out, "done");
      assertEquals(JSON.parse((await run("tasks", "list", "--json")).out), { tasks: [] });
    });
  });

  test("of two servers that count their tasks both are kept, and told apart by the target", async () => {
    await using other = await serveHttp(counting(), { port: 0 });
    await withServer(counting(), async (url, run) => {
      const targets = [url, `${other.url}/mcp`];
      for (const target of targets) {
        assertEquals((await run("tasks", "detach", target, "job", "polls=1", `text=${target}`)).out, "1\n");
      }
      const listed = async () => JSON.parse((await run("tasks", "list", "--json")).out).tasks;
      assertEquals((await listed()).map(({ target }: { target: string }) => target), targets);
      const wrong = await run("tasks", "wait", "1");
      assertFailure(
        wrong,
        2,
        /^causeway: More than one server has a task "1": write causeway tasks wait http:[^ ]+ 1,/,
      );
      assertStringIncludes((await run("tasks", "wait", targets[1] ?? "", "1")).out, targets[1] ?? "");
      assertEquals((await listed()).map(({ target }: { target: string }) => target), [url]);
      assertStringIncludes((await run("tasks", "wait", "1")).out, url);
      assertEquals(await listed(), []);
    });
  });

  test("an older server lists its own", async () => {
    await withServer(createLegacyServer().fetch, async (url, run) => {
      const listed = await run("tasks", "list", url, "--json");
      assertEquals([listed.code, JSON.parse(listed.out)], [0, { tasks: [] }]);
      assertMatch((await run("tasks", "list", url)).err, /^causeway: ".*" has no tasks\n$/);
    });
  });

  test("cancel; a tool that fails; one that is no task", async () => {
    await withServer(createModernServer().fetch, async (url, run) => {
      const id = (await run("tasks", "detach", url, "job", "polls=1000")).out.trim();
      assertEquals((await run("tasks", "cancel", id)).out, "Asked to stop the task\n");
      assertEquals(JSON.parse((await run("tasks", "get", url, id, "--json")).out).status, "cancelled");
      // It is told as what it was, and found by its id alone, as before.
      const [kept] = JSON.parse((await run("tasks", "list", "--json")).out).tasks;
      assertEquals([kept.taskId, kept.cancelled], [id, true]);
      assertMatch((await run("tasks", "list")).out, new RegExp(`^${id} .* job .* cancelled\\n$`));
      const got = await run("tasks", "get", id, "--json");
      assertEquals([got.code, JSON.parse(got.out || "{}").status], [0, "cancelled"], got.err);
      const failing = (await run("tasks", "detach", `${url}`, "job(error: true)")).out.trim();
      const failed = await run("tasks", "wait", failing);
      assertEquals([failed.code, failed.err], [1, "causeway: the task failed: its result says why\n"]);
      const plain = await run("tasks", "detach", url, "echo", "text=at once");
      assertEquals([plain.code, plain.out], [0, "at once\n"]);
      assertMatch(plain.err, /did not make a task of it: this is its result/);
    });
  });

  test("one of a server with a name is found from other folders, too; one that is gone can be taken from the list", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "causeway-tasks-")));
    try {
      let { fetch } = createModernServer();
      await using host = await serveHttp((request) => fetch(request), { port: 0 });
      writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { jobs: { url: `${host.url}/mcp` } } }));
      const env = { CAUSEWAY_HOME: join(folder, "home") };
      const run = (words: string[], cwd = folder) => causeway(["tasks", ...words], { cwd, env });
      const id = (await run(["detach", "jobs", "job", "polls=2", "text=done"])).out.trim();
      const waited = await run(["wait", id], tmpdir());
      assertEquals([waited.code, waited.out], [0, "done\n"], waited.err);
      const lost = (await run(["detach", "jobs", "job", "polls=1000"])).out.trim();
      ({ fetch } = createModernServer());
      assertFailure(await run(["cancel", lost], tmpdir()), 2, /refused tasks\/(get|cancel) \(-32602\)/);
      assertEquals(JSON.parse((await run(["list", "--json"])).out), { tasks: [] });
      const cancelled = (await run(["detach", "jobs", "job", "polls=1000"])).out.trim();
      assertEquals((await run(["cancel", cancelled])).code, 0);
      ({ fetch } = createModernServer());
      assertFailure(await run(["get", cancelled]), 2, /The task ".*" was cancelled, and its server has forgotten it: /);
      assertEquals(JSON.parse((await run(["list", "--json"])).out), { tasks: [] });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("one that has ended cannot be cancelled, and its result can be had all the same", async () => {
    const server = new McpServer({ name: "quick", version: "1.0.0" });
    server.tool("quick", { task: "optional" }, () => "the result");
    const handler = createHandler(server, {
      eras: ["legacy"],
      tasks: createTasks(),
      auth: () => ({ principal: "ada" }),
    });
    await withServer(handler, async (url, run) => {
      const id = (await run("tasks", "detach", url, "quick")).out.trim();
      assertFailure(await run("tasks", "cancel", id), 2, /has ended already/);
      assertEquals((await run("tasks", "wait", id)).out, "the result\n");
    });
    handler.close();
  });

  test("where nothing can be kept, ids and results are told all the same", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-tasks-"));
    const home = join(folder, "file");
    writeFileSync(home, "");
    try {
      await using host = await serveHttp(createModernServer().fetch, { port: 0 });
      const url = `${host.url}/mcp`;
      const run = (...words: string[]) => causeway(["tasks", ...words], { env: { CAUSEWAY_HOME: home } });
      const detached = await run("detach", url, "job", "polls=2", "text=done");
      const id = detached.out.trim();
      assertMatch(id, /^[\w-]{8,}$/, detached.err);
      assertEquals(detached.code, 0);
      const why = `warning: the task is not kept here: write causeway tasks wait <target> ${id} \\(Cannot use ".*file`;
      assertMatch(detached.err, new RegExp(why));
      const waited = await run("wait", url, id);
      assertEquals([waited.code, waited.out], [0, "done\n"], waited.err);
      const cancelled = await run("cancel", url, (await run("detach", url, "job", "polls=1000")).out.trim());
      assertEquals([cancelled.code, cancelled.out], [0, "Asked to stop the task\n"], cancelled.err);
      assertMatch(cancelled.err, /warning: the task stays in the list: Cannot use ".*file/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("what nobody knows is one line", async () => {
    assertFailure(
      await causeway(["tasks", "wait", "t1"]),
      2,
      /No task "t1" was started here: write causeway tasks wait/,
    );
    assertFailure(await causeway(["tasks", "get"]), 2, /The id is missing: write causeway tasks get/);
    assertFailure(await causeway(["tasks", "get", peer("modern"), "nope"]), 2, /refused tasks\/get/);
    assertFailure(
      await causeway(["tasks", "list", peer("modern")]),
      5,
      /Cannot list tasks: expected a 2025-11-25 server/,
    );
    assertFailure(await causeway(["tasks"]), 2, /It is not said what about the tasks: write causeway tasks list/);
  });
});
