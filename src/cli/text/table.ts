/**
 * Text in columns that fits the terminal it is for.
 *
 * @module
 */

/** Below so many columns there is room for one thing on a line. */
const narrow = 60;

/** Breaks a text into lines of at most `width` characters, at spaces where there are some. */
export function wrap(text: string, width: number): string[] {
  const most = Math.max(8, width);
  const lines: string[] = [];
  for (let rest of text.split("\n")) {
    while (rest.length > most) {
      const space = rest.lastIndexOf(" ", most);
      const cut = space > 0 ? space : most;
      lines.push(rest.slice(0, cut).trimEnd());
      rest = rest.slice(cut).trimStart();
    }
    lines.push(rest);
  }
  return lines;
}

/** Lines of a term and what is said of it: beside each other, or where that has no room, below each other. */
export function pairs(rows: readonly (readonly [term: string, about: string])[], width: number): string {
  if (width < narrow) {
    return rows.map(([term, about]) => [...wrap(`  ${term}`, width), ...indent(about, 6, width)].join("\n") + "\n")
      .join("");
  }
  const column = Math.min(30, Math.max(0, ...rows.map(([term]) => term.length)));
  return rows.map(([term, about]) => {
    const lines = indent(about, column + 4, width);
    const first = `  ${term.padEnd(column)}  `;
    if (term.length > column) return [first.trimEnd(), ...lines].join("\n") + "\n";
    return (first + lines.join("\n").trimStart()).trimEnd() + "\n";
  }).join("");
}

/**
 * Rows in aligned columns. What is too wide for the terminal is cut in its widest column.
 *
 * @param rows The cells, on one line each.
 * @param width The columns of the terminal; undefined: nothing is cut.
 */
export function columns(rows: readonly (readonly string[])[], width: number | undefined): string {
  const widths = widthsOf(rows);
  if (width !== undefined) {
    const gaps = 2 * (widths.length - 1);
    for (let over = sum(widths) + gaps - width; over > 0; over--) {
      const widest = widths.indexOf(Math.max(...widths));
      if ((widths[widest] ?? 0) <= 6) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
    }
  }
  return rows.map((row) => row.map((cell, at) => fit(cell, widths[at] ?? 0)).join("  ").trimEnd() + "\n").join("");
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function fit(cell: string, width: number): string {
  return cell.length > width ? cell.slice(0, Math.max(0, width - 1)) + "…" : cell.padEnd(width);
}

function indent(text: string, by: number, width: number): string[] {
  return text === "" ? [] : wrap(text, width - by).map((line) => " ".repeat(by) + line);
}
