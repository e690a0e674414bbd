/** The part of the demo with many servers and an agent: one server is dead, a call needs a yes, and the run goes on elsewhere. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, createRuns, directiveModel } from "../../src/agent/mod.ts";
import type { AgentEvent, DurableRuns } from "../../src/agent/mod.ts";
import { connect, openDatabase } from "../../src/entry/local.ts";
import type { Spawn, SqlDatabase, StdioCommand } from "../../src/entry/local.ts";
import { createOpenHub } from "../../src/hub/mod.ts";
import type { Hub } from "../../src/hub/mod.ts";
import type { Stage } from "./sign_in.ts";

/** What is there to use. */
export interface AgentStage extends Stage {
  readonly spawn: Spawn;
}

const task = [
  "call first.echo text=hello",
  "call second.progress count=2 milliseconds=5",
  "then",
  "call second.echo text=again",
]
  .join("\n");

/** Opens a hub of two servers that work and one that does not, and has an agent use them. */
export async function hubAndAgent({ step, heading, skip, spawn }: AgentStage, command: StdioCommand): Promise<void> {
  heading("Many servers as one, and an agent on them, in runs that outlive their process");
  const openHub = createOpenHub((target, options) => connect(target, { ...options, spawn }));
  let hub: Hub | undefined;
  await step("open a hub", async () => {
    const dead = { url: "http://127.0.0.1:9/mcp", maxRetries: 0 };
    hub = await openHub({ first: command, second: command, dead }, { timeouts: { close: 500 } });
    const states = hub.status().map(({ name, state, tools }) => `${name} ${state} (${tools} tools)`);
    expect(hub.errors.size === 1 && hub.tools().length === 10, states.join(", "));
    return states.join(", ");
  });
  if (hub === undefined) return;
  await using open = hub;
  await step("call by both names", async () => {
    const texts = await Promise.all([
      open.callTool("first__echo", { text: "one" }),
      open.callTool("second.echo", { text: "two" }),
    ]);
    return texts.map(({ content: [block] }) => block?.type === "text" ? block.text : "").join(" and ");
  });
  await step("call a dead server", async () => {
    const { isError, content: [block] } = await open.callTool({ server: "dead", name: "anything" });
    expect(isError === true && block?.type === "text", "its result is no error");
    return block?.type === "text" ? block.text : "";
  });
  await keptRun({ step, skip }, open);
}

/** A run that waits for a person, and goes on when what keeps it is opened anew. */
async function keptRun({ step, skip }: Pick<Stage, "step" | "skip">, hub: Hub): Promise<void> {
  const agent = new Agent({ model: directiveModel(), hub, readOnly: ["*.progress"] });
  const folder = mkdtempSync(join(tmpdir(), "causeway-demo-"));
  const openRuns = async (): Promise<DurableRuns> =>
    createRuns({ database: await openFile(folder), agents: { worker: agent } });
  try {
    const unable = await openFile(folder).then((database) => database.close?.(), (error: Error) => error.message);
    if (typeof unable === "string") return skip("runs that are kept", unable);
    let id = "";
    await step("a run that needs a yes", async () => {
      await using runs = await openRuns();
      ({ id } = await runs.start({ agent: "worker", principal: "demo", input: task }));
      for await (const { event } of runs.events(id)) {
        if (event.type === "question") return `waits: ${event.question.message}`;
      }
      throw new Error(`nobody was asked: ${JSON.stringify((await runs.get(id))?.end)}`);
    });
    await step("closed, and opened anew", async () => {
      await using runs = await openRuns();
      const seen: AgentEvent[] = [];
      let next = 0;
      for await (const { sequence, event } of runs.events(id)) {
        expect(sequence === ++next, `event ${next} was due, ${sequence} came`);
        seen.push(event);
        if (event.type !== "question") continue;
        const isFirst = event.question.server === "first";
        await runs.answer(id, event.question.id, { action: isFirst ? "accept" : "decline" });
      }
      const ends = seen.filter(({ type }) => ["succeeded", "failed", "cancelled"].includes(type));
      const observed = seen.flatMap((event) => event.type === "observation" ? [event.observation] : []);
      expect(ends.length === 1 && ends[0]?.type === "succeeded", `it ended as ${JSON.stringify(ends)}`);
      const outcomes = observed.map(({ server, tool, outcome }) => `${server}.${tool} ${outcome}`);
      const expected = ["first.echo ok", "second.echo denied", "second.progress ok"];
      expect(outcomes.toSorted().join() === expected.join(), outcomes.join(", "));
      return `${next} events without a gap; ${outcomes.join(", ")}`;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openFile(folder: string): Promise<SqlDatabase> {
  return openDatabase(join(folder, "runs.db"));
}

function expect(right: boolean, otherwise: string): void {
  if (!right) throw new Error(otherwise);
}
