/**
 * `causeway run <prompt …>`: an agent over the servers of the config, in this terminal.
 *
 * @module
 */
import process from "node:process";
import { Agent } from "../../../agent/loop/agent.ts";
import type { AgentQuestion } from "../../../agent/loop/seam.ts";
import { directiveModel } from "../../../agent/model/directive_model.ts";
import { createRuns } from "../../../agent/runs/durable_runs.ts";
import type { DurableRuns } from "../../../agent/runs/options.ts";
import { openDatabase } from "../../../entry/local.ts";
import { createRelay } from "../../../hub/gateway/mod.ts";
import type { HubLike } from "../../../hub/seam.ts";
import type { AuthWorld } from "../../auth/oauth.ts";
import { readInput } from "../../arguments/pieces.ts";
import { type CommandLine, optionOf } from "../../command_line.ts";
import { withDeadline } from "../../deadline.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { readText, whyNot } from "../../read.ts";
import { guard } from "../../serve/guard.ts";
import { connectAll, serversOfConfigs, tellDown } from "../../serve/servers.ts";
import type { Served } from "../../serve/servers.ts";
import { writeError } from "../../terminal.ts";
import { oneLine } from "../../text/plain.ts";
import { openHeardHub } from "../../wire/heard_hub.ts";
import { checkDirectives, chooseModel } from "./model.ts";
import { createAnswerer } from "./questions.ts";
import { EventTeller, tellEnd } from "./tell.ts";

/** What it means that a server cannot be reached. */
const what = "without";

/** Runs it to its end, and answers the exit code. */
export async function runAgent(line: CommandLine, given: AbortSignal, world: AuthWorld): Promise<number> {
  const file = optionOf(line, "runs");
  const resumed = optionOf(line, "resume");
  if (resumed !== undefined && (file === undefined || line.words.length > 0)) {
    throw new UsageError("Cannot resume a run so: write causeway run --runs <file> --resume <id>, without a prompt");
  }
  const steps = readSteps(optionOf(line, "steps"));
  const model = chooseModel(line, process.env);
  return await withDeadline(given, line.timeout, async (signal) => {
    const input = resumed === undefined ? await readPrompt(line.words, signal) : "";
    const servers = await serversOf(line, world);
    const relay = createRelay();
    const { handlers, features } = relay;
    await using hub = await openHeardHub(line, servers, { handlers, features });
    const guarded = await guard(hub, servers);
    await connectAll(hub, servers, { what, signal });
    await tellDown(hub, servers, { what });
    await guarded.check({ signal });
    if (!model && resumed === undefined) checkDirectives(input, guarded);
    void keepLooking(guarded);
    const agent = new Agent({
      model: model ?? directiveModel(),
      hub: guarded,
      relay,
      instructions: optionOf(line, "instructions"),
      steps,
      // What the config approves of is approved; a person is asked for the rest.
      approve: line.options?.yes ? "allow" : ({ server, name }) => {
        const { approved } = servers.get(server) ?? {};
        return approved === true || approved?.includes(name) || undefined;
      },
      idempotent: Array.from(servers).flatMap(([server, { idempotent = [] }]) =>
        idempotent.map((name) => `${server}.${name}`)
      ),
    });
    if (file !== undefined) return await durably(agent, { file, resumed, input }, { line, signal });
    return await inMemory(agent, input, { line, signal });
  });
}

/** How a run is told. */
interface Telling {
  readonly line: CommandLine;
  readonly signal: AbortSignal;
}

async function inMemory(agent: Agent, input: string, { line, signal }: Telling): Promise<number> {
  const answer = createAnswerer();
  const teller = new EventTeller(line.json);
  await using run = agent.run(input, { signal, questions: "wait" });
  for await (const event of run) {
    // Who has read enough goes away: nothing more is done for them.
    if (!await teller.tell(event)) return exitCodes.ok;
    // In its place among the events, so that what comes before it is told before it.
    if (event.type !== "question") continue;
    const { question } = event;
    if (waits(question, run.questions)) run.answer(question.id, await answer(question, signal));
  }
  await teller.close();
  if (signal.aborted) throw signal.reason;
  return await tellEnd(await run.end, line.json);
}

