/**
 * Servers and runs that a dashboard shows in its tests: small, and with something of each kind.
 *
 * @module
 */
import type { AgentAnswer, AgentEvent, AgentQuestion, ProposedCall } from "../../../src/agent/loop/seam.ts";
import type { AnswerOutcome, StartRun } from "../../../src/agent/runs/seam.ts";
import type { RunRecord } from "../../../src/agent/runs/seam.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { MemoryRuns } from "../../runner/support/memory_runs.ts";

/** One red pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** What reached the servers. */
export interface LedgerEntry {
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** The servers, by their names. */
export function demoServers(ledger: LedgerEntry[]): Readonly<Record<string, McpServer>> {
  return { tracker: tracker(ledger), weather: weather(ledger), files: files(ledger) };
}

function tracker(ledger: LedgerEntry[]): McpServer {
  const server = new McpServer({ name: "tracker", version: "2.1.0" }, {
    instructions: "Search before you create an issue.\nLabels are lower case.",
  });
  server.tool("create_issue", {
    title: "Create an issue",
    description: "Creates an issue in a project. Whoever watches the project is told.",
    annotations: { destructiveHint: false },
    input: {
      type: "object",
      required: ["project", "title"],
      properties: {
        project: { type: "string", title: "Project", description: "Its short name, such as `web`", minLength: 1 },
        title: { type: "string", title: "Title", maxLength: 120 },
        body: { type: "string", title: "Text", description: "The text of the issue, as Markdown" },
        priority: { type: "string", enum: ["low", "normal", "high"], default: "normal" },
        labels: { type: "array", items: { type: "string" } },
        notify: { type: "boolean", title: "Tell the watchers" },
        estimate: { type: "number", minimum: 0, maximum: 100, description: "Hours" },
      },
    },
  }, (given) => {
    ledger.push({ tool: "create_issue", given });
    return {
      content: [{ type: "text", text: `Created “${String(given.title)}” in ${String(given.project)}.` }],
      structuredContent: { number: 481, url: "https://tracker.example/web/481", ...given },
    };
  });
  server.tool("search_issues", {
    title: "Search issues",
    description: "Finds issues by words in their titles and texts.",
    annotations: { readOnlyHint: true },
    input: { type: "object", required: ["words"], properties: { words: { type: "string" } } },
  }, (given) => {
    ledger.push({ tool: "search_issues", given });
    return {
      content: [{ type: "text", text: "The search index is being built: try again in an hour." }],
      isError: true,
    };
  });
  return server;
}

function weather(ledger: LedgerEntry[]): McpServer {
  const server = new McpServer({ name: "weather", version: "1.4.2" });
  server.tool("forecast", {
    title: "Forecast",
    description: "The weather of the next days at a place.",
    annotations: { readOnlyHint: true, idempotentHint: true },
    input: {
      type: "object",
      required: ["place"],
      properties: {
        place: { type: "string" },
        days: { type: "integer", minimum: 1, maximum: 10, default: 3 },
        unit: { oneOf: [{ const: "c", title: "Celsius" }, { const: "f", title: "Fahrenheit" }] },
      },
    },
  }, async (given, context) => {
    ledger.push({ tool: "forecast", given });
    for (let day = 1; day <= 3; day++) await context.progress({ progress: day, total: 3, message: `day ${day}` });
    return {
      content: [
        { type: "text", text: "Mild, with light rain on Sunday." },
        { type: "image", data: pixel, mimeType: "image/png" },
        { type: "image", data: btoa("<svg xmlns='http://www.w3.org/2000/svg'/>"), mimeType: "image/svg+xml" },
        { type: "resource_link", uri: "https://weather.example/zurich?days=3", name: "The whole forecast" },
      ],
      structuredContent: {
        place: given.place,
        days: [{ high: 14, low: 7 }, { high: 15, low: 8 }, { high: 12, low: 6 }],
      },
    };
  });
  server.resource("weather://stations", { name: "Stations", mimeType: "text/plain" }, () => "Zürich\nBern");
  server.prompt(
    "report",
    { description: "A report of the weather", arguments: { place: { required: true } } },
    ({ place }) => `Write a report of the weather in ${place}.`,
  );
  return server;
}

function files(ledger: LedgerEntry[]): McpServer {
  const server = new McpServer({ name: "files", version: "0.9.0" });
  const path = { type: "string" as const };
  server.tool("read_file", {
    description: "Reads a file.",
    annotations: { readOnlyHint: true },
    input: { type: "object", required: ["path"], properties: { path } },
  }, (given) => {
    ledger.push({ tool: "read_file", given });
    return `The file ${given.path}`;
  });
  server.tool(
    "delete_file",
    {
      description: "Deletes a file for good.",
      annotations: { destructiveHint: true },
      input: { type: "object", required: ["path"], properties: { path } },
    },
    (given) => {
      ledger.push({ tool: "delete_file", given });
      return `Deleted ${given.path}`;
    },
  );
  server.tool("slow", { description: "Waits until it is called off." }, (given, context) =>
    new Promise((resolve) => {
      ledger.push({ tool: "slow", given });
      context.signal.addEventListener("abort", () => {
        ledger.push({ tool: "slow, called off", given });
        resolve("called off");
      }, { once: true });
    }));
  return server;
}

/** Runs that a test tells what to say: those whose input is `hang` wait for it. */
export class DemoRuns extends MemoryRuns {
  /** The runs that ask, by the questions that wait. */
  readonly #open = new Map<AgentQuestion, string>();
  readonly answers: { readonly question: string; readonly answer: AgentAnswer }[] = [];
  readonly tasks: StartRun[] = [];

