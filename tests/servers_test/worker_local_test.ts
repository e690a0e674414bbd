import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { packagesInstalled } from "../../tools/programs.ts";
import { isJsonObject, objectAt } from "../servers/core/wire.ts";
import { callAt } from "./host_checks.ts";
import { modernMeta, readReply, resultOf, textOf } from "./support.ts";

const skip = packagesInstalled() ? false : "miniflare and esbuild are not installed";

describe("the Worker", () => {
  test("serves 2026-07-28 over HTTP and both eras over WebSocket on one path", { skip }, async () => {
    const { build } = await import("esbuild");
    const { Miniflare } = await import("miniflare");
    const entry = fileURLToPath(new URL("../servers/worker.ts", import.meta.url));
    const built = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
    const contents = built.outputFiles[0]?.text ?? "";
    assert(!contents.includes("node:"));
    const miniflare = new Miniflare({
      compatibilityDate: "2026-05-03",
      compatibilityFlags: ["enable_request_signal"],
      modules: [{ type: "ESModule", path: "worker.js", contents }],
    });
    try {
      const base = (await miniflare.ready).href.replace(/\/$/, "");
      assertEquals(textOf(resultOf(await readReply(await callAt(base, "/mcp")))), "hi");
      const upgraded = await miniflare.dispatchFetch(`${base}/mcp`, {
        headers: { upgrade: "websocket", "sec-websocket-protocol": "mcp" },
      });
      const socket = upgraded.webSocket;
      assert(socket !== null && socket !== undefined);
      const answer = new Promise<unknown>((resolve) => {
        socket.addEventListener("message", (event) => resolve(JSON.parse(String(event.data))));
      });
      socket.accept();
      const params = { name: "add", arguments: { a: 2, b: 3 }, _meta: modernMeta() };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
      const message = await answer;
      assertEquals(objectAt(isJsonObject(message) ? message : {}, "result").structuredContent, { sum: 5 });
      socket.close();
    } finally {
      await miniflare.dispose();
    }
  });
});
