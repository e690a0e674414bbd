/**
 * JSON Schema as a TypeScript type. It takes no more than the schema says: what it cannot say is `unknown`.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import { plain } from "./plain.ts";

type Schema = Readonly<Record<string, unknown>>;

/** How a type is written. */
export interface TypeOptions {
  /** The root, in which `#/…` is looked up. */
  readonly root: unknown;
  /** What stands before each line but the first; undefined: all on one line. */
  readonly indent?: string | undefined;
  /** Whether descriptions become comments. */
  readonly comments?: boolean | undefined;
}

const deepest = 12;
/** The most characters that references may make, on one line and as a module: a few of them can stand for millions. */
const longest = { line: 20_000, module: 200_000 };

/** The type of a schema. */
export function typeOf(schema: unknown, options: TypeOptions): string {
  const characters = options.indent === undefined ? longest.line : longest.module;
  return write(schema, { ...options, depth: 0, seen: [], left: { characters } });
}

/** A text as a property name: with quotes where it needs some. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** A text as a literal that looks like what it is: nothing in it turns the writing direction or is invisible. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{Cf}\u007f-\u009f\u2028\u2029]/gu,
    (found) =>
      Array.from({ length: found.length }, (_, at) => "\\u" + found.charCodeAt(at).toString(16).padStart(4, "0")).join(
        "",
      ),
  );
}

/** A comment in the lines of a JSDoc block; none for nothing. */
export function comment(text: string, indent: string): string {
  // deno-lint-ignore no-control-regex
  const spaced = text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, " ");
  // What a terminal is spared goes first: taken out later, it would put the two signs together that end a comment.
  const shown = plain(spaced).replaceAll("*/", "*\\/").trim();
  if (shown === "") return "";
  const lines = shown.split("\n").map((line) => line.trimEnd());
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`, ""].join("\n");
}

interface Context extends TypeOptions {
  readonly depth: number;
  /** The references that lead here: what leads to itself is `unknown`. */
  readonly seen: readonly string[];
  /** What references may still make: what is more is `unknown`. */
  readonly left: { characters: number };
}

function write(schema: unknown, context: Context): string {
  if (schema === false) return "never";
  if (!isObject(schema) || context.depth > deepest) return "unknown";
  if (context.seen.length > 0 && context.left.characters-- <= 0) return "unknown";
  const inner = { ...context, depth: context.depth + 1 };
  if (typeof schema.$ref === "string") return referenced(schema.$ref, inner);
  if ("const" in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const branches = Array.isArray(schema.oneOf) ? schema.oneOf : Array.isArray(schema.anyOf) ? schema.anyOf : undefined;
  const parts: string[] = [];
  if (branches) parts.push(union(branches.map((branch) => write(branch, inner))));
  if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map((part) => write(part, inner)));
  const own = ownType(schema, inner);
  if (own !== "unknown" && !(branches && own === "Record<string, unknown>")) parts.unshift(own);
  const known = parts.filter((part) => part !== "unknown");
  if (known.length === 0) return "unknown";
  const type = known.length === 1 ? known[0] ?? "" : known.map((part) => grouped(part, " | ")).join(" & ");
  return schema.nullable === true ? union([type, "null"]) : type;
}

function ownType(schema: Schema, context: Context): string {
  const types = Array.isArray(schema.type)
    ? schema.type
    : schema.type === undefined
    ? impliedTypes(schema)
    : [schema.type];
  return types.length === 0 ? "unknown" : union(types.map((type) => single(String(type), schema, context)));
}

function impliedTypes(schema: Schema): string[] {
  if ("properties" in schema) return ["object"];
  return "items" in schema || "prefixItems" in schema ? ["array"] : [];
}

function single(type: string, schema: Schema, context: Context): string {
  if (type === "integer") return "number";
  if (type === "array") return arrayType(schema, context);
  if (type === "object") return objectType(schema, context);
  return ["string", "number", "boolean", "null"].includes(type) ? type : "unknown";
}

function arrayType({ items, prefixItems }: Schema, context: Context): string {
  if (Array.isArray(prefixItems)) {
    const first = prefixItems.map((item) => write(item, context));
    const rest = items === false ? [] : [`...${grouped(write(items, context), " ")}[]`];
    return `[${[...first, ...rest].join(", ")}]`;
  }
  return `${grouped(write(items, context), " ")}[]`;
}

function objectType(schema: Schema, context: Context): string {
  const { properties, patternProperties, required, additionalProperties: more } = schema;
  const entries = isObject(properties) ? Object.entries(properties) : [];
  const fitting = isObject(patternProperties) ? Object.values(patternProperties) : [];
  if (entries.length === 0) {
    const values = more === false ? fitting : [...fitting, more];
    return `Record<string, ${union(values.map((value) => write(value, context)))}>`;
  }
  const names = new Set(Array.isArray(required) ? required : []);
  const { indent, comments } = context;
  const deeper = indent === undefined ? context : { ...context, indent: `${indent}  ` };
  const members = entries.map(([name, schema]) => {
    const member = `${propertyName(name)}${names.has(name) ? "" : "?"}: ${write(schema, deeper)}`;
    if (deeper.indent === undefined) return member;
    const about = comments && isObject(schema) && typeof schema.description === "string" ? schema.description : "";
    return `${comment(about, deeper.indent)}${deeper.indent}${member};\n`;
  });
  // Others that are expressly allowed. Their types would have to fit all that have names.
  if (fitting.length > 0 || more === true || isObject(more)) {
    members.push(indent === undefined ? "[key: string]: unknown" : `${deeper.indent}[key: string]: unknown;\n`);
  }
  return indent === undefined ? `{ ${members.join("; ")} }` : `{\n${members.join("")}${indent}}`;
}

function referenced(reference: string, context: Context): string {
  if (!/^#(\/|$)/.test(reference) || context.seen.includes(reference)) return "unknown";
  let found: unknown = context.root;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  const type = write(found, { ...context, seen: [...context.seen, reference] });
  context.left.characters -= type.length;
  return type;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "string") return quoted(value);
  if (!isObject(value)) return JSON.stringify(value) ?? "unknown";
  return `{ ${Object.entries(value).map(([name, inner]) => `${propertyName(name)}: ${literal(inner)}`).join("; ")} }`;
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)];
  return all.includes("unknown") ? "unknown" : all.join(" | ") || "never";
}

/** In parentheses, where it has parts: what stands in brackets, texts and comments is none of them. */
function grouped(type: string, separator: string): string {
  let depth = 0;
  for (const [token] of type.matchAll(/"(?:[^"\\]|\\.)*"|\/\*[\s\S]*?\*\/|[{[(]|[}\])]| \| | /g)) {
    if (/^[{[(]$/.test(token)) depth++;
    else if (/^[}\])]$/.test(token)) depth--;
    else if (depth === 0 && token.startsWith(" ") && token.includes(separator)) return `(${type})`;
  }
  return type;
}
