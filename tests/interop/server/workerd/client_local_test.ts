/** Our own client in real workerd, without Node compatibility, at our own server: over HTTP and WebSocket, in both eras. */
import { assert, assertEquals } from "@std/assert";
import type { Miniflare } from "miniflare";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Job } from "../../worker.ts";
import { skipWorkerd, startTarget, stopWorker, whyNoSockets } from "../hosts.ts";
import type { Binding } from "../hosts.ts";
import { sampleTools } from "../sample.ts";

interface Seen {
  readonly era: string;
  readonly asked: string[];
  readonly tools: string[];
  readonly sums: unknown[];
  readonly region: { content: unknown };
  readonly booked: { content: unknown };
  readonly heard: { type: string }[];
}

const skips: Partial<Record<Binding, string | false>> = {
  "HTTP": skipWorkerd,
  "HTTP to workerd": skipWorkerd,
  "WebSocket": skipWorkerd || await whyNoSockets(false),
};

describe("our client in workerd", () => {
  let miniflare: Miniflare | undefined;

  before(async () => {
    if (skipWorkerd) return;
    const [{ build }, { Miniflare }] = await Promise.all([import("esbuild"), import("miniflare")]);
    const entryPoints = [fileURLToPath(new URL("../../worker.ts", import.meta.url))];
    const built = await build({ entryPoints, bundle: true, format: "esm", target: "es2022", write: false });
    const contents = built.outputFiles[0]?.text ?? "";
    assert(!/["'](?:node|bun|cloudflare):/.test(contents));
    miniflare = new Miniflare({
      compatibilityDate: "2026-05-03",
      modules: [{ type: "ESModule", path: "worker.js", contents }],
    });
  });
  after(async () => {
    await miniflare?.dispose();
    await stopWorker();
  });

  for (const [binding, skip] of Object.entries(skips) as [Binding, string | false][]) {
    for (const era of ["modern", "legacy"] as const) {
      test(`at our server over ${binding}, ${era}`, { skip }, async () => {
        const host = await startTarget(binding, era);
        assert(host && miniflare);
        try {
          const job: Job = { url: host.url, program: "sdk" };
          const body = JSON.stringify(job);
          const response = await miniflare.dispatchFetch("http://worker.test/", { method: "POST", body });
          const text = await response.text();
          assertEquals(response.status, 200, text.slice(0, 2_000));
          const { sums, region, booked, heard, asked, ...seen }: Seen = JSON.parse(text);
          assertEquals(sums, Array.from({ length: 100 }, (_, a) => ({ sum: a + 1 })));
          assertEquals(region.content, [{ type: "text", text: "q in Zürich" }]);
          assertEquals(booked.content, [{ type: "text", text: "Worker, none, none" }]);
          assertEquals(asked, ["name?", "place?", "date?"]);
          assertEquals(heard.map(({ type }) => type).sort(), ["resource", "tools"]);
          assertEquals(seen, { era, tools: [...sampleTools] });
        } finally {
          await host.stop();
        }
      });
    }
  }
});
