/**
 * An agent that is an MCP server and a model in one: it measures code, without a language model behind it.
 *
 * `bun examples/code_agent.ts [--http [port]]`
 */
import {
  type ChatMessage,
  McpAgent,
  type McpToolDefinition,
  type ModelInfo,
  textOfMessage,
  unknownTool,
  type WithApiAgent,
  withApiAgent,
} from "@causeway/mcp/agent";
import type { JsonObject } from "@causeway/mcp/protocol";
import { startWhenMain } from "./start.ts";

/** What is measured. */
export type Analysis = {
  lines: number;
  blank: number;
  comments: number;
  functions: number;
  longestLine: number;
  todos: number;
};

const Base: WithApiAgent<typeof McpAgent> = withApiAgent(McpAgent);

/** Measures code: as a tool, and as the model `causeway-code`. */
export class CodeAgent extends Base {
  getMcpToolDefinitions(): McpToolDefinition[] {
    const count = { type: "integer", minimum: 0 };
    const properties = {
      lines: count,
      blank: count,
      comments: count,
      functions: count,
      longestLine: count,
      todos: count,
    };
    return [{
      name: "analyze-code",
      description: "Measures code: its lines, comments, functions and what is left to do",
      inputSchema: {
        type: "object",
        properties: { code: { type: "string", description: "The code itself" } },
        required: ["code"],
        additionalProperties: false,
      },
      outputSchema: { type: "object", properties, required: Object.keys(properties) },
      annotations: { readOnlyHint: true, openWorldHint: false },
    }];
  }

  executeMcpTool(name: string, { code }: JsonObject): Analysis {
    if (name !== "analyze-code") throw unknownTool(name);
    return analyze(String(code));
  }

  override getModelId(): string {
    return "causeway-code";
  }

  override getModelInfo(): ModelInfo {
    return { maxInputTokens: 32_768, maxOutputTokens: 8_192, description: "Measures the code that it is sent" };
  }

  /** Measures the fenced code in the last message of the user, or all of the message, and says so line by line. */
  async *respond(messages: readonly ChatMessage[]): AsyncGenerator<string, void, undefined> {
    const last = messages.findLast(({ role }) => role === "user");
    if (!last) return yield "Send me some code.";
    const text = textOfMessage(last);
    const fence = text.indexOf("```");
    const end = text.indexOf("```", fence + 3);
    const code = fence < 0 || end < 0 ? text : text.slice(text.indexOf("\n", fence) + 1, end).replace(/\n$/, "");
    for (const [what, value] of Object.entries(analyze(code))) yield `${what}: ${value}\n`;
  }
}

function analyze(code: string): Analysis {
  const lines = code.split("\n").map((line) => line.trim());
  const count = (pattern: RegExp): number => lines.filter((line) => pattern.test(line)).length;
  return {
    lines: lines.length,
    blank: count(/^$/),
    comments: count(/^(\/\/|\/\*|\*|#)/),
    functions: count(/\b(function|def|fn|func)\b|=>/),
    longestLine: code.split("\n").reduce((most, line) => Math.max(most, line.length), 0),
    todos: count(/\b(TODO|FIXME)\b/),
  };
}

await startWhenMain(import.meta, () => new CodeAgent());
