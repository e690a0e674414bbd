/** The tools of the suite's tasks scenarios (SEP-2663), written as any author would. */
import { InternalError } from "../../../src/protocol/errors.ts";
import type { ElicitRequest } from "../../../src/protocol/types.ts";
import type { McpServer } from "../../../src/server/mod.ts";

/** Adds them; served with `tasks: createTasks(…)`. */
export function addTasks(server: McpServer): void {
  server.tool("greet", { description: "Greets at once", input: texts("name") }, ({ name }) => `Hello, ${name}!`);
  server.tool("slow_compute", {
    description: "Takes some seconds",
    task: "optional",
    input: { type: "object", properties: { seconds: { type: "number" }, label: { type: "string" } } },
  }, async ({ seconds = 0, label = "it" }, { signal }) => {
    await pause(Number(seconds), signal);
    return `${label} took ${seconds} seconds`;
  });
  server.tool("failing_job", { description: "Fails after a second", task: "required" }, async (_args, { signal }) => {
    await pause(1, signal);
    return { error: "The job failed" };
  });
  server.tool("protocol_error_job", { description: "Ends with an error of the protocol", task: "optional" }, () => {
    throw new InternalError("The job broke the rules", { rpcCode: -32603 });
  });
  server.tool(
    "confirm_delete",
    { description: "Asks before it deletes", task: "optional", input: texts("filename") },
    async ({ filename }, { elicit }) => {
      const { action, content } = await elicit(yesOrNo(`Delete ${filename}?`));
      return action === "accept" && content?.confirm ? `Deleted ${filename}` : `Kept ${filename}`;
    },
  );
  server.tool(
    "multi_input",
    { description: "Asks two things at once", task: "optional" },
    async (_args, { elicit }) => {
      const answers = await Promise.all([elicit(yesOrNo("The first?")), elicit(yesOrNo("The second?"))]);
      return answers.map(({ action }) => action).join(", ");
    },
  );
  server.tool("test_tool_with_task", {
    description: "Asks first, and goes on as a task",
    task: "required",
    taskBegins: "when-told",
  }, async (_args, context) => {
    const { content } = await context.elicit({
      message: "What is your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    }, { key: "user_name" });
    await context.continueAsTask?.();
    await pause(0.1, context.signal);
    return `Hello, ${content?.name}!`;
  });
}

function texts(...names: string[]): { type: "object"; properties: Record<string, { type: "string" }> } {
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])) };
}

function yesOrNo(message: string): ElicitRequest {
  return { message, requestedSchema: { type: "object", properties: { confirm: { type: "boolean" } } } };
}

/** Waits some seconds, or until it is called off. */
function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1_000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}