async function durably(
  agent: Agent,
  { file, resumed, input }: { file: string; resumed: string | undefined; input: string },
  { line, signal }: Telling,
): Promise<number> {
  const database = await openDatabase(file).catch((error: unknown) => {
    throw new UsageError(`${whyNot(error)}; correct --runs`);
  });
  await using runs = createRuns({ database, agents: { command: agent } });
  const { id, agent: name } = resumed === undefined
    ? await runs.start({ agent: "command", principal: "command", input })
    : await runs.get(resumed) ?? unknownRun(resumed, file);
  if (name !== "command") {
    throw new UsageError(
      `Cannot resume the run "${id}" here: it is of the agent "${oneLine(name)}", of another program`,
    );
  }
  await runs.resume();
  await writeError(`causeway: the run ${oneLine(id)}\n`);
  const goesOn = `causeway: it goes on with causeway run --runs ${oneLine(file)} --resume ${oneLine(id)}\n`;
  try {
    const code = await follow(runs, id, { line, signal });
    if (code !== undefined) return code;
    await writeError(goesOn);
    return exitCodes.ok;
  } catch (error) {
    await writeError(goesOn);
    throw error;
  }
}

/** Follows it to its end; undefined when nobody reads what it tells any more. */
async function follow(runs: DurableRuns, id: string, { line, signal }: Telling): Promise<number | undefined> {
  const answer = createAnswerer();
  const teller = new EventTeller(line.json);
  for await (const { event } of runs.events(id, { signal })) {
    if (!await teller.tell(event)) return (await runs.get(id))?.end && exitCodes.ok;
    if (event.type !== "question") continue;
    const { question } = event;
    if (waits(question, (await runs.get(id))?.questions)) {
      await runs.answer(id, question.id, await answer(question, signal));
    }
  }
  await teller.close();
  signal.throwIfAborted();
  const end = (await runs.get(id))?.end;
  return end ? await tellEnd(end, line.json) : exitCodes.toolFailed;
}

/** Whether it is still to be answered: it may have been before, without asking anybody, or its time may be over. */
function waits({ id, expiresAt = Infinity }: AgentQuestion, open: readonly AgentQuestion[] = []): boolean {
  return Date.now() < expiresAt && open.some((one) => one.id === id);
}

function unknownRun(id: string, file: string): never {
  throw new UsageError(`Unknown run "${id}" in "${file}": correct --resume`);
}

async function readPrompt(words: readonly string[], signal: AbortSignal): Promise<string> {
  const [word = ""] = words;
  const isOne = words.length === 1;
  const where = `the file "${word.slice(1)}"`;
  const text = isOne && word === "-"
    ? await readInput(signal)
    : isOne && word.startsWith("@")
    ? await readText(word.slice(1), where)
    : words.join(" ");
  if (text === undefined) throw new UsageError(`Cannot read ${where}: there is no such file; correct the path`);
  if (text.trim() !== "") return text;
  throw new UsageError('It is not said what to do: write causeway run "…", @file, or - for the standard input');
}

/** Those of the config; a model may do without. */
async function serversOf(line: CommandLine, world: AuthWorld): Promise<ReadonlyMap<string, Served>> {
  const names = optionOf(line, "servers")?.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const paths = line.config === undefined ? [] : [line.config];
  return await serversOfConfigs(paths, { names, timeout: undefined, world, mayBeNone: true });
}

/** What is listed anew while it runs is held against the pins, too. */
async function keepLooking(guarded: HubLike): Promise<void> {
  for await (const _ of guarded.events());
}

function readSteps(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`Cannot read --steps "${text}": write a number from 1 to 9999`);
}
