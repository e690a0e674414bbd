/**
 * Text in columns that fits the terminal it is for.
 *
 * @module
 */

import { cut, padded, widthOf } from "./width.ts";

/** Below so many columns there is room for one thing on a line. */
const narrow = 60;

/** Breaks a text into lines of at most `width` columns, at spaces where there are some. */
export function wrap(text: string, width: number): string[] {
  const most = Math.max(8, width);
  const lines: string[] = [];
  for (let rest of text.split("\n")) {
    for (let fits = cut(rest, most); fits.length < rest.length; fits = cut(rest, most)) {
      const space = rest.lastIndexOf(" ", fits.length);
      const end = space > 0 ? space : fits.length;
      lines.push(rest.slice(0, end).trimEnd());
      rest = rest.slice(end).trimStart();
    }
    lines.push(rest);
  }
  return lines;
}

/**
 * Lines of a term and what is said of it: beside each other, or where that has no room, below each other.
 *
 * @param column How wide the terms may be (as the longest, 30 at most).
 */
export function pairs(
  rows: readonly (readonly [term: string, about: string])[],
  width: number,
  column: number = Math.min(30, Math.max(0, ...rows.map(([term]) => widthOf(term)))),
): string {
  if (width < narrow) {
    return rows.map(([term, about]) => [...wrap(`  ${term}`, width), ...indent(about, 6, width)].join("\n") + "\n")
      .join("");
  }
  return rows.map(([term, about]) => {
    const lines = indent(about, column + 4, width);
    const first = `  ${padded(term, column)}  `;
    if (widthOf(term) > column) return [first.trimEnd(), ...lines].join("\n") + "\n";
    return (first + lines.join("\n").trimStart()).trimEnd() + "\n";
  }).join("");
}

/** How columns become narrow. */
export interface ColumnOptions {
  /** Spaces before each line (0). */
  readonly indent?: number;
  /** The last column goes on below itself, where others are cut. */
  readonly wrapsLast?: boolean;
}

/**
 * Rows in aligned columns. What is too wide for the terminal is cut in its widest column, or goes on below.
 *
 * @param rows The cells, on one line each.
 * @param width The columns of the terminal; undefined: nothing is cut.
 */
export function columns(
  rows: readonly (readonly string[])[],
  width: number | undefined,
  { indent: by = 0, wrapsLast = false }: ColumnOptions = {},
): string {
  const widths = widthsOf(rows);
  const last = widths.length - 1;
  if (width !== undefined) {
    const room = width - by - 2 * last;
    if (wrapsLast) widths[last] = Math.min(widths[last] ?? 0, Math.max(leastWrapped, room - sum(widths.slice(0, -1))));
    for (let over = sum(widths) - room; over > 0; over--) {
      const widest = widths.indexOf(Math.max(...widths.slice(0, wrapsLast ? -1 : undefined)));
      if ((widths[widest] ?? 0) <= 6) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
    }
  }
  return rows.map((row) => {
    const cells = row.map((cell, at) =>
      wrapsLast && at === last ? [...wrap(cell, widths[at] ?? 0)] : [fit(cell, widths[at] ?? 0)]
    );
    const under = " ".repeat(by + sum(widths.slice(0, -1)) + 2 * last);
    const [first = "", ...more] = cells[last] ?? [];
    const head = [...cells.slice(0, last).map(([cell = ""]) => cell), first].join("  ");
    return [" ".repeat(by) + head, ...more.map((line) => under + line)].map((line) => `${line.trimEnd()}\n`).join("");
  }).join("");
}

/** A line, and rows in aligned columns below it: what is too wide for the terminal goes on below itself. */
export function headed(head: string, rows: readonly (readonly string[])[], width: number): string {
  return `${wrap(head, width - 2).join("\n  ")}\n${columns(rows, width, { indent: 4, wrapsLast: true })}`;
}

/** A column that goes on below has at least so much room. */
const leastWrapped = 16;

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function fit(cell: string, width: number): string {
  return padded(widthOf(cell) > width ? cut(cell, Math.max(0, width - 1)) + "…" : cell, width);
}

/** The lines of a text behind so many spaces. */
export function indent(text: string, by: number, width: number): string[] {
  return text === "" ? [] : wrap(text, width - by).map((line) => " ".repeat(by) + line);
}
