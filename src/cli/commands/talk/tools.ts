/**
 * `causeway tools <target>`: lists the tools of a server.
 *
 * @module
 */
import type { Tool } from "../../../protocol/mod.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes } from "../../failure.ts";
import { withClient } from "../../session/session.ts";
import { terminalWidth, writeOut } from "../../terminal.ts";
import { firstLine, oneLine, plain, plainJson, said } from "../../text/plain.ts";
import { propertiesOf, requiredOf } from "../../../protocol/arguments/schema.ts";
import { headed } from "../../text/table.ts";
import { typeText } from "../../text/schema.ts";
import { comment, propertyName, typeOf } from "../../text/typescript.ts";
import { exactWords, tellEnds } from "./common.ts";
import { tellLeftOut } from "./left_out.ts";

/** Lists the tools, and answers the exit code. */
export async function listTools(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [target = ""] = exactWords(line, ["target"]);
  return await withClient(target, line, {
    signal,
    async use(client, signal, destination) {
      const { rejected, truncated, ...result } = await client.listTools({ signal });
      await writeOut(
        line.json
          ? plainJson(result) + "\n"
          : result.tools.map(line.options?.signatures ? signatureText : toolText).join(""),
      );
      await tellEnds(client, { rejected, truncated }, { one: "tool", count: result.tools.length });
      await tellLeftOut(destination, result.tools.map(({ name }) => name));
      return exitCodes.ok;
    },
  });
}

/** A tool as a function: `echo(text: string, count?: number)`, as `causeway call` takes it. */
export function signatureText({ name, title, description, inputSchema, outputSchema }: Tool): string {
  const about = [title === name ? "" : said(title), firstLine(said(description))].filter(Boolean).join(": ");
  const required = new Set(requiredOf(inputSchema));
  const parameters = propertiesOf(inputSchema).map(([key, schema]) =>
    `${propertyName(oneLine(key))}${required.has(key) ? "" : "?"}: ${typeOf(schema, { root: inputSchema })}`
  );
  const result = outputSchema === undefined ? "" : `: ${typeOf(outputSchema, { root: outputSchema })}`;
  const whole = `${oneLine(name)}(${parameters.join(", ")})${result}`;
  const text = whole.length > 80
    ? `${oneLine(name)}(\n${parameters.map((one) => `  ${one},\n`).join("")})${result}`
    : whole;
  return `${comment(oneLine(about), "")}${plain(text)};\n`;
}

/** A tool for people: its name, what it does, and a line for each argument; optional ones have a `?`. */
export function toolText(tool: Tool): string {
  const { name, description, inputSchema } = tool;
  const title = said(tool.title ?? tool.annotations?.title);
  const about = [title === name ? "" : title, firstLine(said(description))].filter(Boolean).map(oneLine);
  const required = new Set(requiredOf(inputSchema));
  const rows = propertiesOf(inputSchema).map(([key, schema]) => ({
    key: oneLine(key) + (required.has(key) ? "" : "?"),
    type: typeText(schema),
    about: aboutText(schema),
  }));
  const width = terminalWidth();
  const head = [oneLine(name), about.join(": ")].join("  ").trimEnd();
  if (width !== undefined) return headed(head, rows.map(({ key, type, about }) => [key, type, about]), width);
  const keyWidth = Math.min(32, Math.max(0, ...rows.map(({ key }) => key.length)));
  const typeWidth = Math.min(24, Math.max(0, ...rows.map(({ type }) => type.length)));
  const lines = rows.map(({ key, type, about }) => `    ${key.padEnd(keyWidth)}  ${type.padEnd(typeWidth)}  ${about}`);
  return [head, ...lines].map((line) => line.trimEnd() + "\n").join("");
}

function aboutText(schema: unknown): string {
  if (typeof schema !== "object" || schema === null) return "";
  const description = "description" in schema && typeof schema.description === "string" ? schema.description : "";
  const fallback = "default" in schema ? `= ${firstLine(JSON.stringify(schema.default) ?? "", 40)}` : "";
  return [fallback, firstLine(description)].filter((text) => text !== "").join("  ");
}
