/**
 * The arguments of a call as they were written, before the tool's schema is known.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import process from "node:process";
import { isObject } from "../../protocol/json_rpc.ts";
import { type Piece, readPiece as readArgument } from "../../protocol/arguments/piece.ts";
import { refuseInexact } from "../../protocol/arguments/exact.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import { UsageError } from "../failure.ts";
import { asUsage } from "./values.ts";
import { decodeText, mostInput, readText } from "../read.ts";

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
  if (words.filter((word) => word === "-").length > 1) {
    throw new UsageError("Cannot read the standard input twice: write - once");
  }
  const pieces: Piece[] = object === undefined ? [] : [{ object: await parseObject(object, "--args") }];
  for (const [at, word] of words.entries()) {
    refuseSpaces(words.slice(Math.max(0, at - 1)), at > 0);
    pieces.push(await readPiece(word, signal));
  }
  return pieces;
}

/** `key = value`, `key =value` and `key= value` are three words, or two, for a shell. */
function refuseSpaces([...words]: readonly string[], hasBefore: boolean): void {
  const before = hasBefore ? words.shift() : undefined;
  const [word = "", next = "", last = ""] = words;
  const apart = !word.includes("=") && next.startsWith("=")
    ? [word, next, ...(next === "=" ? [last] : [])]
    : before?.endsWith("=") && isBare(word)
    ? [before, word]
    : undefined;
  if (!apart) return;
  throw new UsageError(
    `Cannot read the argument ${JSON.stringify(apart.join(" "))}: write ${
      apart.join("")
    }, without spaces around the "="`,
  );
}

function isBare(word: string): boolean {
  return !word.includes("=") && word !== "-" && !/^[@{]/.test(word);
}

async function readPiece(word: string, signal: AbortSignal): Promise<Piece> {
  if (word === "-") return { object: await parseObject(await readInput(signal), "the standard input") };
  if (word.startsWith("@")) {
    const where = `the file "${word.slice(1)}"`;
    const text = await readText(word.slice(1), where);
    if (text === undefined) throw new UsageError(`Cannot read ${where}: there is no such file; correct the path`);
    return { object: await parseObject(text, where) };
  }
  if (word.startsWith("{")) return { object: await parseObject(word, "the argument") };
  const [, key, json = ""] = /^([^=]+):=(.*)$/s.exec(word) ?? [];
  if (key !== undefined) {
    return { key, value: await parseJson(json, `the value of "${key}"`, `write ${key}=… for a text`) };
  }
  const piece = readArgument(word);
  if (piece) return piece;
  throw new UsageError(
    `Cannot read the argument ${
      JSON.stringify(word)
    }: write key=value, key:=json, @file.json, a JSON object, or - for the standard input`,
  );
}

async function parseObject(text: string, where: string): Promise<JsonObject> {
  const value = await parseJson(text, where, adviceFor(text, where));
  if (isObject(value)) return value;
  throw new UsageError(`Cannot use ${where} as arguments: expected a JSON object such as {"key": 1}`);
}

/** What went wrong is told in our own words, with its place: those of the runtimes differ. */
async function parseJson(text: string, where: string, advice: string): Promise<JsonValue> {
  const plain = text.replace(/^\uFEFF/, "");
  if (plain.trim() === "") {
    throw new UsageError(`Cannot read ${where}: there is nothing in it; expected JSON such as {"key": 1}`);
  }
  try {
    const value: JsonValue = JSON.parse(plain);
    asUsage(() => refuseInexact(plain));
    return value;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { parseJsonc } = await import("../../hub/config/jsonc.ts");
    const read = parseJsonc(plain);
    const why = "fault" in read
      ? `${read.fault.line}:${read.fault.column}: ${read.fault.what}`
      : "comments, and commas before a closing bracket, are for configs alone";
    throw new UsageError(`Cannot read ${where}: it is not JSON (${why}); ${advice}`);
  }
}

/** What shells do to quotes: some hand them on, others eat them. */
function adviceFor(text: string, where: string): string {
  const isTyped = where === "--args" || where === "the argument";
  if (isTyped && /^['\u2018-\u201f]/.test(text)) {
    return 'this shell hands such quotes on: write "{\\"key\\":1}", or @file.json';
  }
  if (isTyped && /^\{\s*[A-Za-z_]\w*\s*:/.test(text)) {
    return `put it into single quotes, as in '{"key": 1}', or write @file.json`;
  }
  return "correct it";
}

/** All of the standard input. */
export function readInput(signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
    stdin.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size <= mostInput) return;
      stdin.pause();
      reject(new UsageError("Cannot read the standard input: it is longer than 16 MiB"));
    });
    stdin.on("end", () => {
      try {
        resolve(decodeText(Buffer.concat(chunks), "the standard input"));
      } catch (error) {
        reject(error);
      }
    });
    stdin.on("error", (error) => reject(new UsageError(`Cannot read the standard input: ${error.message}`)));
  });
}
