/**
 * Where a server is, for people and for programs: never a value that a variable, a header or a query brought along.
 *
 * @module
 */
import { Redactor, urlWithoutQuery } from "../../../egress/redact.ts";
import type { ReadServer } from "../../../hub/config/mod.ts";
import { terminalWidth } from "../../terminal.ts";
import { oneLine } from "../../text/plain.ts";
import { columns } from "../../text/table.ts";

/** Where it is, as JSON. */
export interface Place {
  /** Without its query. */
  readonly url?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  /** It is named, and not used. */
  readonly disabled?: true;
}

/** What may be shown of where a server is. */
export function placeOf(server: ReadServer): Place {
  const redactor = new Redactor();
  for (const secret of server.secrets) redactor.add(secret);
  const show = (text: string): string => redactor.redact(text);
  const disabled = server.disabled === true && { disabled: true as const };
  if ("url" in server) return { url: show(urlWithoutQuery(server.url)), ...disabled };
  const { command, args = [] } = server;
  return { command: show(command), args: args.map(show), ...disabled };
}

/** The same on one line. */
export function placeText({ url, command, args = [], disabled }: Place): string {
  const text = oneLine(url ?? [command ?? "", ...args].join(" "));
  const shown = text.length > most ? text.slice(0, most - 1) + "…" : text;
  return disabled ? `${shown} (disabled)` : shown;
}

const most = 120;

/** One row of a list: a name, and what is said of it. */
export interface Row {
  readonly name: string;
  readonly text: string;
}

/** Rows below the name of their file. */
export function rowsText(file: string, rows: readonly Row[]): string {
  const width = terminalWidth();
  const cells = rows.map(({ name, text }) => [oneLine(name), text]);
  // A program reads whole lines.
  if (width !== undefined) return `${file}\n${columns(cells, width, { indent: 2, wrapsLast: true })}`;
  const column = Math.min(32, Math.max(0, ...cells.map(([name = ""]) => name.length)));
  return [file, ...cells.map(([name = "", text]) => `  ${name.padEnd(column)}  ${text}`)].map((line) => `${line}\n`)
    .join("");
}
