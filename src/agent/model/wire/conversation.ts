/**
 * A conversation as all endpoints take it.
 *
 * @module
 */
import { wellFormed } from "../../../hub/models/well_formed.ts";
import type { LanguageModelMessage } from "../seam.ts";

/** What an answer says that said nothing. */
const nothing = "(no answer)";

/**
 * Makes a conversation that no endpoint refuses for its form. System messages that follow each other are one: the templates of many
 * local models take no second one. Those without words are left out. An answer with neither words nor calls has a word, and blanks
 * beside calls are none: several endpoints refuse texts without words. Half characters are whole ones.
 */
export function soundConversation(messages: readonly LanguageModelMessage[]): LanguageModelMessage[] {
  const sound: LanguageModelMessage[] = [];
  for (const message of wellFormed(messages)) {
    const { role } = message;
    const last = sound.at(-1);
    if (role === "assistant" && isBlank(message.content)) {
      sound.push({ ...message, content: message.toolCalls?.length ? "" : nothing });
    } else if (role !== "system") sound.push(message);
    else if (isBlank(message.content)) continue;
    else if (last?.role === "system") {
      sound.splice(-1, 1, { role, content: `${last.content}\n\n${message.content}` });
    } else sound.push(message);
  }
  return sound;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
