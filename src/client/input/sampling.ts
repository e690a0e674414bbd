/**
 * Sampling: a server asks the client's model (specification: client, Sampling). Deprecated in 2026-07-28; delete this
 * file to be rid of it.
 *
 * @module
 */
import { InputRequiredError, InvalidParamsError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CreateMessageRequest, SamplingMessage } from "../../protocol/types.ts";
import type { HandlerContext, Handlers } from "./seam.ts";

/** The handler for this request, made ready; undefined when there is none. */
export function answerSampling(
  handlers: Handlers,
  request: CreateMessageRequest,
): ((context: HandlerContext) => Promise<JsonObject>) | undefined {
  const { sampling, samplingTools } = handlers;
  return sampling && (async (context) => {
    if (!samplingTools && (request.tools || request.toolChoice)) {
      throw new InvalidParamsError('"sampling.tools" was not declared');
    }
    const wrong = wrongMessages(request.messages);
    if (wrong) throw new InvalidParamsError(wrong);
    const result = await sampling(request, context);
    if (!result) throw new InputRequiredError("The user rejected the sampling request");
    return result as unknown as JsonObject;
  });
}

/** A message with tool results holds nothing else, and answers exactly the tool uses before it. */
function wrongMessages(messages: SamplingMessage[]): string | undefined {
  if (!Array.isArray(messages)) return '"messages" must be a list';
  let open: string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const parts = Array.isArray(content) ? content : [content];
    const results = parts.flatMap((part) => part?.type === "tool_result" ? [part.toolUseId] : []);
    if (results.length && (role !== "user" || results.length < parts.length)) {
      return `"messages[${index}]" mixes tool results and other content`;
    }
    // There may be very many.
    if (JSON.stringify(open.sort()) !== JSON.stringify(results.sort())) {
      return `"messages[${index}]" must answer the tool uses before it, each once`;
    }
    open = parts.flatMap((part) => part?.type === "tool_use" ? [part.id] : []);
  }
  return undefined;
}
