/**
 * A program for Bun, Deno and Node: `measure.ts <URL of the test server> <times>` prints one JSON array of `Measured`: the
 * faults over HTTP, then those of processes.
 */
import process from "node:process";
import { connectProgram, hostileProgram } from "../support/processes.ts";
import { type Measured, measureLoopback, nameOf } from "../support/measure.ts";

const [base = "", times = "5"] = process.argv.slice(2);
const measured = await measureLoopback(base, Number(times));
for (const era of ["modern", "legacy"] as const) {
  for (
    const name of [
      "kill",
      "exit",
      "grandchild",
      "grandchild-kill",
      "close-output",
      "truncated-line",
      "result-and-error",
    ]
  ) {
    measured.push(await measureProcess(name, era, Number(times)));
  }
}
process.stdout.write(JSON.stringify(measured) + "\n", () => process.exit(0));

async function measureProcess(name: string, era: "modern" | "legacy", count: number): Promise<Measured> {
  const ends = new Set<string>();
  const took: number[] = [];
  for (let index = 0; index < count; index++) {
    const program = hostileProgram(name, era);
    const client = await connectProgram(program);
    const startedAt = performance.now();
    ends.add(await client.callTool("echo", { text: "hi" }).then(() => "resolves", nameOf));
    took.push(performance.now() - startedAt);
    await client.close();
    program.remove();
  }
  return { name: `process ${name}`, era, ends: [...ends].join(" or "), took };
}
