/** What is made for Node, in a Worker with `nodejs_compat`: real workerd has `node:http`, and tells less. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { packagesInstalled, root } from "../../tools/programs.ts";

const skip = !packagesInstalled()
  ? "miniflare and esbuild are not installed"
  : "Bun" in globalThis
  ? false
  : "it is the same workerd from each runtime: once is enough, on Bun";

const source = `
  import { createNodeFetch } from "./src/runtime/node_fetch.ts";
  export default {
    async fetch(request) {
      const { status, headers, body } = await createNodeFetch().fetch(new URL(request.url).searchParams.get("at"), {});
      return Response.json([status, headers.get("x-said"), await new Response(body).text()]);
    },
  };
`;

test("createNodeFetch reads the headers of replies in a Worker with nodejs_compat", { skip }, async () => {
  const { build } = await import("esbuild");
  const { Miniflare } = await import("miniflare");
  const built = await build({
    stdin: { contents: source, resolveDir: root },
    bundle: true,
    format: "esm",
    write: false,
    external: ["node:*"],
  });
  const server = createServer((_, response) => {
    response.writeHead(201, { "x-said": "yes", connection: "close" }).end("whole");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const flare = new Miniflare({
    cf: false,
    modules: [{ type: "ESModule", path: join(root, "worker.js"), contents: built.outputFiles[0]?.text ?? "" }],
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["nodejs_compat"],
  });
  try {
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const reply = await flare.dispatchFetch(`http://worker.test/?at=${encodeURIComponent(at)}`);
    assertEquals(await reply.text(), JSON.stringify([201, "yes", "whole"]));
  } finally {
    await flare.dispose();
    await new Promise((resolve) => server.close(resolve));
  }
});
