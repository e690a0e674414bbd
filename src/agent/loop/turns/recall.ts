/**
 * The tool by which a model has a result back that was cut to make room: whole where it fits, else in pages.
 *
 * @module
 */
import { boundary, fitting, textOf } from "../../../hub/budget/cut.ts";
import { readArguments } from "../../../hub/models/call/call.ts";
import { canonicalJson } from "../../../hub/pins/canonical.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../../protocol/types.ts";
import { sha256 } from "../../../protocol/web_crypto.ts";
import type { LanguageModelMessage, LanguageModelTool, LanguageModelToolCall } from "../../model/seam.ts";
import { refused } from "../calls/plan.ts";
import type { PlannedCall } from "../calls/plan.ts";
import type { ProposedCall } from "../seam.ts";
import { fitContext, type TokenCounter, tokensOf, type ToolMessage } from "./context.ts";

/** What it is called, unless another tool is. */
const usualName = "recall_result";
/** What goes around a page, and the least that one has, in tokens. */
const page = { around: 120, least: 50 } as const;

/** What recalling needs of a run. */
export interface RecallParts {
  readonly counter: TokenCounter;
  /** The conversation so far. */
  readonly messages: readonly LanguageModelMessage[];
  /** Whether there is a tool of this name already. */
  hasTool(name: string): boolean;
  /** Whether the call of this id may be made again. */
  isRepeatable(id: string): boolean;
  /** How many tokens the conversation may have beside the other tools. */
  room(): number;
}

/** Fits a conversation into what its model can read, and gives back what had to make room: of one run. */
export class Recall {
  readonly #parts: RecallParts;
  #isOffered = false;
  #tool: { readonly tool: LanguageModelTool; readonly cost: number } | undefined;

  constructor(parts: RecallParts) {
    this.#parts = parts;
  }

  /** What it is called: a name that no other tool has. */
  get name(): string {
    let name = usualName;
    while (this.#parts.hasTool(name)) name += "_";
    return name;
  }

  /**
   * The conversation as it fits.
   *
   * @returns With the tool where a result was cut: otherwise there is nothing to have back.
   */
  fit(): { readonly messages: readonly LanguageModelMessage[]; readonly tool?: LanguageModelTool } {
    const { counter, messages, isRepeatable, room } = this.#parts;
    const all = room();
    this.#isOffered = false;
    if (all === Infinity || counter.sum(messages) <= all) return { messages };
    const { tool, cost } = this.#made();
    const fitted = fitContext(messages, all - cost, isRepeatable, counter);
    this.#isOffered = fitted.some((message, at) => message !== messages[at]);
    return this.#isOffered ? { messages: fitted, tool } : { messages };
  }

  /** What a result is had back by: the id of its call, with a number behind it where an earlier one had the same. */
  idOf(message: ToolMessage): string {
    const at = this.#resultsOf(message.id).indexOf(message);
    return at > 0 ? `${message.id}#${at + 1}` : message.id;
  }

  /** Whether a model's call is one of this tool: only where the model was shown it. */
  isWanted({ name }: LanguageModelToolCall): boolean {
    return this.#isOffered && name === this.name;
  }

  /** Whether what is proposed is a call of this tool, in whichever process it was. */
  isProposed({ server, tool }: ProposedCall): boolean {
    return server === "" && tool === this.name;
  }

  /** Looks at a call of it: nobody is asked, and it may be made twice. */
  async plan(call: LanguageModelToolCall): Promise<PlannedCall> {
    const { id, name } = call;
    const read = readArguments(call.arguments);
    const wrong = typeof read === "string" ? read : wrongArguments(read.args);
    if (typeof read === "string" || wrong !== undefined) {
      return await refused(call, `Cannot call "${name}": ${wrong}`, "tool_error");
    }
    const { id: of, from = 0 } = read.args;
    const args = { id: of, from } as JsonObject;
    const argumentsHash = await sha256(canonicalJson(args));
    const proposal = { id, server: "", tool: name, name, arguments: args, argumentsHash };
    return { proposal, consent: "given", repeatable: true };
  }

  /** Gives a result back: whole where there is room for it, else the page from a character on. */
  run({ arguments: args }: ProposedCall): CallToolResult {
    const [id, from] = [String(args.id), Number(args.from)];
    const [, of = "", count] = /^(.*)#(\d{1,9})$/s.exec(id) ?? [];
    const found = this.#resultsOf(id)[0] ?? this.#resultsOf(of)[Number(count) - 1];
    if (!found) {
      return { ...said(`There is no result of a call "${id}": expected the id of an earlier one`), isError: true };
    }
    const room = this.#share();
    const whole = from === 0 ? wholeOf(found) : undefined;
    return whole && tokensOf(whole) <= room ? whole : pageOf({ ...found, id }, from, room);
  }

  #resultsOf(id: string): readonly ToolMessage[] {
    return this.#parts.messages.filter((message) => message.role === "tool").filter((message) => message.id === id);
  }

