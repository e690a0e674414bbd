/**
 * `bun tools/conformance/inspector.ts`: the official Inspector's command line at our servers, over stdio and HTTP, in both eras. It is
 * run by hand: npx fetches the Inspector and a Node that is new enough for it (300 MB). `--program <part>`, given once for
 * each part, names an installed one instead: `--program node --program …/launcher/build/index.js`. `--only <part of a line>`
 * narrows it.
 */
import { mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { type RunningServer, startServer } from "./server_process.ts";
import { runProcess } from "../process.ts";
import { bunPath, root } from "../programs.ts";

const version = "2.12.0";
const fetched = ["npx", "-y", "-p", "node@22", "-p", `@modelcontextprotocol/inspector@${version}`, "mcp-inspector"];
const eras = ["legacy", "modern"] as const;
type Era = typeof eras[number];

/** A question to a server, and what has to be in the answer. */
interface Question {
  readonly ask: readonly string[];
  /** A part of the answer's JSON. */
  readonly has: string;
  /** The exit code. Default: 0. */
  readonly code?: number;
  /** Only in this era. */
  readonly era?: Era;
}

/** A server, and how the Inspector reaches it. */
interface Target {
  readonly name: string;
  readonly command: readonly string[];
  readonly questions: readonly Question[];
}

const skill = "skill://release-notes/SKILL.md";
const fixtures: readonly Question[] = [
  { ask: ["initialize"], has: '"causeway-conformance"' },
  { ask: ["tools/list", "--strict"], has: '"test_simple_text"' },
  { ask: ["tools/call", "--tool-name", "test_simple_text"], has: "This is a simple text response" },
  { ask: ["tools/call", "--tool-name", "test_error_handling"], has: '"isError":true', code: 5 },
  { ask: ["resources/list"], has: '"test://static-text"' },
  { ask: ["resources/read", "--uri", "test://static-text"], has: "This is the content of the static text" },
  { ask: ["resources/templates/list"], has: '"test://template/{id}/data"' },
  { ask: ["prompts/list"], has: '"test_simple_prompt"' },
  {
    ask: ["prompts/get", "--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=x", "arg2=y"],
    has: "y",
  },
  { ask: ["skills/list", "--verify", "--require-digests"], has: '"status":"verified"', era: "modern" },
  { ask: ["skills/get", "--uri", skill, "--verify"], has: '"status":"verified"', era: "modern" },
  { ask: ["resources/directory/read", "--uri", "skill://release-notes"], has: '"inode/directory"', era: "modern" },
];
const sample: readonly Question[] = [
  { ask: ["initialize"], has: '"A sample"' },
  { ask: ["tools/list", "--strict"], has: '"echo"' },
  { ask: ["tools/call", "--tool-name", "add", "--tool-args-json", '{"a":2,"b":3}'], has: '"sum":5' },
  { ask: ["resources/list"], has: '"watched"' },
  { ask: ["resources/read", "--uri", "fruit://apple"], has: '"YXBwbGU="' },
  { ask: ["prompts/get", "--prompt-name", "greet", "--prompt-args", "name=Ada"], has: "Greet Ada" },
];
const agent: readonly Question[] = [
  { ask: ["tools/list", "--strict"], has: '"read-file"' },
  { ask: ["tools/call", "--tool-name", "read-file", "--tool-arg", "path=deno.json"], has: "compilerOptions" },
];

/** Asks every question in both eras and answers 0 when each answer was right. */
async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: { program: { type: "string", multiple: true }, only: { type: "string", default: "" } },
  });
  const bun = bunPath();
  if (bun === undefined) {
    console.error("The servers are run by Bun, and there is no bun on PATH");
    return 2;
  }
  const scratch = join(root, ".cache", `inspector-${process.pid}`);
  mkdirSync(scratch, { recursive: true });
  const servers: RunningServer[] = [];
  const counts = { passed: 0, failed: 0 };
  try {
    const targets: Target[] = [
      { name: "stdio, a sample", command: [bun, "tests/interop/server/stdio_program.ts", "both"], questions: sample },
      { name: "stdio, examples/file_agent.ts", command: [bun, "examples/file_agent.ts"], questions: agent },
    ];
    for (const runtime of ["bun", "workerd"] as const) {
      const server = await startServer(runtime, scratch);
      servers.push(server);
      targets.push({ name: `HTTP, ${runtime}`, command: [server.url], questions: fixtures });
    }
    for (const target of targets) {
      for (const era of eras) {
        for (const question of target.questions) {
          if (question.era !== undefined && question.era !== era) continue;
          const line = `${era.padEnd(7)} ${target.name.padEnd(30)} ${question.ask.join(" ")}`;
          if (!line.includes(values.only)) continue;
          const passed = await inspect(values.program ?? fetched, { target, era, question, scratch, line });
          counts[passed ? "passed" : "failed"]++;
        }
      }
    }
  } finally {
    for (const server of servers) server.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
  console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
  return counts.passed > 0 && counts.failed === 0 ? 0 : 1;
}

/** One run of the Inspector. */
interface Inspection {
  readonly target: Target;
  readonly era: Era;
  readonly question: Question;
  readonly scratch: string;
  readonly line: string;
}

async function inspect(
  program: readonly string[],
  { target, era, question, scratch, line }: Inspection,
): Promise<boolean> {
  const options = ["--cli", "--protocol-era", era, "--format", "json", "--method", ...question.ask];
  // Options that take several values would swallow what comes after them: the server comes last, behind one that takes none.
  const { code, output, standardOutput, milliseconds } = await runProcess(
    [...program, ...options, "--quiet", ...target.command],
    {
      timeout: 180_000,
      // It keeps what it remembers in the home folder; npm's cache stays where it is.
      env: { HOME: scratch, npm_config_cache: process.env["npm_config_cache"] ?? join(homedir(), ".npm") },
    },
  );
  const passed = code === (question.code ?? 0) && standardOutput.includes(question.has);
  console.log(`${passed ? "PASS" : "FAIL"} ${line} ${Math.round(milliseconds)} ms`);
  if (!passed) console.log(`    exit code ${code}, wanted ${question.has}\n    ${output.trim().slice(0, 1_000)}`);
  return passed;
}

process.exit(await main(process.argv.slice(2)));
