/**
 * What of a conversation lasts: the messages that make a server what it was, when it has lost its memory.
 *
 * @module
 */
import { isObject } from "../src/protocol/json_rpc.ts";
import type { JsonObject } from "../src/protocol/json_rpc.ts";
import { loggingLevels } from "../src/server/common/logging_levels.ts";
import { longestUri } from "../src/server/legacy/changes.ts";

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
 * @param messageOf The message of something kept.
 */
export function withMessage<Kept>(
  kept: readonly Kept[],
  next: Kept,
  messageOf: (one: Kept) => JsonObject | undefined,
): Kept[] {
  const message = messageOf(next);
  const subject = subjectOf(message);
  if (subject === "") return [...kept];
  const others = kept.filter((one) => subject === undefined || subjectOf(messageOf(one)) !== subject);
  return message?.method === "resources/unsubscribe" ? others : [...others, next];
}

/** What a message settles; undefined where each stands for itself, empty where it settles nothing. */
function subjectOf(message: JsonObject | undefined): string | undefined {
  const { level, uri } = isObject(message?.params) ? message.params : {};
  switch (message?.method) {
    case "logging/setLevel":
      return loggingLevels.some((known) => known === level) ? "level" : "";
    case "resources/subscribe":
    case "resources/unsubscribe":
      return typeof uri === "string" && uri !== "" && uri.length <= longestUri ? `resource ${uri}` : "";
    default:
      return undefined;
  }
}
