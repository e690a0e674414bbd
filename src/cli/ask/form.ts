/**
 * How a question of a server is put: a form field by field, or a page to visit.
 *
 * @module
 */
import type { JsonValue } from "../../protocol/json_rpc.ts";
import { createSchemaValidator, formatChecks } from "../../protocol/json_schema/mod.ts";
import type { ElicitationField, ElicitRequest, ElicitResult } from "../../protocol/mod.ts";
import { readValue } from "../../protocol/arguments/values.ts";
import { firstLine, oneLine } from "../text/plain.ts";
import { typesOf } from "../../protocol/arguments/schema.ts";
import { typeText } from "../text/schema.ts";
import { readUrl } from "../../egress/url.ts";

/** A person who can be told and asked something. */
export interface Terminal {
  say(text: string): Promise<void>;
  /**
   * One line; undefined when the person has closed the input.
   *
   * @param isConsent Whether it has to be typed behind the question.
   */
  ask(question: string, isConsent?: boolean): Promise<string | undefined>;
}

/** Goes through a form. The end of the input (Ctrl-D) is a cancel, a "no" at the start a decline. */
export async function fillForm(request: ElicitRequest, server: string, terminal: Terminal): Promise<ElicitResult> {
  await terminal.say(`"${oneLine(server)}" asks: ${request.message}\n`);
  const consent = await askYes(`Answer${whose(request.message, server)}? [Y/n] `, true, terminal);
  if (consent !== true) return { action: consent === false ? "decline" : "cancel" };
  const { properties = {}, required = [] } = request.requestedSchema ?? {};
  const content: [string, JsonValue][] = [];
  for (const [name, field] of Object.entries(properties)) {
    const value = await askField(name, field, { required: required.includes(name), terminal });
    if (value === undefined) return { action: "cancel" };
    if (value.given !== undefined) content.push([name, value.given]);
  }
  return { action: "accept", content: Object.fromEntries(content) };
}

/** Shows where a server wants the person to go. Nothing is opened: that is for the person to do. */
export async function visitPage(request: ElicitRequest, server: string, terminal: Terminal): Promise<ElicitResult> {
  const url = oneLine(request.url ?? "");
  const host = readUrl(url)?.host ?? "an unreadable address";
  await terminal.say(`"${oneLine(server)}" asks you to visit a page at ${host}: ${request.message}\n  ${url}\n`);
  const whom = whose(request.message + url, server);
  const consent = await askYes(`Do you go there${whom && ` for${whom}`}? [y/N] `, false, terminal);
  return { action: consent === undefined ? "cancel" : consent ? "accept" : "decline" };
}

/** Who asks, for a question: where the lines above it may have pushed that off the screen, or tell of somebody else. */
export function whose(text: string, name: string, lines = 1): string {
  return text.length > 500 || text.split("\n").length > lines ? ` "${oneLine(name)}"` : "";
}

/** Asks until it is a yes, a no, nothing (`otherwise`) or the end of the input (undefined). */
export async function askYes(question: string, otherwise: boolean, terminal: Terminal): Promise<boolean | undefined> {
  for (;;) {
    const answer = (await terminal.ask(question, true))?.trim().toLowerCase();
    if (answer === undefined) return undefined;
    if (answer === "") return otherwise;
    if (/^(y|yes|n|no)$/.test(answer)) return answer.startsWith("y");
  }
}

/** Asks until the answer fits. Undefined: the input has ended; `given: undefined`: left out, so that the default counts. */
async function askField(
  name: string,
  field: ElicitationField,
  { required, terminal }: { required: boolean; terminal: Terminal },
): Promise<{ given: JsonValue | undefined } | undefined> {
  const label = oneLine(field.title ?? name);
  const about = firstLine(field.description ?? "");
  const fallback = field.default === undefined
    ? required ? "" : " [skip]"
    : ` [${oneLine(JSON.stringify(field.default))}]`;
  const question = `  ${label} (${[fieldType(field), about].filter(Boolean).join(": ")})${fallback}: `;
  const check = createSchemaValidator({ formats: formatChecks })(field);
  for (;;) {
    const answer = await terminal.ask(question);
    if (answer === undefined) return undefined;
    if (answer.trim() === "" && (field.default !== undefined || !required)) return { given: undefined };
    const read = readField(answer, field);
    if ("wrong" in read) {
      await terminal.say(`  ${read.wrong}\n`);
      continue;
    }
    const checked = check(read.value);
    if (checked.valid) return { given: read.value };
    await terminal.say(`  ${checked.issues[0]?.message ?? "This does not fit"}\n`);
  }
}

