/**
 * The headers of a modern request, held against its body (specification 2026-07-28: Streamable HTTP, Server Validation).
 *
 * @module
 */
import { decodeHeaderValue, mirroredName, readHeaderRules } from "../../protocol/headers.ts";
import type { HeaderRule } from "../../protocol/headers.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import type { Limits } from "../../protocol/limits.ts";
import type { Methods } from "../seam.ts";

const revisionHeader = "MCP-Protocol-Version";

/** How many characters the headers of one request may still have. */
interface Budget {
  left: number;
}

/** Holds headers against bodies, for one server. Header values are compared, never used (SEP-2243: Trusting Header Values). */
export class HeaderCheck {
  readonly #methods: Methods;
  readonly #limits: Limits;
  /** By input schema: reading the annotations of a large one is dear. */
  readonly #rules = new WeakMap<object, readonly HeaderRule[]>();

  /** @param limits `headerBytes` bounds each value, `headersBytes` all of them together. */
  constructor(methods: Methods, limits: Limits) {
    this.#methods = methods;
    this.#limits = limits;
  }

  /**
   * @param revision What the body claims in `_meta`.
   * @returns The first thing that is wrong, in one sentence; undefined when header and body say the same.
   */
  wrong({ method, params }: JsonRpcRequest, headers: Headers, revision: string): string | undefined {
    const claimed = headers.get(revisionHeader);
    if (claimed === null) return `The header "${revisionHeader}" is missing`;
    const budget = { left: this.#limits.headersBytes };
    const wrong = wrongRevision(claimed, revision) ?? this.#compare(headers, "Mcp-Method", method, budget);
    if (wrong !== undefined) return wrong;
    const name = mirroredName(method, params);
    return (name === undefined ? undefined : this.#compare(headers, "Mcp-Name", name, budget)) ??
      (method === "tools/call" ? this.#wrongParameter(headers, params, budget) : undefined);
  }

  #wrongParameter(headers: Headers, params: JsonObject | undefined, budget: Budget): string | undefined {
    if (typeof params?.name !== "string") return undefined;
    for (const { path, header, type } of this.#rulesOf(params.name)) {
      let value: unknown = params.arguments;
      for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      const wrong = this.#compare(headers, header, value ?? undefined, budget, type === "integer");
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  #rulesOf(tool: string): readonly HeaderRule[] {
    const schema = this.#methods.tool(tool)?.inputSchema;
    if (!schema) return [];
    let rules = this.#rules.get(schema);
    if (!rules) this.#rules.set(schema, rules = readHeaderRules(schema).rules);
    return rules;
  }

  /** @param value What the body says; undefined when there is to be no header. */
  #compare(headers: Headers, name: string, value: unknown, budget: Budget, isInteger = false): string | undefined {
    const header = headers.get(name);
    if (header === null) return value === undefined ? undefined : `The header "${name}" is missing`;
    if (value === undefined) return `The header "${name}" says something that the body does not say`;
    const text = header.trim();
    // Before anything is decoded.
    if (text.length > this.#limits.headerBytes || (budget.left -= text.length) < 0) {
      return `The header "${name}" is too long`;
    }
    // As most are: not encoded, and the same.
    if (text === value && !text.startsWith("=?")) return undefined;
    const decoded = decodeHeaderValue(text);
    if (decoded === undefined) return `The header "${name}" is not valid base64`;
    return isSame(decoded, value, isInteger) ? undefined : `The header "${name}" does not match the body`;
  }
}

/** What is wrong when the header names another revision than the body: also where the body's is not spoken here. */
export function wrongClaim(headers: Headers, revision: unknown): string | undefined {
  const claimed = headers.get(revisionHeader);
  return claimed === null ? undefined : wrongRevision(claimed, revision);
}

function wrongRevision(claimed: string, revision: unknown): string | undefined {
  return claimed.trim() === revision ? undefined : `The header "${revisionHeader}" does not match the body`;
}

function isSame(text: string, value: unknown, isInteger: boolean): boolean {
  if (typeof value === "object") return false;
  if (text === String(value)) return true;
  return isInteger && typeof value === "number" && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) &&
    Number(text) === value;
}
