/** The programs of a scratch project: what a user writes first. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assertSame } from "./checks.ts";

/** How the package is named in a project: with a subpath, as it stands in an import. */
export type Door = (subpath: string) => string;

/** What the program of a project says. */
interface Told {
  /** The names that each subpath gives. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** What the tool answered. */
  readonly answer: string;
}

/** The door of a package in `node_modules`. */
export function npmDoor(name: string): Door {
  return (subpath) => JSON.stringify(name + subpath.slice(1));
}

/**
 * Writes the programs: `server.mjs` serves a tool over stdio, `program.mjs` imports every subpath and calls that tool, and
 * `types.ts` is for the compiler: it needs no types but the package's own, and holds mistakes that have to be found.
 */
export function writePrograms(folder: string, door: Door, subpaths: readonly string[]): void {
  writeFileSync(join(folder, "server.mjs"), server(door));
  writeFileSync(join(folder, "program.mjs"), `${imports(door, subpaths)}\n${callOfTool(door)}`);
  writeFileSync(join(folder, "types.ts"), `${imports(door, subpaths)}\n${mistakes(door, subpaths)}`);
}

/**
 * Reads what the program of a project said.
 *
 * @param wanted The names that each subpath has to give.
 * @returns A line for people.
 * @throws {Error} When a name is missing or too much, or the tool's answer is wrong.
 */
export function judgeProgram(output: string, wanted: Told["names"]): string {
  const { names, answer }: Told = JSON.parse(output);
  assertSame("subpaths", Object.keys(names), Object.keys(wanted));
  for (const [subpath, expected] of Object.entries(wanted)) assertSame(subpath, names[subpath] ?? [], expected);
  if (answer !== "5") throw new Error(`the tool answered ${JSON.stringify(answer)} instead of "5"`);
  return `${Object.keys(names).length} subpaths, ${Object.values(names).flat().length} names, one call`;
}

function imports(door: Door, subpaths: readonly string[]): string {
  return `${subpaths.map((subpath, index) => `import * as door${index} from ${door(subpath)};`).join("\n")}
const doors = { ${subpaths.map((subpath, index) => `${JSON.stringify(subpath)}: door${index}`).join(", ")} };
const names = Object.fromEntries(Object.entries(doors).map(([subpath, found]) => [subpath, Object.keys(found)]));
`;
}

function callOfTool(door: Door): string {
  return `import process from "node:process";
import { fileURLToPath } from "node:url";
import { connect } from ${door("./local")};

const flags = "Deno" in globalThis ? ["run", "-A", "--quiet", "--no-lock"] : [];
const args = [...flags, fileURLToPath(new URL("server.mjs", import.meta.url))];
// A child gets no more of the environment than what is named: this is where Deno finds the registry again.
const env = { JSR_URL: process.env["JSR_URL"] ?? "", DENO_DIR: process.env["DENO_DIR"] ?? "" };
const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
const client = await connect({ command: process.execPath, args, env: given });
try {
  await client.listTools();
  const { content } = await client.callTool("add", { a: 2, b: 3 });
  const [first] = content;
  console.log(JSON.stringify({ names, answer: first?.type === "text" ? first.text : "" }));
} finally {
  await client.close();
}
`;
}

function server(door: Door): string {
  return `import { McpServer } from ${door("./server")};
import { serveStdio } from ${door("./local")};

const server = new McpServer({ name: "sums", version: "1.0.0" });
const number = { type: "number" };
server.tool("add", { input: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] } },
  ({ a, b }) => String(Number(a) + Number(b)));
await serveStdio(server);
`;
}

/** Types that were not found would be \`any\`: then these lines do not compile. */
function mistakes(door: Door, subpaths: readonly string[]): string {
  const known = subpaths.map((_, index) => `export const known${index}: Known<typeof door${index}> = door${index};`);
  return `import { connect } from ${door(".")};
import type { CallToolResult } from ${door(".")};

type Known<Type> = 0 extends 1 & Type ? never : Type;
${known.join("\n")}
export const all: Known<typeof names> = names;
export const client: Known<Awaited<ReturnType<typeof connect>>> = await connect("https://example.com/mcp");
export const result: Known<CallToolResult> = await client.callTool("add", { a: 2, b: 3 });
// @ts-expect-error a tool's name is a text
await client.callTool(1, {});
// @ts-expect-error there is no such option
await connect("https://example.com/mcp", { timeOut: 1 });
`;
}
