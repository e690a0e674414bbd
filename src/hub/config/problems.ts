/**
 * Gathers what is wrong with a config.
 *
 * @module
 */
import { plain } from "../../egress/redact.ts";
import type { ConfigProblem, ConfigProblemCode } from "./types.ts";

const mostProblems = 200;

/** What a problem is about. */
export interface ProblemPlace {
  /** The names that lead to it, from the top of the file. */
  readonly path?: readonly string[] | undefined;
  readonly server?: string | undefined;
  /** The part of `path` below the server. */
  readonly field?: readonly string[] | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** The problems of one file. 200 are kept, so that a hostile file stays cheap. */
export class Problems {
  readonly #source: string;
  readonly #list: ConfigProblem[] = [];
  #errors = 0;
  #warnings = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /**
   * Adds one.
   *
   * @param say What is wrong and what to do, without the place. It is not asked when there are too many.
   */
  add(
    severity: "error" | "warning",
    code: ConfigProblemCode,
    { path = [], server, field, line, column }: ProblemPlace,
    say: () => string,
  ): void {
    if (this.#list.length >= mostProblems) {
      if (severity === "error") this.#errors++;
      else this.#warnings++;
      return;
    }
    const source = plain(this.#source, 300);
    const at = line === undefined ? "" : `:${line}:${column}`;
    const where = path.length > 0 ? `: ${pathText(path)}` : "";
    this.#list.push({
      severity,
      code,
      source: this.#source,
      ...(server !== undefined && { server }),
      ...(field && { field: pathText(field) }),
      ...(line !== undefined && { line, column }),
      message: `${source}${at}${where}: ${say()}`,
    });
  }

  /** All of them, and how many more there were. */
  list(): readonly ConfigProblem[] {
    const more = this.#errors + this.#warnings;
    if (more === 0) return this.#list;
    const severity = this.#errors > 0 ? "error" : "warning";
    const message = `${plain(this.#source, 300)}: ${more} more problems: correct these first`;
    return [...this.#list, { severity, code: "more", source: this.#source, message }];
  }
}

/** A path as one writes it in JavaScript: `mcpServers.github.args[0]`. */
function pathText(path: readonly string[]): string {
  return path.map((part, index) => {
    if (/^\d{1,9}$/.test(part) && index > 0) return `[${part}]`;
    if (!/^[\w-]{1,60}$/.test(part)) return `[${quoted(part)}]`;
    return index > 0 ? `.${part}` : part;
  }).join("");
}

/** The start of a text in quotes, fit for one line of a terminal. */
export function quoted(text: string): string {
  return JSON.stringify(plain(text, 60));
}

/** What a value is, without showing it. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value === "" ? "an empty text" : "a text";
  if (typeof value === "number" || typeof value === "bigint") return "a number";
  return typeof value === "boolean" ? String(value) : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
