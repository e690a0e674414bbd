/**
 * What the tools do. One implementation for both eras and every binding: the context hides how input is asked for.
 *
 * @module
 */
import { ClientRefused, type JsonObject, numberAt, objectAt, RpcFailure, type ServerChange, stringAt } from "./wire.ts";

/** What a tool, prompt or resource can do while it runs. */
export interface ToolContext {
  readonly era: "modern" | "legacy";
  readonly revision: string;
  readonly signal: AbortSignal;
  /** Sends a sign of progress, if the client gave a token. */
  progress(progress: number, total?: number, message?: string): void;
  /** Sends a log message, if the client wants this level. */
  log(level: string, data: string): void;
  /** Asks the client; resolves with its answers under the same keys. */
  inputs(requests: Record<string, JsonObject>): Promise<Record<string, JsonObject>>;
  /** Modern: sends the client away until it has come back `times` times. */
  comeBack(times: number): void;
  /** Legacy: pings the client. */
  ping(): Promise<void>;
  /** Legacy HTTP: closes the stream of this request, so that the client has to resume it. */
  closeStream(): void;
  /** Waits on the server's clock, or without a time until it is released; rejects on an abort. */
  wait(milliseconds: number | undefined): Promise<void>;
  /** Tells everybody who listens. */
  emit(change: ServerChange): void;
  /** True when the user has been at this page (2025-11-25: the elicitation was completed). */
  visited(elicitationId: string): boolean;
}

/** Runs one tool by name; a tool that a test has added gives its name and its arguments back. */
export function runTool(name: string, args: JsonObject, context: ToolContext): JsonObject | Promise<JsonObject> {
  const body = bodies[name];
  if (body === undefined) return textResult(`${name}: ${JSON.stringify(args)}`);
  const result = body(args, context);
  return result instanceof Promise ? result.catch(refusal) : result;
}

/** What the client refuses fails the tool, not the request. */
function refusal(error: unknown): JsonObject {
  if (error instanceof ClientRefused) return failed(error.message);
  throw error;
}

/** A result of text. */
export function textResult(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}

/** A result that says that the tool failed. */
export function failed(text: string): JsonObject {
  return { ...textResult(text), isError: true };
}

/** Asks for a name by form. */
export function askName(message: string): JsonObject {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message,
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string", title: "Name", default: "Ada" } },
        required: ["name"],
      },
    },
  };
}

type Body = (args: JsonObject, context: ToolContext) => JsonObject | Promise<JsonObject>;

const plainBodies: Readonly<Record<string, Body>> = {
  echo: (args) => textResult(stringAt(args, "text") ?? ""),
  add(args) {
    const structuredContent = { sum: (numberAt(args, "a") ?? 0) + (numberAt(args, "b") ?? 0) };
    return { ...textResult(JSON.stringify(structuredContent)), structuredContent };
  },
  async slow(args, context) {
    await context.wait(numberAt(args, "milliseconds"));
    return textResult("done");
  },
  progress,
  fail: (args) => failed(stringAt(args, "message") ?? "the tool failed"),
  crash() {
    throw new RpcFailure(-32603, "the server broke", { data: { part: "engine" } });
  },
  big: (args) => textResult("x".repeat(numberAt(args, "bytes") ?? 0)),
  header_tool: (args) => textResult(JSON.stringify(args)),
  log(args, context) {
    const level = stringAt(args, "level") ?? "info";
    for (let index = 0; index < (numberAt(args, "count") ?? 1); index++) {
      context.log(level, stringAt(args, "message") ?? `line ${index}`);
    }
    return textResult("logged");
  },
  content: (_args, context) => allContent(context.revision),
  any_value(args) {
    const value = args.value ?? null;
    return { ...textResult(JSON.stringify(value)), structuredContent: value };
  },
  bad_output: () => ({ ...textResult("{}"), structuredContent: { sum: "not a number" } }),
  change(args, context) {
    const what = stringAt(args, "what");
    if (what === "resource") context.emit({ type: "resource", uri: stringAt(args, "uri") ?? "test://watched" });
    else context.emit({ type: what === "prompts" || what === "resources" ? what : "tools" });
    return textResult("changed");
  },
  reconnect(args, context) {
    context.closeStream();
    return textResult(stringAt(args, "text") ?? "resumed");
  },
};

