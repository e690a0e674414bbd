import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { readWords } from "../../../src/cli/program/read.ts";
import { serveHttp } from "../../../src/entry/local.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { createModernServer } from "../../servers/modern.ts";
import { assertFailure, causeway, peer, program, quote } from "../support.ts";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-wire-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The target that replays a recording. */
function replaying(file: string): string {
  return [...program("src/cli/main.ts"), "replay", file].map(quote).join(" ");
}

describe("causeway --verbose", () => {
  test("shows each message on the standard error, and no secret", async () => {
    const server = createModernServer({ token: "t0p-s3cret-of-all" });
    await using host = await serveHttp(server.fetch, { port: 0 });
    const header = "Authorization: Bearer t0p-s3cret-of-all";
    const words = ["call", `${host.url}/mcp`, "echo", "text=say t0p-s3cret-of-all", "--verbose", "--header", header];
    const { code, out, err } = await causeway(words);
    assertEquals([code, out], [0, "say t0p-s3cret-of-all\n"]);
    assertMatch(err, /^> \d+ ms \{"jsonrpc":"2\.0","id":\d+,"method":"server\/discover"/);
    assertMatch(err, /\n< \d+ ms .*"text":"say \[redacted\]"/);
    assertEquals(err.includes("t0p-s3cret"), false);
  });
});

describe("causeway record and replay", () => {
  test("common options may stand before the verb, with their values", async () => {
    const read = async (...words: string[]) => {
      const { command, words: rest, record, timeout, config } = await readWords(words);
      return [command, rest, record, timeout, config];
    };
    const tools = ["tools", "a b"];
    assertEquals(await read("--timeout", "5", "record", "f", ...tools), ["tools", ["a b"], "f", 5_000, undefined]);
    assertEquals(await read("--config=c", "record", "f", ...tools), ["tools", ["a b"], "f", undefined, "c"]);
    assertEquals(await read("--verbose", "record", "f", ...tools), ["tools", ["a b"], "f", undefined, undefined]);
    assertEquals(await read("--config", "record", ...tools), ["tools", ["a b"], undefined, undefined, "record"]);
    assertEquals(await read("--config", "record", "record", "f", ...tools), [
      ...["tools", ["a b"], "f", undefined, "record"],
    ]);
    assertEquals(await read("call", "a b", "record", "f", "x"), [
      ...["call", ["a b", "record", "f", "x"], undefined, undefined, undefined],
    ]);
  });

  for (const era of ["modern", "legacy"]) {
    test(`${era}: the recording answers as the server did`, async () => {
      await inFolder(async (folder) => {
        const file = join(folder, "wire.ndjson");
        const call = ["echo", "text=hello"];
        const recorded = await causeway(["record", file, "call", peer(era), ...call, "--json"]);
        assertEquals([recorded.code, recorded.err], [0, ""]);
        assertEquals(statSync(file).mode & 0o777, 0o600);
        const lines = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
        assertEquals(
          lines.every(({ at, to, message }) => at >= 0 && /server|client/.test(to) && message.jsonrpc),
          true,
        );
        const replayed = await causeway(["call", replaying(file), ...call, "--json"]);
        assertEquals(replayed, recorded);
        assertFailure(
          await causeway(["call", replaying(file), "echo", "text=other"]),
          2,
          /refused tools\/call \(-32602\): Not in the recording: tools\/call/,
        );
        assertFailure(await causeway(["record", file, "tools", peer(era)]), 2, /there is such a file already/);
      });
    });
  }

  test("over HTTP, with progress that names the request anew", async () => {
    await inFolder(async (folder) => {
      const file = join(folder, "wire.ndjson");
      await using host = await serveHttp(createLegacyServer().fetch, { port: 0 });
      const recorded = await causeway(["record", file, "call", `${host.url}/mcp`, "progress", "count=2"]);
      assertEquals(recorded.code, 0);
      const replayed = await causeway(["call", replaying(file), "progress", "count=2", "--verbose"]);
      assertEquals([replayed.code, replayed.out], [0, recorded.out]);
      assertMatch(replayed.err, /"method":"notifications\/progress"/);
    });
  });

  test("where the recording finds no room, the command goes on, and says so with 1", async () => {
    await inFolder((folder) => {
      const file = join(folder, "wire");
      const words = [...program("src/cli/main.ts"), "record", file, "call", peer("modern"), "big", "bytes=20000"];
      const script = `trap '' XFSZ; ulimit -f 8; exec ${words.map(quote).join(" ")}`;
      const env = { ...process.env, CAUSEWAY_HOME: join(folder, "home"), NODE_DISABLE_COMPILE_CACHE: "1" };
      const { status, stdout, stderr } = spawnSync("sh", ["-c", script], { env, encoding: "utf8", timeout: 15_000 });
      assertEquals([status, stdout.length], [1, 20_001], stderr);
      assertMatch(stderr, /^causeway: Cannot record all to ".*wire": .*\n$/);
      return Promise.resolve();
    });
  });

  test("what is no recording, and what cannot be recorded, is one line", async () => {
    await inFolder(async (folder) => {
      const [broken, empty] = [join(folder, "broken"), join(folder, "empty")];
      writeFileSync(broken, '{"to":"server"}\n');
      writeFileSync(empty, "");
      assertFailure(await causeway(["replay", broken]), 2, /Cannot replay .*broken:1: expected \{ "at"/);
      assertFailure(await causeway(["replay", empty]), 2, /it holds no request/);
      assertFailure(await causeway(["replay", join(folder, "none")]), 2, /there is no such file/);
      assertFailure(await causeway(["record", join(folder, "x")]), 2, /It is not said what to record/);
      assertFailure(await causeway(["record", join(folder, "x"), "whoami"]), 2, /Cannot record causeway whoami/);
      assertEquals(existsSync(join(folder, "x")), false);
      const nowhere = ["record", join(folder, "no", "x"), "tools", peer("modern")];
      assertFailure(await causeway(nowhere), 2, /Cannot record to ".*x": /);
    });
  });
});

describe("causeway call: Ctrl-C", () => {
  test("calls the call off at the server", async () => {
    await inFolder(async (folder) => {
      const seen = join(folder, "seen");
      // They end with their input. Who is asked to a second after it, and has stood still meanwhile, would write nothing down any more.
      const target = `sh -c ${quote(`trap '' TERM; tee ${quote(seen)} | ${peer("modern")}`)}`;
      let timer: ReturnType<typeof setInterval> | undefined;
      const { code, err } = await causeway(["call", target, "slow"], {
        started(child) {
          timer = setInterval(() => {
            if (!existsSync(seen) || !readFileSync(seen, "utf8").includes("tools/call")) return;
            clearInterval(timer);
            process.kill(child.pid ?? 0, "SIGINT");
          }, 10);
        },
      });
      clearInterval(timer);
      assertEquals([code, err], [130, "causeway: interrupted\n"]);
      const lines = readFileSync(seen, "utf8").trim().split("\n").map((line) => JSON.parse(line));
      const call = lines.find(({ method }) => method === "tools/call");
      const cancelled = lines.find(({ method }) => method === "notifications/cancelled");
      assert(call !== undefined && cancelled !== undefined);
      assertEquals(cancelled.params.requestId, call.id);
    });
  });
});
