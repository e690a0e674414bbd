/**
 * Tools: searching them, and calling one.
 *
 * @module
 */
import { callWhile, isSameTool } from "../../hub/unchanged.ts";
import { createToolSearch } from "../../hub/search/tool_search.ts";
import type { CatalogTool } from "../../hub/seam.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, Progress } from "../../protocol/types.ts";
import type { ScopedHub } from "../access/scoped_hub.ts";
import type { Call, CallHub } from "../rest/call.ts";
import { withoutAsking } from "../rest/plain_call.ts";
import { missing, problemBody, Refusal, refusalOf, wrongField } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import { pageOf, toolResultSchema, toolSchema } from "../rest/schemas.ts";
import { eventStream } from "../rest/sse.ts";
import type { SentEvent } from "../rest/sse.ts";
import { isPromise } from "../../protocol/promise.ts";

/** Signs of progress that wait for a slow reader; the oldest go first. */
const mostWaiting = 100;

/** The routes of tools. */
export const toolRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/tools",
    summary: "The tools that the caller may call: all of them in pages, or those that fit a query, best first.",
    policy: { kind: "decided", actions: ["call"], about: "each tool" },
    query: {
      query: { description: "Words to look for", schema: { type: "string", maxLength: 1_000 } },
      server: { description: "Only those of this server", schema: { type: "string", maxLength: 128 } },
      limit: {
        description: "At most so many (50; 10 of a query)",
        schema: { type: "integer", minimum: 1, maximum: 1_000 },
      },
      after: { description: "`next` of the page before; not with a query", schema: { type: "string", maxLength: 128 } },
    },
    replies: { 200: { description: "The tools", type: "application/json", schema: pageOf("tools", toolSchema) } },
    answer: list,
  },
  {
    method: "POST",
    path: "/api/tools/:name",
    summary: "Calls a tool with the arguments in the body. With `Accept: text/event-stream` its progress comes first " +
      "(`progress`), then the one last event (`result` or `error`). Whoever leaves calls it off.",
    policy: { kind: "decided", actions: ["call"], about: "the tool" },
    query: {},
    headers: { "Causeway-Approval": "The approval of this very call, where the policy wants one" },
    body: { type: "object" },
    replies: {
      200: {
        description: "What the tool gave, as MCP has it; `isError` where it failed",
        type: "application/json",
        schema: toolResultSchema,
      },
    },
    answer: callTool,
  },
];

async function list(call: Call): Promise<Response> {
  const { query, server, after } = call.query;
  const { scoped, lease } = await call.hub();
  const words = query?.trim() ?? "";
  if (words !== "") {
    if (after !== undefined) throw wrongField("after", "a search has no pages");
    const limit = call.number("limit", 10);
    // One index for the whole tenant: what is hidden is left out of what was found.
    const { search } = lease.part("search", () => ({ search: createToolSearch(lease.hub), close: () => {} }));
    const filter = (tool: CatalogTool) => scoped.effectOf(tool) !== "deny";
    const found = search.search(words, { limit, filter, ...(server !== undefined && { server }) });
    return call.json({ tools: found.map(({ tool, score }) => ({ ...shown(tool, scoped), score })) });
  }
  const limit = call.number("limit", 50);
  const all = scoped.tools().filter((tool) => server === undefined || tool.server === server);
  const start = after === undefined ? 0 : all.findIndex(({ qualifiedName }) => qualifiedName === after) + 1;
  if (after !== undefined && start === 0) throw wrongField("after", "there is no such tool any more: begin anew");
  const page = all.slice(start, start + limit);
  const last = page.at(-1);
  const next = start + limit < all.length ? last?.qualifiedName : undefined;
  return call.json({ tools: page.map((tool) => shown(tool, scoped)), ...(next !== undefined && { next }) });
}

function shown(entry: CatalogTool, scoped: ScopedHub): object {
  const { server, qualifiedName: name, tool } = entry;
  return { name, server, tool, approval: scoped.effectOf(entry) === "ask" };
}

