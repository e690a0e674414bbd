/** Every mistake of the tables has one helpful message, its exit code, and no stack trace. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { commandTable } from "../../../src/cli/program/commands.ts";
import { skip as withoutSqlite } from "../../agent/runs/support/database.ts";
import { arguments_ } from "./table/arguments.ts";
import { configs } from "./table/configs.ts";
import { files } from "./table/files.ts";
import { machine } from "./table/machine.ts";
import type { Mistake } from "./mistake.ts";
import { programs } from "./table/programs.ts";
import { make } from "./run.ts";
import { openSurroundings } from "./surroundings.ts";
import { signIns } from "./table/sign_ins.ts";
import { urls } from "./table/urls.ts";
import { verbs } from "./table/verbs.ts";
import { words } from "./table/words.ts";

const tables = { words, arguments_, programs, urls, configs, signIns, files, verbs, machine };
const all: readonly Mistake[] = Object.values(tables).flat();

describe("mistakes", { concurrency: false }, () => {
  test("are numbered, and each verb has one", () => {
    assertEquals(all.map(({ number }) => number), all.map((_, at) => at + 1));
    assert(all.length >= 40);
    const without = commandTable.filter(({ name }) => !all.some(({ typed }) => typed.includes(`causeway ${name}`)));
    assertEquals(without.map(({ name }) => name), []);
  });

  for (
    const [name, mistakes] of Object.entries(tables).flatMap(([name, all]) =>
      parts(all).map((part) => [name, part] as const)
    )
  ) {
    test(`${name.replace("_", "")}: ${mistakes[0]?.number} to ${mistakes.at(-1)?.number}`, async () => {
      await using surroundings = await openSurroundings();
      // A few at a time: they share the machine with the other runtimes.
      const entries = mistakes.filter((mistake) => isMade(mistake, name)).values();
      const failures: unknown[] = [];
      await Promise.all([1, 2, 3].map(async () => {
        for (const mistake of entries) {
          await make(mistake, surroundings.variables).catch((error: unknown) => failures.push(error));
        }
      }));
      const told = failures.map((error) => error instanceof Error ? error.message : String(error));
      assertEquals(told.join("\n\n"), "");
    });
  }
});

/** All on Bun; where no runtime has words of its own, one of three on Deno and another one on Node, which take longer to begin. */
function isMade({ number, needs }: Mistake, table: string): boolean {
  if (needs !== undefined && withoutSqlite !== false) return false;
  if ("Bun" in globalThis || !["words", "arguments_", "configs", "verbs"].includes(table)) return true;
  return number % 3 === ("Deno" in globalThis ? 0 : 1);
}

/** So many at a time that a test has its time on a busy machine. */
function parts(mistakes: readonly Mistake[]): Mistake[][] {
  return Array.from({ length: Math.ceil(mistakes.length / 10) }, (_, at) => mistakes.slice(at * 10, at * 10 + 10));
}
