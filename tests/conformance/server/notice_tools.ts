/** Tools that tell something while they run: logs, progress, changes of the lists, and an answer that comes late. */
import type { McpServer } from "../../../src/server/mod.ts";

/** Milliseconds between two notices, as the suite asks for. */
const pause = 50;
/**
 * Milliseconds that `test_reconnection` takes: its stream begins after `hold` (`host/answer.ts`) and is held for as long again;
 * the answer comes on the one after it, which is held for the same time.
 */
const absence = 500;

/** Registers the tools whose notifications the suite counts. */
export function addNoticeTools(server: McpServer): void {
  server.tool("test_tool_with_logging", { description: "Logs three times" }, async (_, context) => {
    context.log("info", "Tool execution started");
    await wait(pause, context.signal);
    context.log("info", "Tool processing data");
    await wait(pause, context.signal);
    context.log("info", "Tool execution completed");
    return "Logged three times";
  });
  server.tool("test_logging_tool", { description: "Logs, where the request asks for it" }, (_, context) => {
    context.log("info", "The tool was called");
    return "Logged";
  });
  server.tool("test_tool_with_progress", { description: "Reports its progress" }, async (_, context) => {
    context.progress({ progress: 0, total: 100 });
    await wait(pause, context.signal);
    context.progress({ progress: 50, total: 100 });
    await wait(pause, context.signal);
    context.progress({ progress: 100, total: 100 });
    return "Went from 0 to 100";
  });
  server.tool("test_reconnection", { description: "Answers after a while" }, async (_, context) => {
    await wait(absence, context.signal);
    return "Reconnection test completed successfully.";
  });
}

/** Registers the tools that change the lists; what they add, they take away again, so that the lists stay as they are. */
export function addChangingTools(server: McpServer): void {
  server.tool("test_trigger_tool_change", { description: "Changes the list of tools" }, () => {
    server.tool("test_passing_tool", { description: "Is gone again" }, () => "Never called")();
    return "The list of tools changed";
  });
  server.tool("test_trigger_prompt_change", { description: "Changes the list of prompts" }, () => {
    server.prompt("test_passing_prompt", { description: "Is gone again" }, () => "Never asked for")();
    return "The list of prompts changed";
  });
}

/** Resolves after so many milliseconds; rejects with the signal's reason when the caller gave up. */
function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}
