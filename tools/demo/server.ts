/** The demo's own server: a text, progress, a question and a call to be called off. */
import { McpServer } from "../../src/server/mod.ts";

const number = { type: "number" };

/** Makes the server. */
export function createDemoServer(name: string): McpServer {
  const server = new McpServer({ name, version: "1.0.0" });
  server.tool("echo", {
    description: "Says it again",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  }, ({ text }) => String(text));
  server.tool("progress", {
    description: "Works in steps and tells of each",
    input: { type: "object", properties: { count: number, milliseconds: number }, required: ["count", "milliseconds"] },
  }, async ({ count, milliseconds }, { progress, signal }) => {
    for (let step = 1; step <= Number(count); step++) {
      progress({ progress: step, total: Number(count) });
      await pause(Number(milliseconds), signal);
    }
    return `${count} steps`;
  });
  server.tool("ask", { description: "Asks for a name" }, async (_args, { elicit }) => {
    const { action, content } = await elicit({
      message: "What is your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return action === "accept" ? `Hello, ${content?.name}` : "Hello, whoever you are";
  });
  let given = 0;
  server.tool("slow", {
    description: "Says that it has begun, and waits",
    input: { type: "object", properties: { milliseconds: number }, required: ["milliseconds"] },
  }, async ({ milliseconds }, { progress, signal }) => {
    signal.addEventListener("abort", () => given++);
    progress({ progress: 0 });
    await pause(Number(milliseconds), signal);
    return "done";
  });
  server.tool("called-off", { description: "How many calls were called off" }, () => given);
  return server;
}

/** Waits; ends at once, with the signal's reason, when the call was called off. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
