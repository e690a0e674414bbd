/**
 * What answers where no language model is configured: it does what it is told in so many words, and says so.
 *
 * @module
 */
import { nearestNames } from "../../hub/models/call/nearest.ts";
import { partsOfBlocks, textOf } from "../../hub/models/parts.ts";
import { buildArguments } from "../../protocol/arguments/values.ts";
import { type DirectiveResult, fitOutput, reportResults } from "./directives/answer.ts";
import { type CallDirective, type Directives, readDirectives } from "./directives/read.ts";
import type {
  LanguageModel,
  LanguageModelMessage,
  LanguageModelOptions,
  LanguageModelPart,
  LanguageModelRequest,
  LanguageModelTool,
  LanguageModelToolCall,
} from "./seam.ts";

/** What it says to everything that is no directive. */
const help = `No language model is configured, so only directives are followed, one on each line:
call server.tool key=value key:=json
say some text
A blank line, or "then", waits for the results of the calls before it.`;

/**
 * The honest default without a language model: it follows directives in the last message of the user, so that everything runs
 * with no key and gives the same each time.
 *
 * - `call server.tool key=value key:=json`, `call server__tool …`, `call server.tool {"key": 1}`. A text becomes what the
 *   tool's schema says. The calls of one block are asked for at once.
 * - `say some text`. Behind the calls of a block it is said when their results are there.
 * - A blank line or `then` begins the next block. `# …` is a note.
 *
 * When all is done it reports the results; where a schema is asked for, as JSON from the last result. If a directive is wrong,
 * nothing is called and the answer says what to correct. What is no directive is answered with the form of directives.
 *
 * @example Two calls at once, and a third one behind them
 * ```ts
 * import { directiveModel } from "@causeway/mcp/agent";
 *
 * const content = "call clock.now\ncall weather.today city=Bern\nthen\ncall notes.add text='It rains'";
 * const tools = ["clock__now", "weather__today", "notes__add"]
 *   .map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
 * const called: string[] = [];
 * for await (const part of directiveModel().stream({ messages: [{ role: "user", content }], tools })) {
 *   if (part.type === "tool_call") called.push(part.call.name);
 * }
 * console.assert(called.join() === "clock__now,weather__today");
 * ```
 */
export function directiveModel(): LanguageModel {
  return { id: "directives", stream };
}

/**
 * What is wrong with directives, before anything is called; `undefined`: there is no directive in the text. The command asks: there
 * a wrong one is wrong use, and no answer.
 */
export function directiveFaults(content: string, tools: readonly LanguageModelTool[]): readonly string[] | undefined {
  const directives = readDirectives(content);
  return directives && faultsOf({ directives, turn: 0, results: [] }, { messages: [], tools });
}

/** What it knows of a conversation. */
interface Situation {
  readonly directives: Directives;
  /** Which turn it is: 0 is the first. */
  readonly turn: number;
  /** What the calls so far gave. */
  readonly results: readonly DirectiveResult[];
}

async function* stream(
  request: LanguageModelRequest,
  { signal }: LanguageModelOptions = {},
): AsyncGenerator<LanguageModelPart, void, undefined> {
  signal?.throwIfAborted();
  const { texts, calls } = answer(request);
  const text = texts.filter((one) => one !== "").join("\n");
  if (text !== "") yield { type: "text", text };
  for (const call of calls) yield { type: "tool_call", call };
  // Nothing was read by a model, and nothing is to be paid for.
  yield { type: "end", reason: calls.length > 0 ? "tool_calls" : "stop", usage: { inputTokens: 0, outputTokens: 0 } };
}

interface Answer {
  readonly texts: readonly string[];
  readonly calls: readonly LanguageModelToolCall[];
}

function answer(request: LanguageModelRequest): Answer {
  const situation = findSituation(request);
  if (!situation) return { texts: [help], calls: [] };
  const { directives: { turns, others }, turn, results } = situation;
  const wrong = faultsOf(situation, request);
  if (wrong.length > 0) {
    return { texts: [...wrong, "Nothing was called: correct this and send it again."], calls: [] };
  }
  const now = turns[turn];
  if (now && now.calls.length > 0) return { texts: now.says, calls: now.calls.map(toCall(request, turn)) };
  const says = now?.says ?? [];
  if (request.output) return { texts: [fitOutput(request.output.schema, results, says)], calls: [] };
  const note = others.length === 0
    ? ""
    : `(${others.length === 1 ? "Line" : "Lines"} ${others.join(", ")}: no directive, passed over)`;
  return { texts: [...says, results.length > 0 ? reportResults(results) : "", note], calls: [] };
}

