/**
 * The tools of a server: registered, listed, called.
 *
 * @module
 */
import { RpcError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { type Fields, maybeBoolean, maybeObject, maybeText, text } from "../../protocol/shapes/shape.ts";
import type { CallToolResult, ServerCapabilities, Tool } from "../../protocol/types.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";
import { redactPatterns } from "../../egress/redact.ts";
import type { Logger } from "../../ports.ts";
import { EraSignal } from "../common/era_signal.ts";
import type { RequestContext, ToolHandler, ToolOptions } from "../definitions.ts";
import type { TaskTerms } from "../seam.ts";
import { checkOptions, checkToolName, checkWord, described, listing, refuse } from "./checks.ts";
import type { Kind } from "./kind.ts";
import { checkParams, invalidParams } from "./params.ts";
import { type Checking, readyInput, readyOutput, type ReadySchema } from "./schemas.ts";
import { Shelf, type Shelved } from "./shelf.ts";
import { failed, toResult } from "./tool_result.ts";
import { after, isPromise } from "../../protocol/promise.ts";

interface RegisteredTool extends Shelved {
  readonly listed: Tool;
  readonly input: ReadySchema;
  readonly output: ReadySchema | undefined;
  readonly run: ToolHandler<unknown>;
  readonly task: TaskTerms | undefined;
}

const hints: Fields = {
  title: maybeText,
  readOnlyHint: maybeBoolean,
  destructiveHint: maybeBoolean,
  idempotentHint: maybeBoolean,
  openWorldHint: maybeBoolean,
};
const shape: Fields = { ...described, annotations: maybeObject };
const callShape: Fields = { name: text, arguments: maybeObject };

/** The tools. */
export class Tools implements Kind {
  readonly shelf: Shelf<RegisteredTool>;
  readonly #validator: SchemaValidator;
  readonly #logger: Logger | undefined;

  /** Makes an empty collection; `changed` is called after each registration and removal. */
  constructor(pageSize: number, validator: SchemaValidator, logger: Logger | undefined, changed: () => void) {
    this.shelf = new Shelf("tools", pageSize, changed);
    this.#validator = validator;
    this.#logger = logger;
  }

  /** What is declared. */
  capabilities(): ServerCapabilities {
    return this.shelf.used ? { tools: {} } : {};
  }

  /** Answers one method. */
  run(method: string, params: JsonObject, context: RequestContext): JsonObject | Promise<JsonObject> | undefined {
    if (!this.shelf.used) return undefined;
    if (method === "tools/call") return this.call(params, context) as unknown as JsonObject | Promise<JsonObject>;
    return method === "tools/list" ? this.shelf.list(params) : undefined;
  }

  /**
   * Registers a tool.
   *
   * @returns What takes it away again.
   * @throws {TypeError} When anything about it is wrong, or there is one of that name.
   */
  add(name: string, options: ToolOptions, run: ToolHandler<unknown>): () => void {
    checkToolName(name);
    const what = `the tool "${name}"`;
    checkOptions(what, options, shape, run);
    const { title, description, annotations, icons, meta, task, taskBegins } = options;
    if (annotations) checkOptions(what, options, { annotations: hints }, run);
    checkWord(what, options, "input", "inputSchema");
    const input = readyInput(what, options.input, this.#validator);
    const output = options.output === undefined ? undefined : readyOutput(what, options.output, this.#validator);
    const terms = task === undefined && taskBegins === undefined ? undefined : readTerms(what, options);
    const listed = listing<Tool>(what, {
      name,
      title,
      description,
      inputSchema: input.listed,
      outputSchema: output?.listed,
      annotations,
      icons,
      _meta: meta,
    });
    return this.shelf.add({ key: name, listed, input, output, run, task: terms });
  }

  /**
   * Calls a tool (specification 2026-07-28: tools, Calling Tools and Error Handling). Nothing is waited for that is there:
   * what a handler gives without a promise is answered without one.
   *
   * @throws {InvalidParamsError} When the parameters are malformed or there is no such tool.
   * @throws {RpcError} What the handler threw as one.
   */
  call(params: JsonObject, context: RequestContext): CallToolResult | Promise<CallToolResult> {
    checkParams(params, callShape);
    const name = params.name as string;
    const tool = this.shelf.get(name);
    if (!tool) throw invalidParams(`Unknown tool: ${excerpt(name, 200)}`);
    const run = (checking: Checking): CallToolResult | Promise<CallToolResult> => {
      if (checking.problems) return misfit(name, checking);
      return after(tool.run(checking.value, context), (returned) => toResult(name, returned, tool.output));
    };
    try {
      const result = after(tool.input.check(params.arguments ?? {}), run);
      return isPromise(result) ? result.catch((error) => this.#failure(name, error)) : result;
    } catch (error) {
      return this.#failure(name, error);
    }
  }

  /** What a throw means: what is for the era goes on, all else is a tool that failed. */
  #failure(name: string, error: unknown): CallToolResult {
    if (passesOn(error)) throw error;
    const text = textOf(error);
    this.#logger?.({
      level: "warning",
      message: "A tool failed",
      fields: { tool: name, error: redactPatterns(excerpt(text)) },
    });
    return failed(text);
  }
}

/** @throws {TypeError} When it is none. */
function readTerms(what: string, { task = "forbidden", taskBegins = "at-once" }: ToolOptions): TaskTerms | undefined {
  if (!["forbidden", "optional", "required"].includes(task)) {
    refuse(what, "task", task, '"forbidden", "optional" or "required"');
  }
  if (!["at-once", "when-told"].includes(taskBegins)) {
    refuse(what, "taskBegins", taskBegins, '"at-once" or "when-told"');
  }
  return task === "forbidden" ? undefined : { support: task, later: taskBegins === "when-told" };
}

function misfit(name: string, { problems = [], isOpen }: Exclude<Checking, { value: unknown }>): CallToolResult {
  const lines = problems.map((problem) => `\n- ${problem}`).join("");
  return failed(`Cannot call "${name}": the arguments ${isOpen ? "cannot be checked" : "do not fit"}${lines}`);
}

/**
 * Whether it is for the era: a signal of its own, or an error of the protocol that the handler means. What another peer
 * answered to a request of the handler's (it has a `method`, or a `server`) says only why the tool failed.
 */
function passesOn(thrown: unknown): boolean {
  try {
    if (thrown instanceof EraSignal) return true;
    return thrown instanceof RpcError && !thrown.server && !thrown.method;
  } catch {
    // A proxy that answers nothing.
    return false;
  }
}

/** The words of what was thrown, be it an error, something like one, or any value. */
function textOf(thrown: unknown): string {
  try {
    if (typeof thrown === "function") return "It threw a function";
    if (typeof thrown !== "object" || thrown === null) return String(thrown);
    const { message, name } = thrown as Partial<Error>;
    return String(message || name || "It threw an object without a message");
  } catch {
    return "It threw what cannot be read";
  }
}
