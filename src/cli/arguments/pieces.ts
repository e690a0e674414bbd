/**
 * The arguments of a call as they were written, before the tool's schema is known.
 *
 * @module
 */
import process from "node:process";
import { type Piece, readObject, readPiece as readArgument } from "../../protocol/arguments/piece.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { UsageError } from "../failure.ts";
import { readText } from "../read.ts";
import { asUsage } from "./values.ts";

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
  const piece = asUsage(() => readArgument(word));
  if (piece) return piece;
  throw new UsageError(
    `Cannot read the argument ${
      JSON.stringify(word)
    }: write key=value, key:=json, @file.json, a JSON object, or - for the standard input`,
  );
}

function parseObject(text: string, where: string): JsonObject {
  return asUsage(() => readObject(text, where));
}

/** All of the standard input. */
export function readInput(signal: AbortSignal): Promise<string> {
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