/**
 * The last message of the user that holds directives, and what came of them. For an answer that has to fit a schema, messages
 * behind it (which ask for a better one) do not count; else it has to be the user's last one.
 */
function findSituation({ messages, output }: LanguageModelRequest): Situation | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role !== "user") continue;
    const directives = readDirectives(textOfContent(message.content));
    if (directives) {
      const since = messages.slice(at + 1);
      // Only turns that call something are followed by another one.
      const turn = since.filter((one) => one.role === "assistant" && (one.toolCalls ?? []).length > 0).length;
      return { directives, turn, results: since.filter((one) => one.role === "tool") };
    }
    if (!output) return undefined;
  }
  return undefined;
}

function textOfContent(content: (LanguageModelMessage & { role: "user" })["content"]): string {
  return typeof content === "string" ? content : textOf(partsOfBlocks(content, new Set()));
}

/** All that is wrong, line by line. */
function faultsOf(situation: Situation, request: LanguageModelRequest): string[] {
  const { directives: { faults }, turn } = situation;
  return [...faults, ...turn === 0 ? wrongCalls(situation, request) : []].sort(byLine);
}

/** What is wrong with any call of the message, before the first one is made. */
function wrongCalls({ directives: { turns } }: Situation, request: LanguageModelRequest): string[] {
  const { tools = [], toolChoice } = request;
  return turns.flatMap(({ calls }) => calls).flatMap((directive) => {
    const { line, tool: written } = directive;
    if (toolChoice === "none") return [`Line ${line}: tools may not be called now`];
    const tool = findTool(written, tools);
    if (!tool) return [`Line ${line}: there is no tool "${written}"${hint(written, tools)}`];
    try {
      buildArguments(directive.pieces, tool.inputSchema);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return [`Line ${line}: ${error.message}`];
    }
    return [];
  });
}

function toCall(
  { messages, tools = [] }: LanguageModelRequest,
  turn: number,
): (directive: CallDirective, index: number) => LanguageModelToolCall {
  const ids = new Set(
    messages.flatMap((one) => one.role === "assistant" ? one.toolCalls ?? [] : []).map(({ id }) => id),
  );
  return ({ tool: written, pieces }, index) => {
    const tool = findTool(written, tools);
    let id = `directive_${turn + 1}_${index + 1}`;
    // An earlier message of the user had calls as well.
    for (let round = 2; ids.has(id); round++) id = `directive_${turn + 1}_${index + 1}_${round}`;
    return { id, name: tool?.name ?? written, arguments: buildArguments(pieces, tool?.inputSchema) };
  };
}

function byLine(left: string, right: string): number {
  return parseInt(left.slice(5), 10) - parseInt(right.slice(5), 10);
}

/** By its whole name, or by server and tool with a dot between them. */
function findTool(written: string, tools: readonly LanguageModelTool[]): LanguageModelTool | undefined {
  const exact = tools.find(({ name }) => name === written);
  if (exact) return exact;
  // Names of servers and tools may hold dots themselves.
  for (let at = written.indexOf("."); at >= 0; at = written.indexOf(".", at + 1)) {
    const qualified = `${written.slice(0, at)}__${written.slice(at + 1)}`;
    const found = tools.find(({ name }) => name === qualified || name === qualified.replace(/[^\w-]/g, "_"));
    if (found) return found;
  }
  return undefined;
}

function hint(written: string, tools: readonly LanguageModelTool[]): string {
  const near = nearestNames(written.replace(".", "__"), tools.map(({ name }) => name));
  if (near.length > 0) return `, did you mean ${near.map((name) => `"${name.replace("__", ".")}"`).join(", ")}?`;
  return tools.length === 0 ? ": no tools are connected" : "";
}