function fieldType(field: ElicitationField): string {
  const titles = optionsOf(field).map(({ title }) => title);
  const example = examples.get(field.format);
  if (titles.length === 0) return example === undefined ? typeText(field) : `${field.format}, as ${example}`;
  const choices = oneLine(titles.join(" | "));
  return field.type === "array" ? `some of ${choices}, with commas between` : choices;
}

/** How what has a format is written: nobody guesses that of a time. */
const examples: ReadonlyMap<unknown, string> = new Map([
  ["email", "ada@example.com"],
  ["uri", "https://example.com"],
  ["date", "2026-01-31"],
  ["date-time", "2026-01-31T12:00:00Z"],
]);

/** The value of an answer, or what is wrong with it. */
function readField(answer: string, field: ElicitationField): { value: JsonValue } | { wrong: string } {
  try {
    return { value: fieldValue(answer, field) };
  } catch (error) {
    if (error instanceof TypeError) return { wrong: error.message };
    throw error;
  }
}

/** Several choices are separated by commas; yes and no stand for true and false. */
function fieldValue(answer: string, field: ElicitationField): JsonValue {
  const text = answer.trim();
  const options = optionsOf(field);
  if (field.type === "array") return chooseSeveral(text.split(","), options);
  if (typesOf(field).has("boolean") && /^(y|yes|n|no)$/i.test(text)) return /^y/i.test(text);
  return readValue(choose(text, options) ?? text, field);
}

/** A choice may be named by its title or its value. What is shown counts first: it may be the value of another one. */
function choose(word: string, options: readonly Option[]): string | undefined {
  const lower = word.toLowerCase();
  const found = options.find(({ title }) => title === word) ?? options.find(({ value }) => value === word) ??
    options.find(({ title }) => title.toLowerCase() === lower);
  return found?.value;
}

/** A comma may be a part of a choice, too: the longest that is one counts. */
function chooseSeveral(parts: readonly string[], options: readonly Option[]): string[] {
  const chosen: string[] = [];
  let most = 1;
  for (const { title, value } of options) most = Math.max(most, title.split(",").length, value.split(",").length);
  for (let at = 0; at < parts.length;) {
    let end = Math.min(parts.length, at + most);
    let value: string | undefined;
    for (; end > at && value === undefined; end--) value = choose(parts.slice(at, end).join(",").trim(), options);
    const word = parts[at]?.trim() ?? "";
    if (value !== undefined) chosen.push(value);
    else if (word !== "") chosen.push(word);
    at = value === undefined ? at + 1 : end + 1;
  }
  return chosen;
}

/** One of the choices of a field. */
interface Option {
  readonly value: string;
  /** As it is shown. */
  readonly title: string;
}

/** The choices of a field, in the shapes that the revisions have for them. */
function optionsOf(field: ElicitationField): Option[] {
  const source = field.type === "array" ? Object(field.items) : field;
  const titled: unknown = source.oneOf ?? source.anyOf;
  if (Array.isArray(titled)) {
    return titled.map((option) => ({
      value: String(option?.const),
      title: oneLine(String(option?.title ?? option?.const)),
    }));
  }
  const names: unknown[] = Array.isArray(source.enumNames) ? source.enumNames : [];
  const values: unknown[] = Array.isArray(source.enum) ? source.enum : [];
  return values.map((value, index) => ({ value: String(value), title: oneLine(String(names[index] ?? value)) }));
}
