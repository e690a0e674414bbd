/**
 * The client in real Chromium, behind a strict content security policy, over HTTP with CORS and over WebSocket.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { build } from "esbuild";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import type { Era } from "../../mod.ts";
import { startTestServer } from "../../tools/test/server.ts";
import type { TestServer } from "../../tools/test/server.ts";
import { everything, skip as withoutServers, startHttp, until } from "../interop/peers.ts";
import type { HttpPeer } from "../interop/peers.ts";
import type { LedgerView } from "../servers/core/ledger.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { createModernServer } from "../servers/modern.ts";
import { launchChromium, skip } from "./chromium.ts";
import { serveLoopback } from "./loopback_server.ts";
import type { CorsRules, Handler, LoopbackServer } from "./loopback_server.ts";

/** What the bundle makes global in the page. */
declare const causeway: typeof import("../../mod.ts");
/** What the page is given: resolves when the server has the call that is called off. */
declare const hasSlow: () => Promise<void>;

const policy = "default-src 'none'; script-src 'self'; connect-src http: ws:";
const sessionHeader = "Mcp-Session-Id";

if (skip) test("the client in Chromium", { skip }, () => {});
else describe("the client in Chromium", browserSuite);

function browserSuite(): void {
  const servers: LoopbackServer[] = [];
  let pages: LoopbackServer;
  let sockets: TestServer | undefined;
  let browser: Browser | undefined;
  let page: Page;
  const complaints: string[] = [];
  /** The server that is asked; undefined: what is called off comes behind the call, over one socket. */
  let asked: LedgerView | undefined;
  const isThere = () => asked?.executions.some(({ tool }) => tool === "slow") ?? true;

  before(async () => {
    const bundle = await bundlePage();
    pages = await serve((request) => pageReply(request, bundle));
    [browser, sockets] = await Promise.all([launchChromium(), startTestServer()]);
    page = await browser.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.setDefaultTimeout(20_000);
    await page.exposeFunction("hasSlow", () => until(isThere, "the call"));
    await page.goto(pages.origin);
  });
  after(async () => {
    await browser?.close();
    sockets?.stop();
    await Promise.all(servers.map((server) => server.stop()));
  });

  async function serve(handler: Handler, cors?: CorsRules): Promise<LoopbackServer> {
    const server = await serveLoopback(handler, cors);
    servers.push(server);
    return server;
  }

  test("2026-07-28 over HTTP: tools, progress, questions, changes, cancellation", async () => {
    const server = asked = createModernServer({ origins: [pages.origin] });
    const { origin } = await serve((request) => server.fetch(request), { origin: pages.origin });
    assertEquals(await page.evaluate(broadSession, `${origin}/mcp`), expected("modern"));
    assertEquals(server.violations, []);
    assertEquals(server.cancellations.map(({ method }) => method), ["tools/call", "subscriptions/listen"]);
  });

  test("2025-11-25 over HTTP: the same, with a session that is ended", async () => {
    const server = asked = createLegacyServer();
    const cors = { origin: pages.origin, expose: sessionHeader };
    const { origin } = await serve((request) => server.fetch(request), cors);
    assertEquals(await page.evaluate(broadSession, `${origin}/mcp`), expected("legacy"));
    assertEquals([server.violations, server.sessionIds()], [[], []]);
    assertEquals(server.cancellations.map(({ method }) => method), ["tools/call"]);
  });

  for (const era of ["modern", "legacy"] as const) {
    test(`WebSocket, ${era}: the same`, async () => {
      asked = undefined;
      const address = `${sockets?.url.replace("http:", "ws:")}/ws@browser/${era}`;
      assertEquals(await page.evaluate(broadSession, address), expected(era));
    });
  }

  test("server-everything over HTTP, with the CORS rules that it has", { skip: withoutServers }, async () => {
    const peer: HttpPeer = await startHttp(everything("streamableHttp"));
    try {
      const seen = await page.evaluate(async (url) => {
        const client = await causeway.connect(url, {
          handlers: { elicitation: () => ({ action: "accept", content: { name: "Chromium" } }) },
        });
        const asked = await client.callTool("trigger-elicitation-request");
        const weather = await client.callTool("get-structured-content", { location: "Chicago" });
        await client.close();
        return { era: client.era, asked: JSON.stringify(asked), weather: weather.structuredContent };
      }, `${peer.url}/mcp`);
      assertStringIncludes(seen.asked, "Name: Chromium");
      assertEquals(seen.weather, { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 });
      assertStringIncludes(peer.output(), "Received session termination request");
    } finally {
      await peer.stop();
    }
  });

  test("a redirect, of which a browser tells nothing, is refused cleanly", async () => {
    const location = "/elsewhere";
    const { origin, seen } = await serve(() => new Response(null, { status: 307, headers: { location } }), {
      origin: pages.origin,
    });
    const error = await page.evaluate(failure, `${origin}/mcp`);
    assertEquals([error.name, error.isMcpError], ["RedirectRefusedError", true]);
    assertEquals(seen, ["OPTIONS /mcp", "POST /mcp"]);
    assert(!/\(0\)|""/.test(error.message), error.message);
  });

  test("a server that does not allow the page's origin gives an error that names CORS", async () => {
    const server = createModernServer();
    const { origin } = await serve((request) => server.fetch(request));
    const error = await page.evaluate(failure, `${origin}/mcp`);
    assertEquals(error.isMcpError, true);
    assertStringIncludes(error.message, `${origin}/mcp`);
    assertStringIncludes(error.message, "CORS");
    assertEquals(server.log, []);
  });

  test("a legacy server with a fixed list of allowed headers is reached all the same", async () => {
    const server = createLegacyServer();
    const { origin } = await serve((request) => server.fetch(request), {
      origin: pages.origin,
      expose: sessionHeader,
      headers: `Content-Type, MCP-Protocol-Version, Authorization, ${sessionHeader}`,
    });
    assertEquals(await page.evaluate(sumOf, { url: `${origin}/mcp`, legacy: true }), ["legacy", { sum: 3 }]);
    assertEquals(await page.evaluate(sumOf, { url: `${origin}/mcp`, legacy: false }), ["legacy", { sum: 3 }]);
  });

  test("a command is refused with the entry that can start it", async () => {
    const error = await page.evaluate(failure, { command: "npx", args: [] });
    assertEquals(error.name, "TypeError");
    assertStringIncludes(error.message, "@causeway/mcp/local");
  });

  test("nothing went wrong in the page beside", () => assertEquals(complaints, []));
}

