/**
 * Somebody is asked before a tool does something.
 *
 * @module
 */
import { unlessAborted } from "../../client/core_client.ts";
import type { ConstantJson, JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, ToolAnnotations } from "../../protocol/types.ts";
import { HubLayer } from "../layer.ts";
import type { CatalogTool, HubLike } from "../seam.ts";
import { callWhile, isSameTool } from "../unchanged.ts";
import { createMatcher } from "./glob.ts";

/** A call that waits for a yes. */
export interface ApprovalRequest {
  /** The server; empty for tools of the hub itself. */
  readonly server: string;
  /** The tool's name at its server. */
  readonly name: string;
  /** What the catalog says of it; missing where the tool is not listed. */
  readonly tool: CatalogTool | undefined;
  /** What the tool would be given: a copy, and exactly what is sent. */
  readonly args: JsonObject;
  /** What the server says of the tool: a hint, not the truth. */
  readonly annotations: ToolAnnotations;
  /** Aborted when the caller no longer waits: close the question then. */
  readonly signal: AbortSignal | undefined;
}

/** The answer: yes, no, or no with a reason that the model reads. */
export type ApprovalAnswer = boolean | { readonly approved: boolean; readonly reason?: string | undefined };

/** Asks somebody. */
export type Approve = (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;

/** Options of {@linkcode withApproval}. */
export interface ApprovalOptions {
  /** Your word that these only read: nobody is asked. Patterns as for `withFilter`, or what tells of a tool that is listed. */
  readonly readOnly?: readonly string[] | ((tool: CatalogTool) => boolean) | undefined;
  /** Servers whose `readOnlyHint` you believe. Default: of none. Patterns of names. */
  readonly trustHintsOf?: readonly string[] | undefined;
}

/**
 * Wraps a hub so that a hook is asked before each call of a tool that may change something. A no is a result with `isError`
 * that says so, and nothing is sent. What is read-only is the operator's word (`readOnly`); what a server says about its own
 * tools is shown as a hint, and believed only of servers in `trustHintsOf`. Resources and prompts are read without a question.
 *
 * @param approve What it throws, the call throws; nothing is sent.
 *
 * @example Asking on the command line
 * ```ts
 * import { withApproval } from "@causeway/mcp/hub";
 * import type { HubLike } from "@causeway/mcp/hub";
 *
 * const careful = (hub: HubLike, ask: (question: string) => Promise<boolean>) =>
 *   withApproval(hub, ({ server, name, args }) => ask(`${server} ${name} ${JSON.stringify(args)}?`), {
 *     readOnly: ["docs", "*.get_*"],
 *   });
 * console.log(typeof careful);
 * ```
 */
export function withApproval(hub: HubLike, approve: Approve, options: ApprovalOptions = {}): HubLike {
  if (typeof approve !== "function") throw new TypeError("Cannot ask for approval: expected a function");
  return new ApprovedHub(hub, approve, createReadOnlyRule(options));
}

/**
 * Tells which tools only read: by the operator's word, or by the hints of servers that the operator believes.
 *
 * @throws {TypeError} When a pattern is no text, or empty.
 */
export function createReadOnlyRule(
  { readOnly = [], trustHintsOf = [] }: ApprovalOptions,
): (tool: CatalogTool) => boolean {
  const isRead = toolMatcher(readOnly);
  const isTrusted = createMatcher(trustHintsOf);
  return (found) => {
    const { server, tool } = found;
    // Without types something else might be given than a plain yes.
    return isRead(found) === true || (tool.annotations?.readOnlyHint === true && isTrusted([server]));
  };
}

class ApprovedHub extends HubLayer {
  readonly #approve: Approve;
  readonly #isReadOnly: (tool: CatalogTool) => boolean;

  constructor(hub: HubLike, approve: Approve, isReadOnly: (tool: CatalogTool) => boolean) {
    super(hub);
    this.#approve = approve;
    this.#isReadOnly = isReadOnly;
  }

  override async callTool(...[name, args = {}, options]: Parameters<HubLike["callTool"]>): Promise<CallToolResult> {
    const signal = options?.signal;
    signal?.throwIfAborted();
    const tool = this.hub.findTool(name);
    const target = tool ?? (typeof name === "string" ? { server: "", name } : name);
    // By its two parts: what is called is what was asked for, also when the catalog has changed meanwhile.
    const called = tool || typeof name !== "string" ? { server: target.server, name: target.name } : name;
    const shown = typeof name === "string" ? name : `${name.server}.${name.name}`;
    const call = async (args: ConstantJson, isGood: (now: CatalogTool) => boolean): Promise<CallToolResult> => {
      // Nothing was known of it, and that is what the person has seen.
      if (!tool) return await this.hub.callTool(called, args, options);
      const result = await callWhile(this.hub, tool, args, options, (now) => now !== undefined && isGood(now));
      return result ??
        refusal(`The tool "${shown}" has changed since it was looked at. It was not called; try it again`);
    };
    if (tool && this.#isReadOnly(tool)) return await call(args, this.#isReadOnly);
    const sent = structuredClone(args) as JsonObject;
    const request = {
      server: target.server,
      name: target.name,
      tool,
      args: structuredClone(sent),
      annotations: tool?.tool.annotations ?? {},
      signal,
    };
    const answer = await unlessAborted((async () => await this.#approve(request))(), signal);
    signal?.throwIfAborted();
    if (isYes(answer)) return await call(sent, (now) => isSameTool(now, tool));
    const reason = typeof answer === "object" && answer?.reason ? `: ${answer.reason}` : "";
    return refusal(`The call of "${shown}" was denied${reason}. It was not made; do not try it again without asking`);
  }
}

function refusal(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function toolMatcher(readOnly: NonNullable<ApprovalOptions["readOnly"]>): (tool: CatalogTool) => boolean {
  if (typeof readOnly === "function") return readOnly;
  const matches = createMatcher(readOnly);
  return ({ server, name, qualifiedName }) => matches([server, `${server}.${name}`, qualifiedName]);
}

/** Only true is a yes. */
export function isYes(answer: ApprovalAnswer): boolean {
  return answer === true || (typeof answer === "object" && answer?.approved === true);
}
