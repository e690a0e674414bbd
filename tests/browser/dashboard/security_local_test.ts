/**
 * What the dashboard lets nobody do: D1 to D5, D9, D12 and D13 of its security, in real Chromium.
 */
import { assert, assertEquals } from "@std/assert";
import { request as send } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { freePort } from "../../support/free_port.ts";
import { launchChromium, skip } from "../chromium.ts";
import { serveLoopback } from "../loopback_server.ts";
import type { LoopbackServer } from "../loopback_server.ts";
import { openDashboard, watchedPage } from "./support.ts";
import type { Dashboard } from "./support.ts";

const page = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

if (skip) test("the dashboard's security", { skip }, () => {});
else describe("the dashboard's security", securitySuite);

function securitySuite(): void {
  let dashboard: Dashboard;
  let browser: Browser;
  let foreign: LoopbackServer;

  before(async () => {
    [dashboard, browser] = await Promise.all([openDashboard(), launchChromium()]);
    foreign = await serveLoopback(() =>
      new Response("<!doctype html><title>foreign</title>", { headers: { "content-type": "text/html" } })
    );
  });
  after(async () => {
    await browser?.close();
    await foreign?.stop();
    await dashboard?.[Symbol.asyncDispose]();
  });

  test("D1: it listens on this machine alone", async () => {
    assertEquals(dashboard.hostname, "127.0.0.1");
    const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []).filter(({ internal, family }) =>
      !internal && family === "IPv4"
    );
    for (const { address } of others) assertEquals(await opens(address, dashboard.port), false, address);
    assertEquals(await opens("127.0.0.1", dashboard.port), true);
  });

  test("D2: a foreign Host, or none, is refused", async () => {
    for (const host of ["evil.test", "localhost.evil.test", `evil.test:${dashboard.port}`, "10.0.0.1", "[::2]", ""]) {
      for (const path of ["/", "/api/tools", "/healthz"]) {
        const status = await statusOf(dashboard.port, path, host);
        assert(status === 403 || (host === "" && status === 400), `${host} ${path}: ${status}`);
      }
    }
    const reply = await raw(dashboard.port, "GET / HTTP/1.0\r\n\r\n");
    assert(/^HTTP\/1\.1 (400|403) /.test(reply), reply.slice(0, 60));
    assertEquals(await statusOf(dashboard.port, "/", `localhost:${dashboard.port}`), 200);
  });

  test("D3, D9: a page of another origin on the same site reaches nothing with the cookie, streams and sockets too", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
    const [cookie, ...more] = await context.cookies();
    assertEquals([cookie?.httpOnly, cookie?.sameSite, cookie?.path, more.length], [true, "Strict", "/", 0]);
    assertEquals(await page.evaluate(() => document.cookie), "");
    const run = await dashboard.runs.start({ agent: "assistant", principal: "ada", input: "hang" });
    const before = { seen: dashboard.seen.length, ledger: dashboard.ledger.length, started: dashboard.runs.started };
    const attacker = await context.newPage();
    await attacker.goto(foreign.origin.replace("127.0.0.1", "localhost"));
    const outcomes = await attacker.evaluate(attack, { origin: dashboard.origin, run: run.id });
    await attacker.evaluate((origin) => {
      const form = document.createElement("form");
      form.method = "post";
      form.action = `${origin}/api/tools/files__read_file`;
      form.enctype = "text/plain";
      document.body.append(form);
      form.submit();
    }, dashboard.origin);
    await attacker.waitForURL(/read_file/);
    const sent = dashboard.seen.slice(before.seen).filter(({ line }) => !/\/(favicon|dashboard|$)/.test(line));
    // The same site: the browser did send the cookie along, so that what keeps it out is the runner.
    assert(sent.some(({ headers }) => headers.has("cookie")));
    const let_in = sent.filter(({ line, status }) => status !== 403 && !line.startsWith("OPTIONS"));
    assertEquals(let_in.map(({ line, status }) => `${line} ${status}`), []);
    assertEquals(outcomes, {
      read: "refused",
      events: "refused",
      socket: "refused",
      call: "refused",
      plain: "refused",
      session: "refused",
    });
    assertEquals([dashboard.ledger.length, dashboard.runs.started], [before.ledger, before.started]);
    assertEquals((await dashboard.runs.get(run.id))?.state, "running");
    await context.close();
  });

  test("D3: no GET changes anything", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
    const paths = dashboard.runner.routes.filter(({ method }) => method === "GET" || method === "ALL")
      .map(({ path }) => path.replace(/:name/, "tracker").replace(/:\w+/g, "x"));
    const before = [dashboard.ledger.length, dashboard.runs.started];
    const statuses = await page.evaluate(async (paths) => {
      const found: number[] = [];
      for (const path of paths) {
        const controller = new AbortController();
        found.push((await fetch(path, { signal: controller.signal })).status);
        controller.abort();
      }
      return found;
    }, paths);
    assert(statuses.every((status) => status < 500), String(statuses));
    assertEquals([dashboard.ledger.length, dashboard.runs.started], before);
    assertEquals(await page.evaluate(async () => (await fetch("/api/session")).status), 200);
    await context.close();
  });

  test("D4: the token of a link is good once, and stays in no address, page, referrer or log", async () => {
    const { context, page, strangers } = await watchedPage(browser, dashboard.origin);
    const begun = dashboard.seen.length;
    const link = await dashboard.link();
    const [, token = ""] = link.split("#token=");
    assertEquals(token.length, 64);
    await page.goto(link);
    await page.waitForSelector("a.item-link");
    assertEquals(page.url(), `${dashboard.origin}/`);
    await page.goBack().catch(() => {});
    assert(!page.url().includes(token));
    await page.goto(dashboard.origin);
    await page.waitForSelector("a.item-link");
    assert(!(await page.content()).includes(token));
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])
    );
    assert(!stored.includes(token));
    for (const { line, headers } of dashboard.seen.slice(begun)) {
      assert(!line.includes(token), line);
      assertEquals(headers.get("referer"), null);
      assert(![...headers.values()].some((value) => value.includes(token)));
    }
    assert(!dashboard.log.join("\n").includes(token));
    const other = await watchedPage(browser, dashboard.origin);
    await other.page.goto(link);
    await other.page.waitForSelector("[data-problem=not_signed_in]");
    assertEquals(other.page.url(), `${dashboard.origin}/`);
    assertEquals(await other.context.cookies(), []);
    // Whoever is signed in and opens it once more, stays so.
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForSelector("a.item-link");
    assertEquals(strangers, []);
    await Promise.all([context.close(), other.context.close()]);
  });

  test("D4: a link that is opened where the page is already signs in too, and its token stays nowhere", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    await page.goto(dashboard.origin);
    await page.waitForSelector("#key");
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
    assertEquals(page.url(), `${dashboard.origin}/`);
    await page.evaluate(() => location.hash = "#/servers");
    await page.waitForSelector("[data-server]");
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
    assertEquals(page.url(), `${dashboard.origin}/`);
    assertEquals(await page.evaluate(() => [document.querySelectorAll("header.top").length, document.title]), [
      1,
      "Tools · Causeway",
    ]);
    await context.close();
  });

  test("D4: an API key signs in too, and a wrong one is told what to do", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    await page.goto(dashboard.origin);
    await page.locator("#key").fill("causeway_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForSelector("[data-problem=not_signed_in]");
    await page.locator("#key").fill(dashboard.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForSelector("a.item-link");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForSelector("#key");
    assertEquals(await page.evaluate(async () => (await fetch("/api/session")).status), 401);
    await context.close();
  });

  test("D5: each part of the page comes with its headers", async () => {
    const { context, page: tab } = await watchedPage(browser, dashboard.origin);
    const replies: [string, Record<string, string>][] = [];
    tab.on("response", (reply) => void replies.push([new URL(reply.url()).pathname, reply.headers()]));
    await tab.goto(dashboard.origin);
    await tab.waitForSelector("#key");
    const parts = replies.filter(([path]) => path === "/" || path.startsWith("/dashboard/"));
    assertEquals(parts.length, 3);
    for (const [path, headers] of parts) {
      assertEquals(headers["content-security-policy"], page, path);
      assertEquals(headers["x-content-type-options"], "nosniff");
      assertEquals(headers["referrer-policy"], "no-referrer");
      assertEquals(headers["cross-origin-opener-policy"], "same-origin");
      assertEquals(headers["cross-origin-resource-policy"], "same-origin");
    }
    await context.close();
  });

  test("D5: what gets into the page all the same does not run, and reaches nothing", async () => {
    const { context, page: tab, complaints, strangers } = await watchedPage(browser, dashboard.origin);
    await tab.goto(dashboard.origin);
    await tab.waitForSelector("#key");
    const ran = await tab.evaluate(async (foreign) => {
      const broken: string[] = [];
      addEventListener("securitypolicyviolation", (event) => broken.push(event.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      const image = document.createElement("img");
      image.src = `${foreign}/pixel.png`;
      const style = document.createElement("style");
      style.textContent = "body { color: red }";
      document.body.append(script, image, style);
      await fetch(`${foreign}/beacon`).catch(() => {});
      for (let turn = 0; broken.length < 4 && turn < 1_000; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { ran: "ran" in globalThis, broken: broken.sort() };
    }, foreign.origin);
    assertEquals(ran, { ran: false, broken: ["connect-src", "img-src", "script-src-elem", "style-src-elem"] });
    assert(complaints.length > 0, "the page's watcher hears of reports");
    assertEquals(foreign.seen.filter((line) => /pixel|beacon/.test(line)), []);
    assert(strangers.every((url) => url.startsWith(foreign.origin)));
    await context.close();
  });

  test("D12: in a frame of somebody else there is nothing", async () => {
    const { context, page: tab } = await watchedPage(browser, dashboard.origin);
    await tab.goto(await dashboard.link());
    await tab.waitForSelector("a.item-link");
    await tab.goto(foreign.origin.replace("127.0.0.1", "localhost"));
    await tab.evaluate((origin) =>
      new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.addEventListener("load", resolve);
        frame.src = origin;
        document.body.append(frame);
      }), dashboard.origin);
    const [, frame] = tab.frames();
    assertEquals(await frame?.locator(".brand, #key, a.item-link").count(), 0);
    await context.close();
  });

  test("D13: a session ends with its process", async () => {
    // One that the system gives to nobody else, while it is let go.
    let other = await openDashboard(await freePort());
    const { context, page: tab } = await watchedPage(browser, other.origin);
    await tab.goto(await other.link());
    await tab.waitForSelector("a.item-link");
    const { port } = other;
    await other[Symbol.asyncDispose]();
    other = await openDashboard(port);
    await tab.evaluate(() => location.hash = "#/servers");
    await tab.waitForSelector("#key");
    await tab.reload();
    await tab.waitForSelector("#key");
    await context.close();
    await other[Symbol.asyncDispose]();
  });
}

/** Runs in a page of another origin: whatever a page can try. */
async function attack({ origin, run }: { origin: string; run: string }): Promise<Record<string, string>> {
  const refused = () => "refused";
  const json = { "content-type": "application/json" };
  const told = async (reply: Response) => reply.ok ? await reply.text() : "refused";
  return {
    read: await fetch(`${origin}/api/tools`, { credentials: "include" }).then(told, refused),
    events: await new Promise((resolve) => {
      const events = new EventSource(`${origin}/api/runs/${run}/events`, { withCredentials: true });
      events.onmessage = () => resolve("told");
      events.addEventListener("step", () => resolve("told"));
      events.onerror = () => {
        events.close();
        resolve("refused");
      };
    }),
    socket: await new Promise((resolve) => {
      const socket = new WebSocket(`${origin.replace("http:", "ws:")}/mcp`, ["mcp"]);
      socket.onopen = () => resolve("open");
      socket.onerror = () => resolve("refused");
    }),
    call: await fetch(`${origin}/api/tools/files__read_file`, {
      method: "POST",
      credentials: "include",
      headers: json,
      body: '{"path":"x"}',
    }).then(told, refused),
    plain: await fetch(`${origin}/api/tools/files__read_file`, {
      method: "POST",
      mode: "no-cors",
      credentials: "include",
      body: '{"path":"x"}',
    })
      .then((reply) => reply.type, refused),
    session: await fetch(`${origin}/api/session`, {
      method: "POST",
      credentials: "include",
      headers: json,
      body: '{"token":"x"}',
    }).then(told, refused),
  };
}

function opens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 10_000 });
    const end = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", end(true)).once("error", end(false)).once("timeout", end(false));
  });
}

function statusOf(port: number, path: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    send({ host: "127.0.0.1", port, path, setHost: false, headers: { host } }, (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    }).once("error", reject).end();
  });
}

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.setEncoding("utf8").on("data", (part: string) => reply += part).once("end", () => resolve(reply)).once(
      "error",
      reject,
    );
  });
}