async function bundlePage(): Promise<string> {
  const entryPoints = [fileURLToPath(new URL("page.ts", import.meta.url))];
  const options = { bundle: true, write: false, format: "iife", globalName: "causeway", platform: "browser" } as const;
  const built = await build({ ...options, entryPoints, minify: true, target: "es2022" });
  return built.outputFiles[0]?.text ?? "";
}

function pageReply(request: Request, bundle: string): Response {
  if (request.url.endsWith("/bundle.js")) {
    return new Response(bundle, { headers: { "content-type": "text/javascript" } });
  }
  const headers = { "content-type": "text/html", "content-security-policy": policy };
  return new Response('<!doctype html><link rel="icon" href="data:,"><script src="/bundle.js"></script>', { headers });
}

/** What {@linkcode broadSession} has to see. */
function expected(era: Era): Awaited<ReturnType<typeof broadSession>> {
  return {
    era,
    tools: true,
    sums: true,
    progress: [1, 2, 3],
    header: '{"region":"Zürich"}',
    violation: "ProtocolViolationError",
    aborted: "called off",
    asked: '["Chromium"]',
    change: { type: "resource", uri: "test://watched" },
    text: "hello world",
    prompt: true,
  };
}

/** Runs in the page: it may use nothing but `causeway` and what it is given. */
async function broadSession(url: string) {
  const client = await causeway.connect(url, {
    handlers: { elicitation: () => ({ action: "accept", content: { name: "Chromium" } }) },
  });
  const { tools } = await client.listTools();
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const sums = await Promise.all(numbers.map((a) => client.callTool("add", { a, b: 1 })));
  const progress: number[] = [];
  await client.callTool("progress", { count: 3 }, { onProgress: (at) => void progress.push(at.progress) });
  const [header] = (await client.callTool("header_tool", { region: "Zürich" })).content;
  const violation = await client.callTool("bad_output").catch((error: Error) => error.name);
  const controller = new AbortController();
  const slow = client.callTool("slow", {}, { signal: controller.signal });
  // What is called off before it is there may never come, and then the server hears of nothing.
  await hasSlow();
  controller.abort("called off");
  const aborted = await slow.catch((error: unknown) => error);
  const [asked] = (await client.callTool("ask")).content;
  const watch = client.listen({ resourceUris: ["test://watched"] });
  await watch.acknowledged;
  await client.callTool("change", { what: "resource" });
  const { value: change } = await watch.next();
  watch.close();
  const [contents] = (await client.readResource("test://text")).contents;
  const prompt = await client.getPrompt("greet", { who: "Ada" });
  await client.close();
  return {
    era: client.era,
    tools: tools.some(({ name }) => name === "echo"),
    sums: sums.every(({ structuredContent }, a) => JSON.stringify(structuredContent) === `{"sum":${a + 1}}`),
    progress,
    header: header?.type === "text" ? header.text : "",
    violation,
    aborted,
    asked: asked?.type === "text" ? asked.text : "",
    change,
    text: contents && "text" in contents ? contents.text : "",
    prompt: prompt.messages.length > 0,
  };
}

/** Runs in the page: the error that connecting to `target` gives. */
async function failure(target: string | { command: string; args: string[] }) {
  try {
    await (await causeway.connect(target)).close();
    return { name: "none", message: "it did connect", isMcpError: false };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { name: error.name, message: error.message, isMcpError: error instanceof causeway.McpError };
  }
}

/** Runs in the page: one call, as the era that was found. */
async function sumOf({ url, legacy }: { url: string; legacy: boolean }) {
  const client = await causeway.connect(url, legacy ? { verdict: { era: "legacy" } } : {});
  const { structuredContent } = await client.callTool("add", { a: 1, b: 2 });
  await client.close();
  return [client.era, structuredContent];
}
