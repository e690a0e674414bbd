/**
 * The deployed Worker in a workerd that is killed with SIGKILL while runs go on, with its objects on the disk. It goes on by the alarm
 * alone: nothing is lost, no tool is called twice, what nobody knows is reported. Eight kills; `CAUSEWAY_KILLS=full` makes them 100.
 */
import { assert, assertEquals } from "@std/assert";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { serveHttp } from "../../../src/entry/local.ts";
import { createApiKey } from "../../../src/runner/mod.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { buildRunnerWorker } from "../../../tools/build/runner_worker.ts";
import { root, workerdPath } from "../../../tools/programs.ts";
import { serveWorkerd } from "../../agent/runs/kills/workerd_process.ts";
import type { RunningWorkerd } from "../../agent/runs/kills/workerd_process.ts";
import { deployedFlags, eventsIn, secret } from "./world.ts";
import type { SeenEvent, SeenRun } from "./world.ts";

const isFull = process.env["CAUSEWAY_KILLS"] === "full";
const kills = isFull ? 100 : 8;
const rounds = 6;
const skip = "Bun" in globalThis && existsSync(workerdPath())
  ? false
  : "it is the same workerd from each runtime: once is enough, on Bun";

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A tool server that counts calls by their keys, and takes some milliseconds for each. */
async function startLedger() {
  const counts = new Map<string, number>();
  const server = new McpServer({ name: "ledger", version: "1.0.0" });
  const input = { type: "object", properties: { key: { type: "string" } }, required: ["key"] };
  server.tool("note", { description: "Notes a key", input }, async ({ key }) => {
    counts.set(String(key), (counts.get(String(key)) ?? 0) + 1);
    await pause(3 + Math.random() * 12);
    return `noted ${key}`;
  });
  const host = await serveHttp(createHandler(server), { port: 0 });
  return { url: `${host.url}/mcp`, counts, close: () => host.close() };
}

/** The Worker over objects on the disk. */
class Place {
  readonly folder: string;
  readonly #key: string;
  workerd: RunningWorkerd | undefined;

  constructor(folder: string, key: string) {
    this.folder = folder;
    this.#key = key;
  }

  async boot(): Promise<void> {
    this.workerd = await serveWorkerd(join(this.folder, "config.capnp"));
  }

  /** Asks; undefined when it is dead. */
  async ask(path: string, init: RequestInit = {}): Promise<Response | undefined> {
    const headers = { authorization: `Bearer ${this.#key}`, "content-type": "application/json", ...init.headers };
    const signal = AbortSignal.timeout(20_000);
    return await fetch(`${this.workerd?.url}${path}`, { ...init, headers, signal }).catch(() => undefined);
  }

  async json<Value>(path: string, init?: RequestInit): Promise<Value | undefined> {
    const response = await this.ask(path, init);
    if (!response?.ok) {
      await response?.body?.cancel().catch(() => {});
      return undefined;
    }
    return await response.json().catch(() => undefined);
  }

  /** Starts a run under a key: sent again until it is known, it is started once. */
  async start(name: string): Promise<string | undefined> {
    const input = Array.from({ length: rounds }, (_, at) => `call ledger.note key=${name}-${at}`).join("\nthen\n");
    const body = JSON.stringify({ agent: "helper", input });
    return (await this.json<SeenRun>("/api/runs", { method: "POST", body, headers: { "idempotency-key": name } }))?.id;
  }

  /** Reads on behind the last event, as far as it gets. */
  async follow(id: string, seen: SeenEvent[]): Promise<void> {
    const response = await this.ask(`/api/runs/${id}/events`, { headers: { "last-event-id": String(seen.length) } });
    if (response?.status !== 200) return void await response?.body?.cancel().catch(() => {});
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const next = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (next.done) break;
      text += next.value ?? "";
    }
    // What came in half is not an event yet.
    for (const event of eventsIn(text.slice(0, text.lastIndexOf("\n\n") + 2))) seen.push(event);
  }
}

