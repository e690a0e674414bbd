/**
 * Calls of tools that were looked at before: what waits for its server may find another one there.
 *
 * @module
 */
import type { RequestOptions, SessionRequestOptions } from "../client/session/request.ts";
import type { ConstantJson } from "../protocol/json_rpc.ts";
import type { CallToolResult } from "../protocol/types.ts";
import type { CatalogTool, HubLike } from "./seam.ts";
import { canonicalJson } from "./pins/canonical.ts";
import { definitionOf } from "./pins/definition.ts";

/**
 * Calls a tool if it is still good when the call is sent, each time that it is: it may be tried again, or have answered questions.
 *
 * @param isGood Told what the hub knows by then under the tool's name, if anything.
 * @returns Undefined when it was not: then nothing was sent any more.
 */
export async function callWhile(
  hub: HubLike,
  { server, name }: { readonly server: string; readonly name: string },
  args: ConstantJson | undefined,
  options: RequestOptions | undefined,
  isGood: (tool: CatalogTool | undefined) => boolean,
): Promise<CallToolResult | undefined> {
  const { sent: outer }: SessionRequestOptions = options ?? {};
  let isOther = false;
  const look = (id: number): void => {
    outer?.(id);
    isOther = !isGood(hub.findTool({ server, name }));
    if (isOther) throw new Error("The tool is not what it was");
  };
  const looking: SessionRequestOptions = { ...options, sent: look };
  try {
    const result = await hub.callTool({ server, name }, args, looking);
    return isOther ? undefined : result;
  } catch (error) {
    if (isOther) return undefined;
    throw error;
  }
}

/** Whether a model sees the same of both. What is no JSON, or nested too deeply, is the same as itself alone. */
export function isSameTool(one: CatalogTool, other: CatalogTool | undefined): boolean {
  if (one.tool === other?.tool) return true;
  try {
    return other !== undefined && canonicalJson(definitionOf(one.tool)) === canonicalJson(definitionOf(other.tool));
  } catch {
    return false;
  }
}
