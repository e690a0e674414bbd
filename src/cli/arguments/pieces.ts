/**
 * The arguments of a call as they were written, before the tool's schema is known.
 *
 * @module
 */
import process from "node:process";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import { UsageError } from "../failure.ts";
import { parseJson, readText } from "../read.ts";

/** One argument: a whole object, a value in JSON, or a text that the schema will explain. */
export type Piece =
  | { readonly object: JsonObject }
  | { readonly key: string; readonly value: JsonValue }
  | { readonly key: string; readonly text: string };

const mostInput = 16 * 2 ** 20;

/**
 * Reads `key=value`, `key:=json`, `@file.json`, `{…}` and `-` (the standard input), in this order: later ones win.
 *
 * @param words What was written after the tool's name.
 * @param object The value of `--args`, which comes first.
 * @param signal Gives up waiting for the standard input.
 * @throws {UsageError} When one of them cannot be read.
 */
export async function readPieces(
  words: readonly string[],
  object: string | undefined,
  signal: AbortSignal,
): Promise<Piece[]> {
  const pieces: Piece[] = object === undefined ? [] : [{ object: parseObject(object, "--args") }];
  for (const word of words) pieces.push(await readPiece(word, signal));
  return pieces;
}

async function readPiece(word: string, signal: AbortSignal): Promise<Piece> {
  if (word === "-") return { object: parseObject(await readInput(signal), "the standard input") };
  if (word.startsWith("@")) {
    const where = `the file "${word.slice(1)}"`;
    const text = await readText(word.slice(1), where);
    if (text === undefined) throw new UsageError(`Cannot read ${where}: there is no such file; correct the path`);
    return { object: parseObject(text, where) };
  }
  if (word.startsWith("{")) return { object: parseObject(word, "the argument") };
  const equals = word.indexOf("=");
  const isJson = word[equals - 1] === ":";
  const key = word.slice(0, isJson ? equals - 1 : equals);
  if (equals < 1 || key === "") {
    throw new UsageError(
      `Cannot read the argument ${
        JSON.stringify(word)
      }: write key=value, key:=json, @file.json, a JSON object, or - for the standard input`,
    );
  }
  const text = word.slice(equals + 1);
  return isJson ? { key, value: parseJson(text, `the value of "${key}"`, "correct it") } : { key, text };
}

function parseObject(text: string, where: string): JsonObject {
  const value = parseJson(text, where, "correct it");
  if (isObject(value)) return value;
  throw new UsageError(`Cannot use ${where} as arguments: expected a JSON object such as {"key": 1}`);
}

function readInput(signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  return new Promise((resolve, reject) => {
    let text = "";
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
    stdin.setEncoding("utf8");
    stdin.on("data", (chunk: string) => {
      text += chunk;
      if (text.length <= mostInput) return;
      stdin.pause();
      reject(new UsageError("Cannot read the standard input: it is longer than 16 MiB"));
    });
    stdin.on("end", () => resolve(text));
    stdin.on("error", (error) => reject(new UsageError(`Cannot read the standard input: ${error.message}`)));
  });
}