  override async start(task: StartRun): Promise<RunRecord> {
    this.tasks.push(task);
    return await super.start(task);
  }

  override async get(id: string): Promise<RunRecord | undefined> {
    const record = await super.get(id);
    const questions = [...this.#open].filter(([, run]) => run === id).map(([question]) => question);
    return record && { ...record, questions: [...record.questions, ...questions] };
  }

  /** Asks a person in a run. */
  askFor(id: string, question: AgentQuestion): void {
    this.#open.set(question, id);
    this.tell(id, { type: "question", question });
  }

  override async answer(id: string, question: string, answer: AgentAnswer): Promise<AnswerOutcome> {
    const [open] = [...this.#open].find(([open, run]) => open.id === question && run === id) ?? [];
    if (!open) return await super.answer(id, question, answer);
    this.#open.delete(open);
    this.answers.push({ question, answer });
    this.tell(id, { type: "answered", id: question, action: answer.action });
    return "taken";
  }
}

/** A call that an agent wants. */
export function proposed(more: Partial<ProposedCall> = {}): ProposedCall {
  return {
    ...{ id: "call-1", server: "tracker", tool: "create_issue", name: "tracker__create_issue" },
    arguments: { project: "web", title: "The search is slow" },
    argumentsHash: "5f0c".repeat(16),
    toolHash: "a17e".repeat(16),
    ...more,
  };
}

/** What an agent does before it asks something. */
export function story(now: number): readonly AgentEvent[] {
  const call = proposed({
    id: "call-0",
    server: "weather",
    tool: "forecast",
    name: "weather__forecast",
    arguments: { place: "Zürich" },
  });
  return [
    { type: "reasoning", step: 1, text: "The weather first." },
    { type: "text", step: 1, text: "I look at the weather, " },
    { type: "text", step: 1, text: "then I write the issue." },
    { type: "tool_call", step: 1, call },
    { type: "progress", step: 1, id: "call-0", progress: 2, total: 3, message: "day 2" },
    {
      type: "observation",
      observation: {
        ...{
          id: "call-0",
          step: 1,
          server: "weather",
          tool: "forecast",
          name: "weather__forecast",
          argumentsHash: "00",
        },
        ...{ at: now, took: 412, outcome: "ok", validation: "validated", size: 214 },
        provenance: { serverInfo: { name: "weather", version: "1.4.2" } },
        result: { content: [{ type: "text", text: "Mild, with light rain on Sunday." }] },
      },
    },
    { type: "usage", step: 1, usage: { inputTokens: 1_204, outputTokens: 88 } },
    { type: "step", step: 2 },
    { type: "text", step: 2, text: "It rains on Sunday. I open an issue about the roof." },
  ];
}
