/**
 * An agent that knows how a project stands: a tool, a prompt and a resource over the same data.
 *
 * `bun examples/project_agent.ts [--http [port]]`
 */
import { McpAgent, type McpToolDefinition, unknownTool } from "@causeway/mcp/agent";
import type { JsonObject, Prompt, Resource } from "@causeway/mcp/protocol";
import { startWhenMain } from "./start.ts";

/** One thing to do. */
export interface Task {
  readonly title: string;
  readonly state: "open" | "doing" | "done";
  readonly owner: string;
}

const sample: readonly Task[] = [
  { title: "Write the parser", state: "done", owner: "ada" },
  { title: "Serve it over HTTP", state: "doing", owner: "grace" },
  { title: "Write the guide", state: "open", owner: "ada" },
];
const states = ["open", "doing", "done"] as const;

/** Tells how a project stands. */
export class ProjectAgent extends McpAgent {
  readonly #tasks: readonly Task[];

  /** @param tasks What there is to do. */
  constructor(tasks: readonly Task[] = sample) {
    super();
    this.#tasks = tasks;
  }

  getMcpToolDefinitions(): McpToolDefinition[] {
    const count = { type: "integer", minimum: 0 };
    return [{
      name: "get-status",
      description: "Counts the project's tasks by state, of everybody or of one person",
      inputSchema: {
        type: "object",
        properties: { owner: { type: "string", description: "Whose tasks; without it everybody's" } },
        additionalProperties: false,
      },
      outputSchema: {
        type: "object",
        properties: { open: count, doing: count, done: count },
        required: [...states],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    }];
  }

  executeMcpTool(name: string, { owner }: JsonObject): JsonObject {
    if (name !== "get-status") throw unknownTool(name);
    return this.#count(typeof owner === "string" ? owner : undefined);
  }

  override getMcpPrompts(): Prompt[] {
    return [{
      name: "daily-standup",
      description: "Prepares what one says in the daily stand-up",
      arguments: [{ name: "owner", description: "Who speaks; without it the whole team" }],
    }];
  }

  override getMcpPrompt(_name: string, { owner }: Record<string, string>): string {
    const tasks = this.#of(owner).map(({ title, state }) => `- ${title} (${state})`);
    return [
      `Prepare the daily stand-up of ${owner ?? "the team"}: what was done, what is next, what is in the way.`,
      ...tasks,
    ].join("\n");
  }

  override getMcpResources(): Resource[] {
    return [{ uri: "project://dashboard", name: "dashboard", title: "Dashboard", mimeType: "text/markdown" }];
  }

  override readMcpResource(): string {
    const rows = this.#tasks.map(({ title, state, owner }) => `| ${title} | ${state} | ${owner} |`);
    return ["# Dashboard", "", "| task | state | owner |", "|---|---|---|", ...rows].join("\n");
  }

  #of(owner: string | undefined): readonly Task[] {
    return this.#tasks.filter((task) => owner === undefined || task.owner === owner);
  }

  #count(owner: string | undefined): JsonObject {
    const tasks = this.#of(owner);
    return Object.fromEntries(states.map((state) => [state, tasks.filter((task) => task.state === state).length]));
  }
}

await startWhenMain(import.meta, () => new ProjectAgent());
