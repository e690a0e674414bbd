/** `bun run check`: types, lint, format, floors, manifests, the API, docs, guides, publishing, deploying and bundle budgets; `--only <step>` runs one. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pagesWithExamples } from "./check_docs/pages.ts";
import { runProcess, runSome } from "./process.ts";
import { denoPath, root, scriptCommand } from "./programs.ts";

/** One step: what it needs to exist, and the command that proves it. */
interface Step {
  readonly name: string;
  /** Files or folders of the repository; those that are there are given to the command. */
  readonly inputs: readonly string[];
  readonly command: (inputs: readonly string[]) => readonly string[];
}

/** Steps at a time: each of them computes, most of them on one core. */
const width = 2;

const code = ["mod.ts", "src", "tests", "tools", "bench", "examples", "workers"];

/** Runs all steps, each told of when it ends, and prints `N passed, N failed` last; a step whose input does not exist is named as skipped. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...parameters], options: { only: { type: "string" } } });
  const deno = denoPath();
  const script = scriptCommand();
  if (deno === undefined || script === undefined) {
    console.error("The checks need Deno: its package is not installed and there is no deno on PATH");
    return 1;
  }
  const steps = listSteps(deno, script).filter(({ name }) => values.only === undefined || name === values.only);
  const verdicts = await runSome(steps.map((step) => () => runStep(step)), width);
  const count = (wanted: string) => verdicts.filter((verdict) => verdict === wanted).length;
  console.log(`${count("passed")} passed, ${count("failed")} failed`);
  return count("failed") === 0 && count("passed") > 0 ? 0 : 1;
}

function listSteps(deno: string, script: readonly string[]): Step[] {
  const tool = (...words: readonly string[]) => () => [...script, join(root, "tools", "run.ts"), ...words];
  return [
    { name: "types", inputs: code, command: (inputs) => [deno, "check", "--quiet", ...inputs] },
    { name: "lint", inputs: code, command: (inputs) => [deno, "lint", "--quiet", ...inputs] },
    { name: "format", inputs: code, command: (inputs) => [deno, "fmt", "--check", ...inputs] },
    { name: "floors", inputs: ["src"], command: tool("check_floors") },
    { name: "manifests", inputs: ["package.json"], command: tool("manifests") },
    { name: "api", inputs: ["mod.ts"], command: tool("api_snapshot") },
    { name: "docs", inputs: entries(), command: (inputs) => [deno, "doc", "--lint", ...inputs] },
    { name: "examples in docs", inputs: [...entries(), ...sources()], command: docTests(deno) },
    { name: "guides", inputs: ["README.md"], command: tool("check_docs") },
    { name: "publish", inputs: ["mod.ts"], command: () => [deno, "publish", "--dry-run", "--allow-dirty"] },
    { name: "publish, import", inputs: ["mod.ts"], command: tool("publish_test", "--only", "jsr") },
    { name: "deploy", inputs: ["wrangler.toml"], command: tool("check_deploy") },
    {
      name: "dashboard",
      inputs: ["src/runner/dashboard/page/main.ts"],
      command: () => [...tool("build_dashboard")(), "--check"],
    },
    { name: "sizes", inputs: ["src/client/mod.ts"], command: tool("check_sizes") },
  ];
}

async function runStep(step: Step): Promise<"passed" | "failed" | "skipped"> {
  const inputs = step.inputs.filter((path) => existsSync(join(root, path)));
  const title = step.name.padEnd(18);
  if (inputs.length === 0) {
    console.log(`${title}skipped: there is no ${step.inputs.join(" or ") || "export"} yet`);
    return "skipped";
  }
  const started = performance.now();
  const ended = await runProcess(step.command(inputs), { timeout: 300_000 });
  const problems: string[] = [];
  if (ended.code !== 0) {
    problems.push(ended.timedOut ? "killed after 300 s" : `exit code ${ended.code}`, ended.output);
  } else if (step.name === "sizes" || step.name === "guides") console.log(ended.standardOutput.trimEnd());
  const seconds = `(${((performance.now() - started) / 1000).toFixed(1)} s)`;
  console.log(`${title}${problems.length === 0 ? "passed" : "FAILED"} ${seconds}`);
  for (const line of problems.join("\n").trimEnd().split("\n")) if (line !== "") console.log(`    ${line}`);
  return problems.length === 0 ? "passed" : "failed";
}

/** The files behind the exports of deno.json. */
function entries(): string[] {
  const config: { exports?: Record<string, string> } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  return Object.values(config.exports ?? {}).map((path) => path.replace(/^\.\//, ""));
}

/** The sources and pages that hold a fenced example. */
function sources(): string[] {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((entry) => `src/${entry.replaceAll("\\", "/")}`);
  return [
    ...files,
    ...pagesWithExamples(),
  ]
    .filter((file) => /\.(ts|md)$/.test(file) && existsSync(join(root, file)))
    .filter((file) => readFileSync(join(root, file), "utf8").includes("```ts"));
}

function docTests(deno: string): NonNullable<Step["command"]> {
  return (inputs) => [deno, "test", "--doc", "-A", "--quiet", "--permit-no-files", ...new Set(inputs)];
}
