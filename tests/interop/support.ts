/** What the tests of real servers share. */
import type { CallToolResult } from "../../mod.ts";

/** The tools of `sdk_server.mjs`, in its order. */
export const sdkTools: readonly string[] = [
  ...["echo", "add", "progress", "wait", "called-off", "log", "touch", "region", "fail"],
  ...["book", "poem", "where"],
];

/** The text of a result's first block; empty when it is of another kind. */
export async function textOf(result: CallToolResult | Promise<CallToolResult>): Promise<string> {
  const [block] = (await result).content;
  return block?.type === "text" ? block.text : "";
}
