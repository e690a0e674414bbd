/** What a new user types, by what their machine has. */

/** One line, and what it has to say. */
export interface Step {
  readonly title: string;
  readonly line: string;
  /** Written in the place of a line. */
  readonly file?: string;
  readonly expected: RegExp;
}

/** A machine with one runtime. */
export interface Machine {
  readonly name: "npm" | "bun" | "deno";
  readonly steps: readonly Step[];
  /** Files of the user's own project, by their paths. */
  readonly files: Readonly<Record<string, string>>;
}

const clone: Step = { title: "clone", line: "git clone -q $CLONE causeway", expected: /^/ };
const demo = /\d+ steps right, 0 wrong, \d+ skipped/;
const sum = /The sum of 1 and 2 is 3\./;
/** Deno looks at the system's certificates: the registry may be behind a proxy. */
export const certificates = { DENO_TLS_CA_STORE: "system" } as const;
const everything = "@modelcontextprotocol/server-everything@2026.8.31";

function step(line: string, expected: RegExp = /^/): Step {
  return { title: line, line, expected };
}

function file(path: string): Step {
  return { title: path, line: "", file: path, expected: /^/ };
}

/** A program that calls a tool. Node 20 does not know `await using`. */
function app(command: object, isOld = false): string {
  return `import { connect } from "@causeway/mcp/local";

${isOld ? "const" : "await using"} client = await connect(${JSON.stringify(command)});
const { content } = await client.callTool("get-sum", { a: 1, b: 2 });
console.log(content);
${isOld ? "await client.close();\n" : ""}`;
}

/** Each with its way into the demo, the command and a project of one's own. */
export const machines: readonly Machine[] = [
  {
    name: "npm",
    steps: [
      clone,
      step("npx -y bun@1.4.4 run demo", demo),
      step(`npx -y bun@1.4.4 run causeway call "npx -y ${everything}" get-sum a=1 b=2`, sum),
      file("app/package.json"),
      file("app/app.mjs"),
      step("npx -y bun@1.4.4 run build-package", /files of @causeway\/mcp/),
      step("cd app && npm install --silent --install-links ../causeway/dist/npm"),
      step("cd app && node app.mjs", sum),
    ],
    files: {
      "app/package.json": `{ "name": "app", "type": "module", "private": true }\n`,
      "app/app.mjs": app({ command: "npx", args: ["-y", everything] }, true),
    },
  },
  {
    name: "bun",
    steps: [
      clone,
      step("bun run demo", demo),
      step(`bun run causeway call "bunx ${everything}" get-sum a=1 b=2`, sum),
      step("bun link"),
      file("app/package.json"),
      file("app/app.ts"),
      step("cd app && bun link @causeway/mcp"),
      step("cd app && bun app.ts", sum),
    ],
    files: {
      "app/package.json": `{ "name": "app", "type": "module", "private": true }\n`,
      "app/app.ts": app({ command: "bunx", args: [everything] }),
    },
  },
  {
    name: "deno",
    steps: [
      clone,
      step("deno task demo", demo),
      step(`deno run -A src/cli/main.ts call "deno run -A npm:${everything} stdio" get-sum a=1 b=2`, sum),
      file("app/deno.json"),
      file("app/app.ts"),
      step("cd app && deno run -A app.ts", sum),
    ],
    files: {
      "app/deno.json": `{ "imports": { "@causeway/mcp": "jsr:@causeway/mcp@^0.1.0" }, "links": ["../causeway"] }\n`,
      "app/app.ts": app({ command: "deno", args: ["run", "-A", `npm:${everything}`, "stdio"], env: certificates }),
    },
  },
];
