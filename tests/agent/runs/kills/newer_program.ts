/**
 * What makes a newer program of one that keeps runs: another agent, and one migration more.
 *
 * @module
 */
import { assert } from "@std/assert";
import type { BuildOptions } from "esbuild";
import { readFile } from "node:fs/promises";

/** The migration that it brings: old programs go on beside it, and new ones cannot be started any more. */
const statements = [
  "alter table agent_runs add column note text not null default 'none'",
  "create index agent_runs_note on agent_runs (note)",
  "update agent_steps set attempt = attempt + 0",
];

/** Options of esbuild. */
export const newerProgram: BuildOptions = {
  define: { "globalThis.CODE_VERSION": "2" },
  plugins: [{
    name: "newer tables",
    setup(build) {
      build.onLoad({ filter: /runs\/tables\/schema\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        const parts = text.split("\n]];\n");
        assert(parts.length === 2, "the migrations end where they are looked for");
        return { contents: parts.join(`\n], ${JSON.stringify(statements)}];\n`), loader: "ts" };
      });
    },
  }],
};
