/** Reads the JUnit reports of `bun test` and `deno test`. */
import { existsSync, readFileSync } from "node:fs";
import type { TestOutcome } from "./results.ts";

/** The test cases of a report file; none when the runtime died before it wrote one. */
export function readJunit(file: string): TestOutcome[] {
  return existsSync(file) ? parseJunit(readFileSync(file, "utf8")) : [];
}

/** The test cases of a report, each with its suites before its name. */
export function parseJunit(xml: string): TestOutcome[] {
  const outcomes: TestOutcome[] = [];
  const pattern = /<testcase((?:\s+[\w:-]+="[^"]*")*)\s*(?:\/>|>([\s\S]*?)<\/testcase>)/g;
  for (const [, attributeText = "", body = ""] of xml.matchAll(pattern)) {
    const attributes = parseAttributes(attributeText);
    const group = attributes.get("classname") ?? "";
    const file = attributes.get("file") ?? (group.endsWith(".ts") && !group.startsWith("ext:") ? group : undefined);
    const name = attributes.get("name") ?? "";
    const suite = group === "" || group === file || group.startsWith("ext:") ? "" : `${group} > `;
    const time = attributes.get("time");
    const duration = time === undefined ? {} : { milliseconds: Number(time) * 1000 };
    outcomes.push({ name: suite + name, file: file?.replace(/^\.\//, ""), ...parseBody(body), ...duration });
  }
  return outcomes;
}

function parseBody(body: string): Pick<TestOutcome, "status" | "detail"> {
  const found = /<(failure|error|skipped)((?:\s+[\w:-]+="[^"]*")*)\s*(?:\/>|>([\s\S]*?)<\/\1>)/.exec(body);
  if (found === null) return { status: "passed" };
  const [, kind, attributeText = "", text = ""] = found;
  const message = parseAttributes(attributeText).get("message") ?? "";
  if (kind === "skipped") return { status: "skipped", detail: message };
  const written = unescapeXml(text);
  return { status: "failed", detail: written.includes(message) || message === "" ? written : `${message}\n${written}` };
}

function parseAttributes(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, key = "", value = ""] of text.matchAll(/([\w:-]+)="([^"]*)"/g)) attributes.set(key, unescapeXml(value));
  return attributes;
}

function unescapeXml(text: string): string {
  const names: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (whole, decimal, hexadecimal, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
    return names[name] ?? whole;
  });
}
