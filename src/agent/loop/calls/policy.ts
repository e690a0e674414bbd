/**
 * What may be called without a question, and what may be called twice.
 *
 * @module
 */
import { unlessAborted } from "../../../client/core_client.ts";
import { createReadOnlyRule, isYes } from "../../../hub/pins/approval.ts";
import { createMatcher, type Matcher } from "../../../hub/pins/glob.ts";
import type { CatalogTool } from "../../../hub/seam.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { AgentOptions } from "../options.ts";
import type { OwnTools } from "./own_tools.ts";

/** What is said of a call before anybody is asked: it may be made, a person decides, or why it may not. */
export type Consent = "given" | "ask" | { readonly denied: string };

/** The operator's word on calls. */
export class CallPolicy {
  readonly #approve: NonNullable<AgentOptions["approve"]>;
  readonly #isReadOnly: (tool: CatalogTool) => boolean;
  readonly #idempotent: Matcher;
  readonly #trusted: Matcher;
  readonly #hub: OwnTools;

  /** @throws {TypeError} When a pattern or `approve` makes no sense. */
  constructor(options: AgentOptions, hub: OwnTools) {
    const { approve = "ask", idempotent = [], trustHintsOf = [] } = options;
    if (typeof approve !== "function" && !["ask", "deny", "allow"].includes(approve)) {
      throw new TypeError(`"approve" is ${JSON.stringify(approve)}, expected "ask", "deny", "allow" or a function`);
    }
    this.#approve = approve;
    this.#isReadOnly = createReadOnlyRule(options);
    this.#idempotent = createMatcher(idempotent);
    this.#trusted = createMatcher(trustHintsOf);
    this.#hub = hub;
  }

  /** Whether it only reads. */
  isReadOnly(tool: CatalogTool): boolean {
    return this.#isReadOnly(tool) || (tool.tool.annotations?.readOnlyHint === true && this.#isBuiltIn(tool));
  }

  /** Whether calling it twice is the same as calling it once. */
  isRepeatable(tool: CatalogTool): boolean {
    if (this.isReadOnly(tool)) return true;
    const { server, name, qualifiedName } = tool;
    if (this.#idempotent([server, `${server}.${name}`, qualifiedName])) return true;
    return tool.tool.annotations?.idempotentHint === true && (this.#trusted([server]) || this.#hub.isOwn(tool));
  }

  /** What is said of a call. */
  async consent(tool: CatalogTool, args: JsonObject, signal: AbortSignal): Promise<Consent> {
    if (this.isReadOnly(tool) || this.#approve === "allow") return "given";
    if (this.#approve === "ask") return "ask";
    if (this.#approve === "deny") return { denied: "calls that may change something are not allowed here" };
    const { server, name } = tool;
    const annotations = tool.tool.annotations ?? {};
    const request = { server, name, tool, args: structuredClone(args), annotations, signal };
    // It need not listen: a run that is over waits for nobody.
    const answer = await unlessAborted(Promise.resolve(this.#approve(request)), signal);
    if (answer === undefined) return "ask";
    if (isYes(answer)) return "given";
    return { denied: typeof answer === "object" && answer.reason ? answer.reason : "it is not allowed" };
  }

  /** What its own author, or this library, says of a tool is no stranger's hint. */
  #isBuiltIn(tool: CatalogTool): boolean {
    return this.#hub.isOwn(tool) || tool.server === "";
  }
}
