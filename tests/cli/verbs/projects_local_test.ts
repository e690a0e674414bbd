import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { connect } from "../../../src/entry/local.ts";
import { assertFailure, causeway, program, quote } from "../support.ts";

const root = process.cwd();

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-projects-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One file of a project, with this package in the place of the one that would be installed. */
function bundle(file: string): string {
  const out = file.replace(/\.ts$/, ".mjs");
  const aliases = ["agent", "server"].map((name) => `--alias:@causeway/mcp/${name}=${root}/src/${name}/mod.ts`);
  const flags = ["--bundle", "--format=esm", "--platform=node", "--target=node20", "--log-level=error"];
  const built = spawnSync(`${root}/node_modules/.bin/esbuild`, [file, ...flags, ...aliases, `--outfile=${out}`]);
  assertEquals([built.status, String(built.stderr)], [0, ""]);
  return out;
}

describe("causeway init", () => {
  test("an agent that runs", async () => {
    await inFolder(async (folder) => {
      const made = await causeway(["init", "agent", "my agent"], { cwd: folder });
      assertEquals([made.code, made.err], [0, ""]);
      assertStringIncludes(made.out, "package.json, agent.ts, .gitignore\nNext: cd 'my agent' && npm install");
      assertEquals(JSON.parse(readFileSync(join(folder, "my agent", "package.json"), "utf8")).name, "my-agent");
      const file = bundle(join(folder, "my agent", "agent.ts"));
      const target = [...program("src/cli/main.ts"), "agent", file].map(quote).join(" ");
      assertEquals(await causeway(["call", target, "greet", "name=Ada"]), { code: 0, out: "Hello, Ada\n", err: "" });
      assertFailure(
        await causeway(["init", "agent", "my agent"], { cwd: folder }),
        2,
        /the folder is not empty; name another/,
      );
    });
  });

  test("a Node that reads no TypeScript says what does", {
    skip: "Bun" in globalThis || "Deno" in globalThis || "typescript" in process.features,
  }, async () => {
    await inFolder(async (folder) => {
      await causeway(["init", "agent"], { cwd: folder });
      const loaded = await causeway(["agent", "agent/agent.ts"], { cwd: folder });
      assertFailure(loaded, 2, /Cannot load the agent "agent\/agent.ts": this Node reads no TypeScript; take 22.18/);
    });
  });

  test("a Worker that answers", async () => {
    await inFolder(async (folder) => {
      assertEquals((await causeway(["init", "worker", "--json"], { cwd: folder })).code, 0);
      const module = await import(pathToFileURL(bundle(join(folder, "worker", "worker.ts"))).href);
      const fetch = (url: string, init: RequestInit) =>
        module.default.fetch(new Request(url, init), { ALLOWED_HOSTS: "" });
      await using client = await connect("http://localhost/mcp", { fetch });
      const { content } = await client.callTool("greet", { name: "Ada" });
      assertEquals(content, [{ type: "text", text: "Hello, Ada" }]);
      assertEquals((await fetch("http://localhost/", {})).status, 404);
    });
  });

  test("bad input is one line, with 2", async () => {
    assertFailure(await causeway(["init"]), 2, /It is not said what for: write causeway init agent/);
    assertFailure(await causeway(["init", "agnt"]), 2, /Unknown kind "agnt" \(did you mean "agent"\?\)/);
    await inFolder(async (folder) => {
      writeFileSync(join(folder, "file"), "");
      assertFailure(
        await causeway(["init", "agent", "file/below"], { cwd: folder }),
        2,
        /Cannot begin in "file\/below": a part of the path is a file; name another folder/,
      );
    });
  });
});

