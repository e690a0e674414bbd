/**
 * `bun run demo`: real servers, offline. The official server over stdio, our own server as a Worker under workerd and as a
 * program on Deno; of each the tools are listed and called, with progress, a question, a cancellation and a killed
 * process. Every answer is checked; what it starts, it ends. Exits 0 when all was right.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { connect, McpError, OutcomeUnknownError, PeerExitedError } from "../src/entry/local.ts";
import type { CallToolResult, Client, ElicitRequest, ElicitResult, Spawn, StdioCommand } from "../src/entry/local.ts";
import { denoPath, nodePath, packagesInstalled, root, scriptCommand } from "./programs.ts";
import { workerBuild } from "./build/worker.ts";
import { hubAndAgent } from "./demo/agents.ts";
import { signInAndOut } from "./demo/sign_in.ts";

/** One server of the demo, and what its tools have to answer. */
interface Tour {
  readonly title: string;
  readonly target: string | StdioCommand;
  readonly echo: Call & { readonly text: string };
  readonly progress: Call & { readonly signs: number };
  readonly ask: Call & { readonly content: Record<string, string>; readonly text: string };
  /** Takes so long that it has to be called off, and tells soon that it has begun. */
  readonly slow: Call;
  /** The tool that says how many calls were called off at the server, where it has one. */
  readonly calledOff?: string | undefined;
}

interface Call {
  readonly tool: string;
  readonly args: Record<string, string | number>;
}

/** Does one thing, prints a line about it with its time, and remembers a failure. */
type Step = (what: string, run: () => Promise<string>) => Promise<void>;

/** What is printed, and what was started. */
interface Show {
  readonly step: Step;
  readonly spawn: Spawn;
  /** The process ids of all children so far. */
  readonly children: readonly number[];
  heading(text: string): void;
  skip(what: string, why: string): void;
  skipped(): number;
  failures(): number;
  steps(): number;
}

const patience = 20_000;
const ownServer = join(root, "tools", "demo", "stdio.ts");

/** Runs the demo; answers 0 when every step was right. */
export async function main(): Promise<number> {
  const started = performance.now();
  const show = await createShow();
  const endNow = (exitCode: number): void => {
    for (const pid of show.children.filter(isRunning)) process.kill(pid, "SIGKILL");
    process.exit(exitCode);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => endNow(130));
  const bystander = setTimeout(() => {
    console.error("The demo hangs: given up after 100 s");
    endNow(1);
  }, 100_000);
  console.log("Causeway demo: real servers, no network");
  await officialServer(show);
  await worker(show);
  await denoServer(show);
  await signInAndOut(show);
  await manyServers(show);
  await killedServer(show);
  show.heading("Afterwards");
  await show.step("nothing is left", async () => {
    await until(() => !show.children.some(isRunning), "the children to end");
    return `${show.children.length} processes were started, none runs any more`;
  });
  clearTimeout(bystander);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const failed = show.failures();
  console.log(`\n${show.steps() - failed} steps right, ${failed} wrong, ${show.skipped()} skipped, in ${seconds} s`);
  return failed === 0 ? 0 : 1;
}

