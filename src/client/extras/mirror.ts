/**
 * Arguments of tools as headers (specification 2026-07-28: Streamable HTTP, Schema Extension).
 *
 * @module
 */
import { HeaderMismatchError } from "../../protocol/errors.ts";
import { annotation, encodeHeaderValue, parameterHeaders, readHeaderRules } from "../../protocol/headers.ts";
import type { EncodeHeader, HeaderRule } from "../../protocol/headers.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CoreLimits } from "../../protocol/limits.ts";
import type { Tool } from "../../protocol/types.ts";
import type { ClientRequest } from "../session/request.ts";
import type { Mirror, ToolOwner } from "../tools.ts";

/** Knows which arguments of which tools are mirrored. */
export class HeaderMirror implements Mirror {
  readonly encode: EncodeHeader = encodeHeaderValue;
  #rules = new Map<unknown, readonly HeaderRule[]>();
  /** Whether no list that was read held an annotation; undefined before the first. */
  #plain: boolean | undefined;

  reads(method: string): ((text: string) => void) | undefined {
    if (method !== "tools/list") return undefined;
    return (text) => {
      // One look at a text is far cheaper than one at each schema. A name may be escaped: then the schemas tell.
      this.#plain = (this.#plain ?? !this.#rules.size) && !text.includes(annotation) && !text.includes("\\u00");
    };
  }

  learn({ name, inputSchema }: Tool): string | undefined {
    if (this.#plain) return undefined;
    const { rules, invalid } = readHeaderRules(inputSchema);
    if (rules.length && !invalid) this.#rules.set(name, rules);
    else this.#rules.delete(name);
    return invalid;
  }

  forget(): void {
    this.#rules = new Map();
  }

  headers({ name, arguments: args }: JsonObject, limits: CoreLimits): Record<string, string> | undefined {
    const rules = this.#rules.get(name);
    return rules && parameterHeaders(rules, args, limits);
  }

  renewed(
    error: unknown,
    { method, options: { signal } }: ClientRequest,
    timeout: number,
    owner: ToolOwner,
  ): Promise<unknown> | undefined {
    if (error instanceof HeaderMismatchError && method === "tools/call") {
      owner.changed?.({ type: "tools" });
      return owner.listTools({ signal, timeout });
    }
    return undefined;
  }
}