async function makePlace(ledger: string): Promise<Place> {
  const cache = join(root, ".cache", "kills");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "runner-"));
  mkdirSync(join(folder, "objects"));
  const { modules } = await buildRunnerWorker();
  for (const { name, text } of modules) writeFileSync(join(folder, name), text);
  const { key, hash } = await createApiKey();
  const config = JSON.stringify({
    keys: [{ hash, principal: "ada", tenant: "acme" }],
    rules: [{ effect: "allow" }],
    agents: { approve: "allow", onUnknown: "tell" },
    servers: { ledger: { url: ledger } },
  });
  const texts = { RUNNER_SECRET: secret, CONFIG_JSON: config, WATCHDOG: "1000" };
  const bindings = Object.entries(texts).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`);
  const embedded = modules.map(({ name }) => `(name = "${name}", esModule = embed "${name}")`);
  const outside = `globalOutbound = "network"`;
  writeFileSync(
    join(folder, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [${embedded.join(", ")}],
      compatibilityDate = "2026-04-01",
      compatibilityFlags = ${JSON.stringify(deployedFlags())},
      bindings = [
        (name = "TENANTS", durableObjectNamespace = "TenantObject"),
        (name = "CONFIG", kvNamespace = "kv"),
        ${bindings.join(", ")},
      ],
      durableObjectNamespaces = [(className = "TenantObject", uniqueKey = "tenants", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"), ${outside},
    )),
    (name = "kv", worker = (
      serviceWorkerScript = "addEventListener('fetch', (event) => event.respondWith(new Response(null, { status: 404 })))",
      compatibilityDate = "2026-04-01",
    )),
    (name = "network", network = (allow = ["public", "private"])),
    (name = "disk", disk = (path = ${JSON.stringify(join(folder, "objects"))}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`,
  );
  return new Place(folder, key);
}

describe("the Worker whose workerd is killed", () => {
  test(`${kills} kills while runs go on`, { skip, timeout: isFull ? 900_000 : 90_000 }, async () => {
    const ledger = await startLedger();
    const place = await makePlace(ledger.url);
    const started = new Map<string, string>();
    const tails = new Map<string, SeenEvent[]>();
    try {
      for (let kill = 0; kill < kills; kill++) {
        await place.boot();
        for (const at of [0, 1, 2]) {
          const name = `r${kill}-${at}`;
          const id = await place.start(name);
          if (id !== undefined) started.set(name, id);
        }
        const following = [...started.values()].slice(-4).map((id) => {
          const seen = tails.get(id) ?? [];
          tails.set(id, seen);
          return place.follow(id, seen);
        });
        await pause(Math.random() * 150);
        await place.workerd?.kill();
        await Promise.all(following);
      }
      await place.boot();
      const booted = Date.now();
      // Nobody talks to it: the alarm goes on.
      await pause(1_500);
      const tally = { runs: 0, lost: 0, doubled: 0, unknown: 0, unreported: 0 };
      for (const [name, id] of started) {
        let run = await place.json<SeenRun>(`/api/runs/${id}`);
        for (; !run?.end && Date.now() - booted < 40_000; run = await place.json(`/api/runs/${id}`)) await pause(25);
        tally.runs++;
        if (run?.end?.type !== "succeeded") tally.lost++;
        const seen = tails.get(id) ?? [];
        await place.follow(id, seen);
        assertEquals(seen.map((event) => event.id), seen.map((_, at) => at + 1), `the events of ${name}`);
        assertEquals(seen.filter(({ event }) => event === "succeeded").length, 1);
        const outcomes = seen.filter(({ event }) => event === "observation").map(({ data }) =>
          (data.event.observation as { outcome: string }).outcome
        );
        tally.unknown += outcomes.filter((outcome) => outcome === "unknown").length;
        if (outcomes.filter((outcome) => outcome === "unknown").length !== run?.unknown.length) tally.unreported++;
        for (let at = 0; at < rounds; at++) {
          const count = ledger.counts.get(`${name}-${at}`) ?? 0;
          if (count > 1) tally.doubled++;
          if (outcomes[at] === "ok" && count !== 1) tally.unreported++;
        }
      }
      console.log(`the Worker, ${kills} kills: ${JSON.stringify(tally)}`);
      assert(tally.runs > kills);
      assertEquals([tally.lost, tally.doubled, tally.unreported], [0, 0, 0], place.workerd?.output());
    } finally {
      await place.workerd?.kill();
      await ledger.close();
      rmSync(place.folder, { recursive: true, force: true });
    }
  });
});