  /** What each call of this turn has at most, so that no result of it has to be cut. */
  #share(): number {
    const { counter, messages, isRepeatable, room } = this.#parts;
    const least = messages.reduce((sum, message) => {
      const cost = counter.count(message);
      if (message.role !== "tool") return sum + cost;
      return sum + Math.min(cost, counter.count(counter.cut(message, isRepeatable)));
    }, 0);
    const last = messages.findLast(({ role }) => role === "assistant");
    const calls = last?.role === "assistant" ? last.toolCalls?.length ?? 1 : 1;
    return Math.max(page.least, Math.floor((room() - this.#made().cost - least) / calls) - page.around);
  }

  #made(): { readonly tool: LanguageModelTool; readonly cost: number } {
    const { name } = this;
    if (this.#tool?.tool.name === name) return this.#tool;
    const tool: LanguageModelTool = {
      name,
      description: "Gives back a result of an earlier call that was cut to make room, whole or page by page. " +
        "What stands in its place says what to give",
      inputSchema: {
        type: "object",
        properties: {
          id: { type: "string", description: "The id of the call" },
          from: { type: "integer", minimum: 0, description: "The character to begin at (0)" },
        },
        required: ["id"],
        additionalProperties: false,
      },
    };
    return this.#tool = { tool, cost: tokensOf(tool) };
  }
}

function wrongArguments({ id, from = 0 }: JsonObject): string | undefined {
  if (typeof id !== "string" || id === "") return '"id" is missing: expected the id of a call';
  if (typeof from === "number" && Number.isSafeInteger(from) && from >= 0) return undefined;
  return '"from" is no whole number, 0 or more';
}

/** The result as it was observed. That it had failed is said: having it back has not. */
function wholeOf({ name, result: { content, structuredContent, isError } }: ToolMessage): CallToolResult {
  const failed = isError ? said(`(${name} had failed)`).content : [];
  return { content: [...failed, ...content], ...(structuredContent !== undefined && { structuredContent }) };
}

function pageOf(message: ToolMessage, start: number, room: number): CallToolResult {
  const form = textForm(message.result);
  const from = boundary(form.text, Math.min(start, form.text.length));
  // What is escaped in JSON costs more than its characters.
  for (let limit = room;; limit *= 0.8) {
    const shown = pageFrom(message, form, { from, limit });
    if (limit < page.least || tokensOf(shown) <= room + page.around / 2) return shown;
  }
}

function pageFrom(
  { id, name, result }: ToolMessage,
  { text, media }: TextForm,
  { from, limit }: { readonly from: number; readonly limit: number },
): CallToolResult {
  // At least one character, so that it goes on.
  const end = boundary(text, from + Math.max(1, fitting(text.slice(from), limit, "tokens")));
  const facts = [
    `characters ${from} to ${Math.min(end, text.length)} of ${text.length} of the result of ${name}`,
    ...(result.isError ? ["which had failed"] : []),
    ...(media > 0
      ? [`${media} ${media === 1 ? "picture, sound or file is" : "pictures, sounds or files are"} left out`]
      : []),
    end < text.length ? `go on with ${JSON.stringify({ id, from: end })}` : "this is its end",
  ];
  return said(text.slice(from, end), `[${facts.join("; ")}]`);
}

/** All that can be read of a result in one text; how much of it cannot. */
interface TextForm {
  readonly text: string;
  readonly media: number;
}

function textForm({ content, structuredContent }: CallToolResult): TextForm {
  const texts = content.map(textOf).filter((text) => text !== undefined);
  const media = content.length - texts.length;
  const json = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  if (json !== undefined && !texts.includes(json)) texts.push(json);
  return { text: texts.join("\n"), media };
}

function said(...texts: readonly string[]): CallToolResult {
  return { content: texts.filter((text) => text !== "").map((text) => ({ type: "text", text })) };
}
