/**
 * How the model is to answer in one run, checked before anything is kept.
 *
 * @module
 */
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import type { AnswerSettings } from "./seam.ts";

/**
 * Looks at settings, and leaves out what is none.
 *
 * @returns Undefined where nothing is said.
 * @throws {TypeError} When one makes no sense.
 */
export function checkSettings(settings: AnswerSettings | undefined): AnswerSettings | undefined {
  if (settings === undefined) return undefined;
  if (!isObject(settings)) throw new TypeError(`"settings" is ${JSON.stringify(settings)}, expected an object`);
  const { temperature, maxOutputTokens, stopSequences } = settings as AnswerSettings;
  if (temperature !== undefined && !(typeof temperature === "number" && temperature >= 0 && temperature <= 2)) {
    throw wrong("temperature", temperature, "a number from 0 to 2");
  }
  if (maxOutputTokens !== undefined && !(Number.isSafeInteger(maxOutputTokens) && maxOutputTokens >= 1)) {
    throw wrong("maxOutputTokens", maxOutputTokens, "a whole number, 1 or more");
  }
  if (stopSequences !== undefined && !(isTexts(stopSequences) && stopSequences.every((text) => text !== ""))) {
    throw wrong("stopSequences", stopSequences, "texts");
  }
  const checked: AnswerSettings = {
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(stopSequences && stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
  };
  return Object.keys(checked).length > 0 ? checked : undefined;
}

function wrong(name: keyof AnswerSettings, value: unknown, expected: string): TypeError {
  return new TypeError(`"settings.${name}" is ${JSON.stringify(value) ?? String(value)}, expected ${expected}`);
}
