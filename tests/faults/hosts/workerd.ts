/**
 * Runs `worker.ts` in workerd, as a process of its own: `workerd.ts measure <URL of the test server> <times>` or
 * `workerd.ts bound <URL> <warm URL>`. Prints one JSON line as the programs for the other runtimes do.
 */
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const [what = "", first = "", second = ""] = process.argv.slice(2);
const entry = fileURLToPath(new URL("worker.ts", import.meta.url));
const assert = fileURLToPath(new URL("../../support/assert.ts", import.meta.url));
const built = await build({
  entryPoints: [entry],
  bundle: true,
  format: "esm",
  target: "esnext",
  write: false,
  external: ["node:*"],
  alias: { "@std/assert": assert },
});
const miniflare = new Miniflare({
  compatibilityDate: "2026-05-03",
  compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
  modules: [{ type: "ESModule", path: "worker.js", contents: built.outputFiles[0]?.text ?? "" }],
});
const base = (await miniflare.ready).href.replace(/\/$/, "");
const answer = what === "measure" ? await measure() : await bound();
await miniflare.dispose();
process.stdout.write(JSON.stringify(answer) + "\n", () => process.exit(0));

async function measure(): Promise<unknown> {
  const query = new URLSearchParams({ base: first, times: second });
  return await (await fetch(`${base}/measure?${query}`)).json();
}

async function bound(): Promise<unknown> {
  for (let count = 0; count < 5; count++) {
    await (await fetch(`${base}/warm?${new URLSearchParams({ url: second })}`)).text();
  }
  const pid = workerdPid();
  const before = memoryOf(pid);
  let peak = before;
  const timer = setInterval(() => peak = Math.max(peak, memoryOf(pid)), 2);
  const response = await fetch(`${base}/bound?${new URLSearchParams({ url: first })}`);
  const told = await response.json();
  clearInterval(timer);
  return { ...told, grown: Math.max(peak, memoryOf(pid)) - before };
}

/** The process of workerd: a child of this one. Linux only. */
function workerdPid(): string {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [name = "", rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
      if (name.includes("workerd") && rest.split(" ")[1] === String(process.pid)) return pid;
    } catch {
      // it has ended meanwhile
    }
  }
  throw new Error("workerd is not found among the children of this process");
}

function memoryOf(pid: string): number {
  const pages = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1];
  return Number(pages) * 4_096;
}
