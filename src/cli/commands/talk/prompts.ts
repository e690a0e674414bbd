/**
 * `causeway prompts <target>` and `causeway prompt <target> <name> [key=value …]`: lists prompts, and fills one in.
 *
 * @module
 */
import type { Client } from "../../../client/mod.ts";
import { didYouMean } from "../../../hub/config/nearest.ts";
import { ProtocolViolationError } from "../../../protocol/errors.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { GetPromptResult, ListPromptsResult, Prompt } from "../../../protocol/mod.ts";
import { readPieces } from "../../arguments/pieces.ts";
import { buildArguments } from "../../arguments/values.ts";
import type { CommandLine } from "../../command_line.ts";
import { withDeadline } from "../../deadline.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { withClient } from "../../session/session.ts";
import { terminalWidth, writeOut } from "../../terminal.ts";
import { firstLine, oneLine, plainJson, said } from "../../text/plain.ts";
import { resultText } from "../../text/result.ts";
import { headed } from "../../text/table.ts";
import { exactWords, tellEnds, unknownName } from "./common.ts";

/** Lists them, and answers the exit code. */
export async function listPrompts(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [target = ""] = exactWords(line, ["target"]);
  return await withClient(target, line, {
    signal,
    async use(client, signal) {
      const has = line.json || client.info?.capabilities.prompts !== undefined;
      const { rejected, truncated, ...result }: ListPromptsResult = has
        ? await client.listPrompts({ signal })
        : { prompts: [] };
      await writeOut(line.json ? plainJson(result) + "\n" : result.prompts.map(promptText).join(""));
      await tellEnds(client, { rejected, truncated }, { one: "prompt", count: result.prompts.length });
      return exitCodes.ok;
    },
  });
}

/** Fills one in, and answers the exit code. */
export function getPrompt(line: CommandLine, signal: AbortSignal): Promise<number> {
  return withDeadline(signal, line.timeout, (signal) => fillIn(line, signal));
}

async function fillIn(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [target, name, ...words] = line.words;
  if (target === undefined || name === undefined) {
    const missing = target === undefined ? "target" : "prompt";
    throw new UsageError(`The ${missing} is missing: write causeway prompt <target> <prompt> [key=value …]`);
  }
  const pieces = await readPieces(words, line.args, signal);
  return await withClient(target, line, {
    signal,
    async use(client, signal) {
      const prompt = await findPrompt(client, name, signal);
      const given = buildArguments(pieces, schemaOf(prompt));
      const args = textsOf(name, prompt, given);
      const result = await client.getPrompt(name, args, { signal });
      await writeOut(line.json ? plainJson(result) + "\n" : messagesText(result));
      return exitCodes.ok;
    },
  });
}

async function findPrompt(client: Client, name: string, signal: AbortSignal): Promise<Prompt | undefined> {
  const { prompts, rejected = [], truncated } = await client.listPrompts({ signal });
  const prompt = prompts.find((found) => found.name === name);
  if (prompt || truncated) return prompt;
  const left = rejected.find((found) => found.name === name);
  if (left) throw new ProtocolViolationError(`Cannot use the prompt "${name}" of "${client.label}": ${left.reason}`);
  throw unknownName("prompt", name, { client, names: prompts.map((found) => found.name) });
}

/** Arguments of prompts are texts. */
function schemaOf(prompt: Prompt | undefined): JsonObject {
  const names = prompt?.arguments?.map(({ name }) => [name, { type: "string" }] as const) ?? [];
  return { type: "object", properties: Object.fromEntries(names) };
}

function textsOf(name: string, prompt: Prompt | undefined, given: JsonObject): Record<string, string> {
  const known = prompt?.arguments ?? [];
  const names = known.map((argument) => argument.name);
  const missing = known.filter((argument) => argument.required && given[argument.name] === undefined);
  const problems = [
    ...missing.map((argument) => `"${argument.name}" is missing`),
    ...Object.entries(given).flatMap(([key, value]) => {
      if (prompt && !names.includes(key)) return [`there is no "${key}"${didYouMean(key, names)}`];
      return typeof value === "string" ? [] : [`"${key}" must be a text`];
    }),
  ];
  if (problems.length > 0) {
    throw new UsageError(
      `The arguments of "${name}" do not fit: ${problems.slice(0, 3).join("; ")}; causeway prompts shows what it takes`,
    );
  }
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));
}

function promptText({ name, title, description, arguments: given }: Prompt): string {
  const takes = given ?? [];
  const about = [title === name ? "" : said(title), firstLine(said(description))].filter(Boolean).join(": ");
  const head = `${oneLine(name)}  ${oneLine(about)}`.trimEnd();
  const rows = takes.map((argument) =>
    [oneLine(argument.name) + (argument.required ? "" : "?"), firstLine(said(argument.description))] as const
  );
  const columns = terminalWidth();
  if (columns !== undefined) return headed(head, rows, columns);
  const width = Math.min(32, Math.max(0, ...rows.map(([key]) => key.length)));
  const lines = rows.map(([key, about]) => `    ${key.padEnd(width)}  ${about}`);
  return [head, ...lines].map((row) => row.trimEnd() + "\n").join("");
}

function messagesText({ messages }: GetPromptResult): string {
  return messages.map(({ role, content }) => `${oneLine(role)}: ${resultText({ content: [content] })}`).join("");
}