describe("causeway agent", () => {
  const tools =
    `getMcpToolDefinitions: () => [{ name: "hi", inputSchema: { type: "object" } }], executeMcpTool: () => "hello"`;

  test("an object or what makes one, over HTTP, until it is interrupted", async () => {
    await inFolder(async (folder) => {
      const file = join(folder, "agent.mjs");
      writeFileSync(file, `export default () => ({ ${tools}, respond: () => "I am a model" });`);
      const seen: string[] = [];
      const run = await causeway(["agent", file, "--port", "0"], {
        started(child) {
          child.stderr?.on("data", async (text: string) => {
            const [, url = ""] = /serves the agent at (\S+)\/mcp and /.exec(text) ?? [];
            if (url === "") return;
            await using client = await connect(`${url}/mcp`);
            const { content } = await client.callTool("hi");
            seen.push(JSON.stringify(content), JSON.stringify(await (await fetch(`${url}/v1/models`)).json()));
            process.kill(child.pid ?? 0, "SIGINT");
          });
        },
      });
      assertEquals(run.code, 130);
      assertMatch(seen.join(), /"text":"hello".*"object":"model"/);
    });
  });

  test("callers send the token of --token-file, at either path", async () => {
    await inFolder(async (folder) => {
      const [file, token] = [join(folder, "agent.mjs"), "0123456789abcdef"];
      writeFileSync(file, `export const agent = { ${tools}, respond: () => "I am a model" };`);
      writeFileSync(join(folder, "token"), `${token}\n`);
      const seen: unknown[] = [];
      const words = ["agent", file, "--port", "0", "--token-file", join(folder, "token")];
      const run = await causeway(words, {
        started(child) {
          child.stderr?.on("data", async (text: string) => {
            const [, url = ""] = /serves the agent at (\S+)\/mcp and /.exec(text) ?? [];
            if (url === "") return;
            for (const path of ["/mcp", "/v1/models"]) seen.push((await fetch(url + path)).status);
            const headers = { authorization: `Bearer ${token}` };
            await using client = await connect(`${url}/mcp`, { headers });
            seen.push(client.revision, (await fetch(`${url}/v1/models`, { headers })).status);
            process.kill(child.pid ?? 0, "SIGINT");
          });
        },
      });
      assertEquals([run.code, seen], [130, [401, 401, "2026-07-28", 200]]);
    });
  });

  test("what is no agent is one line", async () => {
    await inFolder(async (folder) => {
      const write = (
        name: string,
        text: string,
      ): string => (writeFileSync(join(folder, name), text), join(folder, name));
      assertFailure(await causeway(["agent", "no-such.ts"]), 2, /Cannot read the agent "no-such\.ts"/);
      assertFailure(
        await causeway(["agent", write("a.mjs", "export default 1;")]),
        2,
        /expected an agent .* as its default/,
      );
      assertFailure(
        await causeway(["agent", write("b.mjs", "throw new Error('broken');")]),
        2,
        /Cannot load .*: broken/,
      );
      const model = write("c.mjs", "export default { respond: () => 'x' };");
      assertFailure(await causeway(["agent", model]), 2, /it is a model without tools; add --port/);
    });
  });
});

describe("causeway deploy", () => {
  /** A project with a wrangler that writes down what it is asked to do, and fails at what it is told. */
  function project(folder: string, config: string, fails: string): void {
    const bin = join(folder, "node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(folder, "wrangler.toml"), config);
    writeFileSync(join(folder, "worker.ts"), "export default {};");
    writeFileSync(join(bin, "wrangler"), `#!/bin/sh\necho "$*" >> asked\n[ "$*" != "${fails}" ]\n`);
    chmodSync(join(bin, "wrangler"), 0o755);
  }
  const config = 'main = "worker.ts"\ncompatibility_date = "2026-05-03"\n[vars]\nALLOWED_HOSTS = ""\n';

  test("tries first, then deploys; warns of what would not answer", async () => {
    await inFolder(async (folder) => {
      project(folder, config, "nothing");
      const { code, err } = await causeway(["deploy", folder]);
      assertEquals(code, 0);
      assertMatch(err, /^causeway: warning: "ALLOWED_HOSTS" is empty/);
      assertEquals((await causeway(["deploy", folder, "--dry-run"])).code, 0);
      assertEquals(readFileSync(join(folder, "asked"), "utf8"), "deploy --dry-run\ndeploy\ndeploy --dry-run\n");
    });
  });

  test("reads what wrangler reads: texts in either quotes, and the file that it takes first", async () => {
    await inFolder(async (folder) => {
      project(folder, config.replaceAll('"', "'"), "nothing");
      const { code, err } = await causeway(["deploy", folder]);
      assertEquals(code, 0, err);
      assertMatch(err, /^causeway: warning: "ALLOWED_HOSTS" is empty/);
      writeFileSync(join(folder, "wrangler.json"), '{ "main": "other.ts" }');
      assertFailure(await causeway(["deploy", folder]), 2, /wrangler\.json": its main "other\.ts" is not there/);
    });
  });

  test("what cannot be built is not deployed", async () => {
    await inFolder(async (folder) => {
      project(folder, config, "deploy --dry-run");
      const { code, err } = await causeway(["deploy"], { cwd: folder });
      assertEquals(code, 1);
      assertMatch(err, /nothing was deployed: wrangler cannot build it/);
      assertEquals(readFileSync(join(folder, "asked"), "utf8"), "deploy --dry-run\n");
    });
  });

  test("what is missing is one line, with 2", async () => {
    await inFolder(async (folder) => {
      assertFailure(await causeway(["deploy", folder]), 2, /There is no wrangler\.toml, nor .*: causeway init worker/);
      project(folder, 'name = "x"\n', "nothing");
      assertFailure(await causeway(["deploy", folder]), 2, /it names no "main"/);
      project(folder, 'main = "other.ts"\n', "nothing");
      assertFailure(await causeway(["deploy", folder]), 2, /its main "other\.ts" is not there/);
      project(folder, 'main = "worker.ts"\n', "nothing");
      assertFailure(await causeway(["deploy", folder]), 2, /add a "compatibility_date"/);
      rmSync(join(folder, "node_modules"), { recursive: true });
      writeFileSync(join(folder, "wrangler.toml"), config.replace('""', '"a.example"'));
      assertFailure(await causeway(["deploy", folder]), 2, /There is no wrangler in/);
      assertEquals(readdirSync(folder).includes("asked"), false);
    });
  });
});
