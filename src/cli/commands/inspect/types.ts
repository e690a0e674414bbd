/**
 * `causeway types <target>`: the tools of a server as a typed client in TypeScript.
 *
 * @module
 */
import type { Tool } from "../../../protocol/mod.ts";
import { type CommandLine, optionOf } from "../../command_line.ts";
import { exitCodes } from "../../failure.ts";
import { writeResultFile } from "../../read.ts";
import { withClient } from "../../session/session.ts";
import { writeError, writeOut } from "../../terminal.ts";
import { oneLine, plain } from "../../text/plain.ts";
import { comment, propertyName, typeOf } from "../../text/typescript.ts";
import { exactWords, tellEnds } from "../talk/common.ts";

/** Writes them, and answers the exit code. */
export async function writeTypes(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [target = ""] = exactWords(line, ["target"]);
  const file = optionOf(line, "output");
  const from = optionOf(line, "from") ?? "@causeway/mcp";
  return await withClient(target, line, {
    signal,
    async use(client, signal) {
      const { tools, rejected, truncated } = await client.listTools({ signal });
      const { name = client.label, version = "" } = client.info?.server ?? {};
      const text = typesText(tools, { server: oneLine(`${name} ${version}`), from });
      if (file === undefined) await writeOut(plain(text));
      else await save(file, text, tools.length);
      await tellEnds(client, { rejected, truncated }, { one: "tool", count: tools.length });
      return exitCodes.ok;
    },
  });
}

/**
 * The module.
 *
 * @param tools The tools; of two with one name the first counts.
 * @param options What the server is called, and where the types of the client come from.
 */
export function typesText(tools: readonly Tool[], { server, from }: { server: string; from: string }): string {
  const seen = new Set<string>();
  const unique = tools.filter(({ name }) => !seen.has(name) && seen.add(name));
  return [
    `// The tools of ${server}, written by causeway types. Write it anew when they change.\n`,
    `import type { CallToolResult, Client, RequestOptions } from ${JSON.stringify(from)};\n\n`,
    "/** What each tool takes and gives. */\nexport interface Tools {\n",
    ...unique.map(toolText),
    "}\n",
    tail,
  ].join("");
}

function toolText({ name, title, description, inputSchema, outputSchema }: Tool): string {
  const about = comment([title === name ? undefined : title, description].filter(Boolean).join(": "), "  ");
  const args = typeOf(inputSchema, { root: inputSchema, indent: "    ", comments: true });
  const result = outputSchema === undefined
    ? "undefined"
    : typeOf(outputSchema, { root: outputSchema, indent: "    ", comments: true });
  return `${about}  ${propertyName(name)}: {\n    args: ${args};\n    result: ${result};\n  };\n`;
}

const tail = `
/** What a tool gives: its structured content is what its output schema says. */
export type ToolResult<Name extends keyof Tools> = Omit<CallToolResult, "structuredContent"> & {
  structuredContent?: Tools[Name]["result"];
};

/** What stands behind the name of a tool: arguments that may all be left out are left out with their object. */
export type ToolArguments<Name extends keyof Tools> = Record<never, never> extends Tools[Name]["args"]
  ? [args?: Tools[Name]["args"], options?: RequestOptions]
  : [args: Tools[Name]["args"], options?: RequestOptions];

/** Calls the tools by their names, with arguments that fit. */
export interface TypedTools {
  call<Name extends keyof Tools>(name: Name, ...rest: ToolArguments<Name>): Promise<ToolResult<Name>>;
}

/** Puts the types of these tools on a client. */
export function typed(client: Pick<Client, "callTool">): TypedTools {
  return {
    call: (name, ...[args, options]) =>
      client.callTool(name, { ...args } as Parameters<Client["callTool"]>[1], options) as Promise<ToolResult<typeof name>>,
  };
}
`;

async function save(file: string, text: string, count: number): Promise<void> {
  await writeResultFile(file, text);
  await writeError(`causeway: wrote ${count} ${count === 1 ? "tool" : "tools"} to ${oneLine(file)}\n`);
}