async function callTool(call: Call): Promise<Response> {
  const { name = "" } = call.params;
  const held = call.hub();
  const hub = isPromise(held) ? await held : held;
  const given = await call.body();
  const found = hub.lease.hub.findTool(name);
  if (!found) throw missing("tool", name);
  await allow(call, found, { hub, given });
  const wantsEvents = call.request.headers.get("accept")?.toLowerCase().includes("text/event-stream") ?? false;
  const isAsked = hub.scoped.effectOf(found) === "ask";
  const run = (signal: AbortSignal | undefined, onProgress?: (progress: Progress) => void): Promise<CallToolResult> =>
    withoutAsking(call, { server: found.server, signal }, (meta) => {
      const options = {
        throws: true,
        signal,
        timer: call.timer,
        ...(meta && { meta }),
        ...(onProgress && { onProgress }),
      };
      if (!isAsked) return hub.lease.hub.callTool({ server: found.server, name: found.name }, given, options);
      return callWhile(hub.lease.hub, found, given, options, (now) => isSameTool(found, now)).then((result) =>
        result ?? refuseOther()
      );
    });
  // Some runtimes give requests of a program's own making no signal.
  if (!wantsEvents) return call.json(await run(call.request.signal ?? undefined));
  const { leaving, parts: { clock, keepAlive } } = call;
  return eventStream(progressOf((onProgress) => run(leaving.signal, onProgress), call), {
    clock,
    keepAlive,
    count: (bytes) => call.count(bytes),
    done: () => leaving.leave(),
  });
}

/** Lets a call through, or tells what is missing. A tool that is hidden is one that there is not. */
function allow(
  call: Call,
  tool: CatalogTool,
  { hub, given }: { readonly hub: CallHub; readonly given: JsonObject },
): Promise<void> {
  const effect = hub.scoped.effectOf(tool);
  if (effect !== "allow") return hold(call, tool, { effect, given });
  return call.judge.record({ server: tool.server, tool: tool.name, action: "call", outcome: effect, arguments: given });
}

/** Refuses, unless it was approved. */
async function hold(
  call: Call,
  tool: CatalogTool,
  { effect, given }: { readonly effect: "deny" | "ask"; readonly given: JsonObject },
): Promise<void> {
  const { tenant, principal, judge, parts: { approvals } } = call;
  const about = { server: tool.server, tool: tool.name, action: "call", arguments: given } as const;
  if (effect === "deny") {
    await judge.record({ ...about, outcome: "deny" });
    throw missing("tool", call.params.name ?? "");
  }
  const proposal = { tenant, principal, tool, arguments: given };
  const id = call.request.headers.get("causeway-approval");
  if (id === null) {
    await judge.record({ ...about, outcome: "ask" });
    throw await approvals.request(proposal);
  }
  const giveBack = await approvals.use(id, proposal);
  try {
    await judge.record({ ...about, outcome: "approved" });
  } catch (error) {
    // What cannot be written down is not done.
    await giveBack();
    throw error;
  }
}

/** A yes is for one very tool, and its server has come back with another one. */
function refuseOther(): never {
  throw new Refusal(403, "approval_refused", "The tool has changed since its call was approved: it was not called");
}

/** Signs of progress, and then the one end. The call begins at once. */
function progressOf(
  run: (onProgress: (progress: Progress) => void) => Promise<CallToolResult>,
  call: Call,
): AsyncIterator<SentEvent> {
  const waiting: SentEvent[] = [];
  let last: SentEvent | undefined;
  let wake = (): void => {};
  const { logger } = call.parts;
  const failed = (error: unknown): SentEvent => ({
    event: "error",
    data: problemBody(refusalOf(error, logger), call.requestId),
  });
  void run((data) => {
    waiting.push({ event: "progress", data });
    if (waiting.length > mostWaiting) waiting.shift();
    wake();
  }).then((data) => last = { event: "result", data }, (error) => last = failed(error)).then(() => wake());
  return (async function* (): AsyncGenerator<SentEvent, void, undefined> {
    for (;;) {
      const event = waiting.shift();
      if (event) yield event;
      else if (last) return yield last;
      else await new Promise<void>((resolve) => wake = resolve);
    }
  })();
}
