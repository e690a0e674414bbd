/**
 * `bun tools/run.ts build_dashboard`: makes the two modules that the dashboard is served from, of its sources: its text, and the
 * names of that. `--check` changes nothing and fails when they are not what the sources give.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { root } from "../programs.ts";

const folder = join(root, "src", "runner", "dashboard");
/** The text is read when it is asked for; its hashes are in the paths of routes. */
const targets = { text: join(folder, "page_text.ts"), hashes: join(folder, "page_hashes.ts") } as const;
/** What the page may weigh in all, gzipped, in bytes: it is loaded over phones. */
const most = 40_960;

/** Builds or checks, and answers the exit code. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...parameters], options: { check: { type: "boolean", default: false } } });
  const script = await squeeze(await bundle("main.ts"));
  const style = await bundle("style.css");
  const size = gzipSync(script, { level: 9 }).byteLength + gzipSync(style, { level: 9 }).byteLength;
  console.log(`script ${script.length}, style ${style.length}, gzip ${size} of ${most}`);
  if (size > most) {
    console.log(`FAILED: the page is ${size - most} bytes larger than it may be`);
    return 1;
  }
  const unsafe = /\.(innerHTML|outerHTML|insertAdjacentHTML|srcdoc)\b|document\.write|\beval\(|new Function|DOMParser/
    .exec(script);
  if (unsafe) {
    console.log(`FAILED: the page holds ${JSON.stringify(unsafe[0])}`);
    return 1;
  }
  const built = [[targets.text, textModule(script, style)], [targets.hashes, hashesModule(script, style)]] as const;
  if (!values.check) { for (const [target, text] of built) writeFileSync(target, text); }
  for (const [target, text] of built) {
    if (read(target) === text) continue;
    console.log(`FAILED: ${basename(target)} is not what its sources give: run bun tools/run.ts build_dashboard`);
    return 1;
  }
  return 0;
}

async function bundle(file: string): Promise<string> {
  const { build } = await import("esbuild");
  const built = await build({
    entryPoints: [join(folder, "page", file)],
    ...{ bundle: true, write: false, minify: true, format: "esm", platform: "browser", charset: "ascii" },
    // `light-dark()` and nesting stay as they are.
    target: ["chrome123", "firefox120", "safari17.5"],
    absWorkingDir: root,
    legalComments: "none",
    logLevel: "silent",
  });
  return built.outputFiles[0]?.text ?? "";
}

/** What esbuild leaves in: expressions that say the same in fewer words. */
async function squeeze(script: string): Promise<string> {
  const { minify } = await import("terser");
  const { code } = await minify(script, {
    ...{ module: true, ecma: 2020 },
    compress: { passes: 2 },
    format: { ascii_only: true },
  });
  if (code === undefined) throw new Error("terser gave no script");
  return code;
}

function textModule(script: string, style: string): string {
  const constant = (name: string, about: string, value: string): string =>
    `\n/** ${about} */\nexport const ${name}: string =\n  ${JSON.stringify(value)};\n`;
  const head = headOf("The page's script and style, which are read when somebody asks for them");
  return [head, constant("script", "The script.", script), constant("style", "The style.", style)].join("");
}

function hashesModule(script: string, style: string): string {
  const constant = (name: string, about: string, value: string): string =>
    `\n/** ${about} */\nexport const ${name}: string = ${JSON.stringify(value)};\n`;
  return [
    headOf("What the paths of the page's script and style have of them"),
    constant("scriptHash", "Of the script.", hashOf(script)),
    constant("styleHash", "Of the style.", hashOf(style)),
  ].join("");
}

function headOf(what: string): string {
  return `// deno-fmt-ignore-file\n/**\n * ${what}. Made of \`page/\` by \`bun tools/run.ts build_dashboard\`: nothing here is\n * written by hand.\n *\n * @module\n */\n`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