const askingBodies: Readonly<Record<string, Body>> = {
  ask,
  async ask_many(_args, context) {
    const answers = await context.inputs({
      first: askName("Your first name?"),
      last: askName("Your last name?"),
      "key with spaces é": askName("Your nickname?"),
    });
    return textResult(JSON.stringify(answers));
  },
  ask_url: askUrl,
  later(args, context) {
    context.comeBack(numberAt(args, "rounds") ?? 1);
    return textResult("here you are");
  },
  async sample(args, context) {
    const content = { type: "text", text: stringAt(args, "prompt") ?? "Say something" };
    const params: JsonObject = { messages: [{ role: "user", content }], maxTokens: 100 };
    if (args.tools === true) {
      params.tools = [{ name: "look", inputSchema: { type: "object" } }];
      params.toolChoice = { mode: "auto" };
    }
    const { sample } = await context.inputs({ sample: { method: "sampling/createMessage", params } });
    return textResult(JSON.stringify(sample));
  },
  async list_roots(_args, context) {
    const { roots } = await context.inputs({ roots: { method: "roots/list" } });
    return textResult(JSON.stringify(roots));
  },
  async ping_client(_args, context) {
    await context.ping();
    return textResult("pong");
  },
  job: runJob,
  job_required: runJob,
};

const bodies: Readonly<Record<string, Body>> = { ...plainBodies, ...askingBodies };

async function progress(args: JsonObject, context: ToolContext): Promise<JsonObject> {
  const count = numberAt(args, "count") ?? 0;
  const pause = numberAt(args, "milliseconds");
  for (let index = 1; index <= count; index++) {
    if (pause !== undefined) await context.wait(pause);
    context.progress(index, count, `step ${index}`);
  }
  return textResult(`progressed ${count}`);
}

async function ask(args: JsonObject, context: ToolContext): Promise<JsonObject> {
  const rounds = args.state === false ? 1 : numberAt(args, "rounds") ?? 1;
  const names: unknown[] = [];
  for (let round = 1; round <= rounds; round++) {
    const key = `name_${round}`;
    const request = args.mode === "url" ? visit("https://example.com/form") : askName(`Name number ${round}?`);
    const answer = (await context.inputs({ [key]: request }))[key] ?? {};
    if (answer.action !== "accept") return failed(`the user said ${String(answer.action)}`);
    names.push(args.mode === "url" ? "visited" : objectAt(answer, "content").name);
  }
  return textResult(JSON.stringify(names));
}

async function askUrl(_args: JsonObject, context: ToolContext): Promise<JsonObject> {
  if (context.era === "modern") {
    const { page } = await context.inputs({ page: visit("https://example.com/sign") });
    return page?.action === "accept" ? textResult("signed") : failed("not signed");
  }
  const elicitationId = "sign-1";
  if (context.visited(elicitationId)) return textResult("signed");
  const params = { ...objectAt(visit("https://example.com/sign"), "params"), elicitationId };
  throw new RpcFailure(-32042, "The user has to visit a page first", { data: { elicitations: [params] } });
}

function visit(url: string): JsonObject {
  return { method: "elicitation/create", params: { mode: "url", message: "Please visit this page", url } };
}

async function runJob(args: JsonObject, context: ToolContext): Promise<JsonObject> {
  if (args.fail === true) throw new RpcFailure(-32603, "the job failed");
  if (args.error === true) return failed("the job went wrong");
  if (args.ask !== true) return textResult(stringAt(args, "text") ?? "job done");
  const { name } = await context.inputs({ name: askName("Name for the job?") });
  return textResult(`job done for ${JSON.stringify(name?.content ?? null)}`);
}

function allContent(revision: string): JsonObject {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const content: JsonObject[] = [
    { type: "text", text: "text", annotations: { audience: ["user"], priority: 0.5 } },
    { type: "image", data: pixel, mimeType: "image/png" },
    { type: "resource", resource: { uri: "test://text", mimeType: "text/plain", text: "hello world" } },
  ];
  if (revision >= "2025-03-26") content.push({ type: "audio", data: "UklGRg==", mimeType: "audio/wav" });
  if (revision >= "2025-06-18") content.push({ type: "resource_link", uri: "test://blob", name: "blob" });
  return { content };
}