async function officialServer(show: Show): Promise<void> {
  const file = join(root, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js");
  const run = nodePath() === undefined ? scriptCommand() : [nodePath() ?? ""];
  show.heading("The official @modelcontextprotocol/server-everything, over stdio");
  if (!existsSync(file) || run === undefined) return show.skip("this server", "its package is not installed");
  const [command = "", ...args] = run;
  await tour(show, {
    title: "everything",
    target: { command, args: [...args, file, "stdio"] },
    echo: { tool: "echo", args: { message: "hello" }, text: "Echo: hello" },
    progress: { tool: "trigger-long-running-operation", args: { duration: 0.6, steps: 4 }, signs: 4 },
    ask: { tool: "trigger-elicitation-request", args: {}, content: { name: "Ada" }, text: "Name: Ada" },
    slow: { tool: "trigger-long-running-operation", args: { duration: 15, steps: 150 } },
  });
}

/** The Worker of `tools/demo/worker.ts`, bundled and run as on Cloudflare. */
async function worker(show: Show): Promise<void> {
  show.heading("Our server in a Worker, under workerd: McpServer over HTTP, then over WebSocket");
  if (!packagesInstalled()) return show.skip("this server", "esbuild and miniflare are not installed");
  let server: Awaited<ReturnType<typeof startWorker>> | undefined;
  await show.step("bundle and start", async () => {
    server = await startWorker();
    return `${server.bytes.toLocaleString("en")} bytes at ${server.url}`;
  });
  if (server === undefined) return;
  try {
    const { url } = server;
    const plan = ownTour("worker, HTTP", url);
    // workerd does not see a connection that Deno's fetch gave up until it writes to it.
    await tour(show, "Deno" in globalThis ? { ...plan, calledOff: undefined } : plan);
    await tour(show, ownTour("worker, WebSocket", url.replace(/^http/, "ws")));
  } finally {
    await server.stop();
  }
}

async function startWorker(): Promise<{ url: string; bytes: number; stop(): Promise<void> }> {
  const [{ build }, { Miniflare }] = await Promise.all([import("esbuild"), import("miniflare")]);
  const { outputFiles } = await build({
    entryPoints: [join(root, "tools", "demo", "worker.ts")],
    ...workerBuild,
    write: false,
  });
  const script = outputFiles[0]?.text ?? "";
  const miniflare = new Miniflare({
    modules: true,
    script,
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["enable_request_signal"],
    host: "127.0.0.1",
    port: 0,
    cf: false,
  });
  const address = await miniflare.ready;
  return { url: new URL("/mcp", address).href, bytes: script.length, stop: () => miniflare.dispose() };
}

async function denoServer(show: Show): Promise<void> {
  const deno = denoPath();
  show.heading("Our server as a program on Deno: McpServer over stdio");
  if (deno === undefined) return show.skip("this server", "its package is not installed and there is no deno on PATH");
  const args = ["run", "--quiet", "--no-check", "-A", ownServer];
  await tour(show, ownTour("deno", { command: deno, args }));
}

/** What the server of `tools/demo/server.ts` answers. */
function ownTour(title: string, target: string | StdioCommand): Tour {
  return {
    title,
    target,
    echo: { tool: "echo", args: { text: "hello" }, text: "hello" },
    // In the era before, which is taken where a program is slow to start, 20 signs a second are told.
    progress: { tool: "progress", args: { count: 5, milliseconds: 60 }, signs: 5 },
    ask: { tool: "ask", args: {}, content: { name: "Grace" }, text: "Hello, Grace" },
    slow: { tool: "slow", args: { milliseconds: 15_000 } },
    calledOff: "called-off",
  };
}

/** Connects, and does everything once. */
async function tour(show: Show, plan: Tour): Promise<void> {
  const { step } = show;
  let client: Client | undefined;
  let asked = "";
  const elicitation = ({ message }: ElicitRequest): ElicitResult => {
    asked = message;
    return { action: "accept", content: plan.ask.content };
  };
  await step(`${plan.title}: connect`, async () => {
    client = await connect(plan.target, {
      spawn: show.spawn,
      handlers: { elicitation },
      // The official server does not end with its input: it is not waited for the usual two seconds.
      timeouts: { close: 500 },
    });
    return `${client.info?.server?.name} speaks ${client.revision} (${client.era})`;
  });
  if (client === undefined) return;
  await using open = client;
  await step("list tools", async () => {
    const names = (await open.listTools()).tools.map(({ name }) => name);
    for (const { tool } of [plan.echo, plan.progress, plan.ask, plan.slow]) {
      expect(names.includes(tool), `no tool "${tool}"`);
    }
    return `${names.length}: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""}`;
  });
  await step(`call ${plan.echo.tool}`, async () => {
    return says(await open.callTool(plan.echo.tool, plan.echo.args), plan.echo.text);
  });
  await step("progress", () => progress(open, plan));
  await step("elicitation", async () => {
    const answer = says(await open.callTool(plan.ask.tool, plan.ask.args), plan.ask.text);
    expect(asked !== "", "nothing was asked");
    return `asked "${asked}", answered ${JSON.stringify(plan.ask.content)}: ${answer}`;
  });
  await step("cancellation", () => cancellation(open, plan));
  await step("close", async () => {
    await open.close();
    return "";
  });
}

async function progress(client: Client, { progress: { tool, args, signs } }: Tour): Promise<string> {
  const seen: string[] = [];
  const onProgress = ({ progress, total }: { progress: number; total?: number }): void => {
    seen.push(`${progress}/${total ?? "?"}`);
  };
  const result = await client.callTool(tool, args, { onProgress });
  expect(!result.isError, textOf(result));
  expect(seen.length === signs, `${signs} signs of progress were due, ${seen.length} came: ${seen.join(" ")}`);
  return seen.join(" ");
}

async function cancellation(client: Client, { slow, echo, calledOff }: Tour): Promise<string> {
  const stop = new AbortController();
  const reason = new Error("the user pressed Stop");
  // Its first sign says that it runs: what is called off before may never come to its server.
  const onProgress = () => stop.abort(reason);
  const started = performance.now();
  const caught = await client.callTool(slow.tool, slow.args, { signal: stop.signal, onProgress }).then(
    () => undefined,
    (error) => error,
  );
  expect(caught === reason, `the signal's reason was due, got ${caught}`);
  const took = performance.now() - started;
  says(await client.callTool(echo.tool, echo.args), echo.text);
  const end = performance.now() + 10_000;
  while (calledOff !== undefined && textOf(await client.callTool(calledOff)) !== "1") {
    expect(performance.now() < end, "the server did not hear of it");
  }
  const there = calledOff === undefined ? "" : " (at the server too)";
  return `${slow.tool} called off after ${took.toFixed(0)} ms${there}, and the connection still serves`;
}

async function manyServers(show: Show): Promise<void> {
  const [command, ...args] = scriptCommand() ?? [];
  if (command === undefined) return show.skip("many servers", "there is neither Bun nor Deno to run them");
  await hubAndAgent(show, { command, args: [...args, ownServer] });
}

/** A server that dies in the middle of a call: the call ends at once and says what is known of it; the next one works. */
async function killedServer(show: Show): Promise<void> {
  show.heading("A server that is killed in the middle of a call");
  const script = scriptCommand();
  const [command = process.execPath, ...args] = script ?? [];
  if (script === undefined) return show.skip("this server", "there is neither Bun nor Deno to run it");
  await show.step("kill -9", async () => {
    await using client = await connect({ command, args: [...args, ownServer] }, { spawn: show.spawn });
    const first = show.children.at(-1) ?? 0;
    const call = client.callTool("slow", { milliseconds: 15_000 }).then(() => undefined, (error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const killed = performance.now();
    process.kill(first, "SIGKILL");
    const error = await call;
    const took = performance.now() - killed;
    const exited = error instanceof OutcomeUnknownError ? error.cause : error;
    expect(exited instanceof PeerExitedError, `a PeerExitedError was due, got ${error}`);
    if (!(error instanceof McpError)) throw error;
    expect(error.delivery === "unknown", `the call may have run, but the error says "${error.delivery}"`);
    // A machine may stand still for some seconds; the call itself takes longer than that.
    expect(took < 10_000, `it took ${took.toFixed(0)} ms to notice`);
    says(await client.callTool("echo", { text: "again" }), "again");
    const second = show.children.at(-1) ?? 0;
    expect(first !== second, "the server was not started anew");
    const { name } = error;
    return `${name} after ${took.toFixed(1)} ms: it may have run; a new process served the next call`;
  });
}

/** The words of a result, which have to hold `wanted`. */
function says(result: CallToolResult, wanted: string): string {
  const text = textOf(result);
  expect(!result.isError && text.includes(wanted), `"${wanted}" was due, got "${text}"`);
  return JSON.stringify(wanted);
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => block.type === "text" ? block.text : `[${block.type}]`).join(" ");
}

function expect(right: boolean, otherwise: string): void {
  if (!right) throw new Error(otherwise);
}

async function createShow(): Promise<Show> {
  const runtime = await systemSpawn();
  const children: number[] = [];
  let steps = 0;
  let failures = 0;
  let skipped = 0;
  return {
    children,
    steps: () => steps,
    failures: () => failures,
    heading: (text) => console.log(`\n${text}`),
    skipped: () => skipped,
    skip(what, why) {
      skipped++;
      console.log(`  –           skipped: ${what} (${why})`);
    },
    async spawn(command, events) {
      const child = await runtime(command, events);
      children.push(child.pid);
      return child;
    },
    async step(what, run) {
      steps++;
      const started = performance.now();
      const [mark, text] = await inTime(run()).then(
        (text) => ["✓", text],
        (error: unknown) => {
          failures++;
          return ["✗", `WRONG: ${error instanceof Error ? error.message : String(error)}`];
        },
      );
      const time = `${(performance.now() - started).toFixed(1)} ms`;
      console.log(`  ${mark} ${time.padStart(10)}  ${what.padEnd(27)} ${text}`.trimEnd());
    },
  };
}

/** The runtime's own way to start a process, as the entry points use it. */
async function systemSpawn(): Promise<Spawn> {
  if ("Bun" in globalThis) return (await import("../src/runtime/bun.ts")).bunSpawn;
  if ("Deno" in globalThis) return (await import("../src/runtime/deno.ts")).denoSpawn;
  return (await import("../src/runtime/node.ts")).nodeSpawn;
}

async function inTime<Value>(work: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${patience} ms`)), patience);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function until(holds: () => boolean, what: string): Promise<void> {
  const end = performance.now() + patience / 2;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited ten seconds for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
