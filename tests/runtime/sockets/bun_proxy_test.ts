/** Which proxy of the environment a WebSocket on Bun takes. Each row was held against what Bun's own `fetch` does. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { proxyFor } from "../../../src/runtime/sockets/bun_proxy.ts";

const one = "http://one.example:8080";
const two = "http://two.example:8080";
const ws = "ws://a.x.example/mcp";
const wss = "wss://a.x.example/mcp";

describe("the proxy of the environment", () => {
  const named: readonly (readonly [url: string, variables: Record<string, string>, proxy: string | undefined])[] = [
    [ws, {}, undefined],
    [ws, { HTTP_PROXY: one }, one],
    [ws, { http_proxy: one }, one],
    [ws, { http_proxy: one, HTTP_PROXY: two }, one],
    [ws, { http_proxy: "", HTTP_PROXY: two }, two],
    [ws, { HTTPS_PROXY: one }, undefined],
    [ws, { ALL_PROXY: one }, one],
    [ws, { HTTP_PROXY: one, ALL_PROXY: two }, one],
    [ws, { HTTP_PROXY: "one.example:8080" }, one],
    [ws, { ALL_PROXY: "one.example:8080" }, one],
    [ws, { ALL_PROXY: "HTTPS://one.example" }, "HTTPS://one.example"],
    [ws, { ALL_PROXY: "socks5://one.example:1080" }, undefined],
    [wss, { ALL_PROXY: "socks5h://one.example:1080" }, undefined],
    [ws, { HTTP_PROXY: one, ALL_PROXY: "socks5://one.example:1080" }, one],
    [ws, { HTTP_PROXY: "socks5://one.example:1080" }, "socks5://one.example:1080"],
    [wss, { HTTP_PROXY: one }, undefined],
    [wss, { https_proxy: one, HTTP_PROXY: two }, one],
    ["WSS://a.x.example/mcp", { https_proxy: one, HTTP_PROXY: two }, one],
    [ws, { HTTP_PROXY: one, no_proxy: "x.example", NO_PROXY: "y.example" }, undefined],
    [ws, { HTTP_PROXY: one, no_proxy: "y.example", NO_PROXY: "x.example" }, one],
  ];
  for (const [url, variables, proxy] of named) {
    test(`${JSON.stringify(variables)} for ${url}: ${proxy ?? "none"}`, async () => {
      assertEquals(await proxyFor(url, variables), proxy);
    });
  }

  const exempt: readonly (readonly [entries: string, url: string, isExempt: boolean])[] = [
    ["", ws, false],
    ["*", ws, true],
    ["x.example", ws, true],
    [".x.example", ws, true],
    ["*.x.example", ws, true],
    ["X.Example", ws, true],
    ["x.example.", ws, true],
    ["x.example", "ws://x.example./mcp", true],
    ["y.example, x.example", ws, true],
    ["y.example x.example", ws, true],
    ["example", ws, true],
    ["ple", ws, false],
    ["b.x.example", ws, false],
    ["x.example:80", ws, true],
    ["x.example:443", ws, false],
    ["x.example:443", wss, true],
    ["x.example:8080", "ws://a.x.example:8080/mcp", true],
    ["127.0.0.1", "ws://127.0.0.1:9/mcp", true],
    ["localhost", "ws://127.0.0.1:9/mcp", false],
    ["127.0.0.1:8", "ws://127.0.0.1:9/mcp", false],
    ["127.0.0.0/8", "ws://127.0.0.1:9/mcp", true],
    ["10.0.0.0/8", "ws://127.0.0.1:9/mcp", false],
    ["127.0.0.0/40", "ws://127.0.0.1:9/mcp", false],
    ["127.0.0.0/8", ws, false],
    ["::1", "ws://[::1]:9/mcp", true],
    ["[::1]", "ws://[::1]:9/mcp", true],
    ["[::1]:9", "ws://[::1]:9/mcp", true],
    ["[::1]:8", "ws://[::1]:9/mcp", false],
    ["fd00::/8", "ws://[fd12::1]/mcp", true],
    ["fd00::/8", "ws://[fe80::1]/mcp", false],
  ];
  for (const [entries, url, isExempt] of exempt) {
    test(`NO_PROXY=${JSON.stringify(entries)} ${isExempt ? "leaves out" : "means nothing to"} ${url}`, async () => {
      assertEquals(await proxyFor(url, { ALL_PROXY: one, NO_PROXY: entries }), isExempt ? undefined : one);
    });
  }
});
