/**
 * What of a conversation lasts: the messages that make a server what it was, when it has lost its memory.
 *
 * @module
 */
import { parseObject } from "../../src/auth/parse.ts";
import { isObject } from "../../src/protocol/json_rpc.ts";
import { loggingLevels } from "../../src/server/common/logging_levels.ts";
import { longestUri } from "../../src/server/legacy/bounds.ts";

/** A message as it was read. */
type Message = Readonly<Record<string, unknown>>;

/** Messages that make a session what it is. */
export const lasting: readonly string[] = [
  "initialize",
  "notifications/initialized",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
];

/**
 * Puts a message among those that are kept. What it makes needless goes: the level before, the watch of a resource that is
 * watched again or no more. One that the server refuses changes nothing.
 *
 * @param kept Texts of messages.
 * @param message What `text` says.
 */
export function withMessage(kept: readonly string[], text: string, message: Message): string[] {
  const subject = subjectOf(message);
  if (subject === "") return [...kept];
  const others = kept.filter((one) => subject === undefined || subjectOf(parseObject(one) ?? {}) !== subject);
  return message.method === "resources/unsubscribe" ? others : [...others, text];
}

/** What a message settles; undefined where each stands for itself, empty where it settles nothing. */
function subjectOf({ method, params }: Message): string | undefined {
  const { level, uri } = isObject(params) ? params : {};
  switch (method) {
    case "logging/setLevel":
      return loggingLevels.some((known) => known === level) ? "level" : "";
    case "resources/subscribe":
    case "resources/unsubscribe":
      return typeof uri === "string" && uri !== "" && uri.length <= longestUri ? `resource ${uri}` : "";
    default:
      return undefined;
  }
}
