/**
 * The client in real workerd, without Node compatibility, against the official servers on loopback.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Miniflare } from "miniflare";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { everything, sdkServer, skip, startHttp, until } from "./peers.ts";
import type { HttpPeer } from "./peers.ts";
import { sdkTools } from "./support.ts";
import type { Job } from "./worker.ts";

interface Seen {
  [key: string]: unknown;
  sums: unknown[];
}

if (skip) test("the client in workerd", { skip }, () => {});
else describe("the client in workerd", workersSuite);

function workersSuite(): void {
  const peers: HttpPeer[] = [];
  let miniflare: Miniflare | undefined;

  before(async () => {
    const [{ build }, { Miniflare }] = await Promise.all([import("esbuild"), import("miniflare")]);
    const entryPoints = [fileURLToPath(new URL("worker.ts", import.meta.url))];
    const built = await build({ entryPoints, bundle: true, format: "esm", target: "es2022", write: false });
    const contents = built.outputFiles[0]?.text ?? "";
    assert(!/from ?"node:/.test(contents));
    miniflare = new Miniflare({
      compatibilityDate: "2026-05-03",
      modules: [{ type: "ESModule", path: "worker.js", contents }],
    });
    peers.push(...await Promise.all([startHttp(everything("streamableHttp")), startHttp(sdkServer("http"))]));
  });
  after(async () => {
    await miniflare?.dispose();
    await Promise.all(peers.map((peer) => peer.stop()));
  });

  async function run(job: Job): Promise<Seen> {
    assert(miniflare);
    const response = await miniflare.dispatchFetch("http://worker.test/", {
      method: "POST",
      body: JSON.stringify(job),
    });
    const text = await response.text();
    assertEquals(response.status, 200, text.slice(0, 2_000));
    return JSON.parse(text);
  }

  test("server-everything: 2025-11-25", async () => {
    const [peer] = peers;
    const { sums, elicited, sampled, ...seen } = await run({ url: `${peer?.url}/mcp`, program: "everything" });
    assertEquals(sums, sums.map((_, a) => `The sum of ${a} and 1 is ${a + 1}.`));
    assertEquals(sums.length, 100);
    assertStringIncludes(JSON.stringify(elicited), "Name: Worker");
    assertStringIncludes(JSON.stringify(sampled), "from the edge");
    assertEquals(seen, {
      era: "legacy",
      asked: ["Please provide inputs for the following fields:"],
      tools: 15,
      progress: [1, 2, 3],
      aborted: "called off",
      structured: { temperature: 33, conditions: "Cloudy", humidity: 82 },
      contents: 1,
      completed: ["Marketing"],
    });
    // `await using` has ended the session before the Worker answered.
    await until(() => peer?.output().includes("Received session termination request") === true, "the session's end");
  });

  for (const [path, era] of [["/modern", "modern"], ["/legacy", "legacy"]] as const) {
    test(`the official SDK: ${path}`, async () => {
      const { sums, region, booked, ...seen } = await run({ url: `${peers[1]?.url}${path}`, program: "sdk" });
      assertEquals(sums, Array.from({ length: 100 }, (_, a) => ({ sum: a + 1 })));
      assertStringIncludes(JSON.stringify(region), "q in Zürich");
      assertStringIncludes(JSON.stringify(booked), "Worker");
      assertEquals(seen, {
        era,
        asked: ["Who comes, and when?"],
        tools: sdkTools,
        heard: [{ type: "resource", uri: "note://watched" }, { type: "tools" }],
      });
    });
  }
}
