/**
 * The dashboard over a network that breaks and stalls, and on a machine whose clock is wrong, in real Chromium.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page, Request } from "playwright-core";
import { skip } from "../chromium.ts";
import { openSignedIn, watchedPage } from "../dashboard/support.ts";
import type { Dashboard } from "../dashboard/support.ts";

if (skip) test("the dashboard over a bad network", { skip }, () => {});
else describe("the dashboard over a bad network", networkSuite);

const day = 86_400_000;

function networkSuite(): void {
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;

  before(async () => {
    ({ dashboard, browser, page } = await openSignedIn());
  });
  after(async () => {
    await browser?.close();
    await dashboard?.[Symbol.asyncDispose]();
  });

  const focused = (on: Page = page) => on.evaluate(() => document.activeElement?.textContent);

  test("a call whose answer breaks off may have run, and that is what is said", async () => {
    dashboard.intercept = ({ method, url }) => {
      if (method !== "POST" || !url.includes("/api/tools/")) return undefined;
      let isOver = false;
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (isOver) {
            await new Promise((resolve) => setTimeout(resolve, 50));
            return controller.error(new Error("the process died"));
          }
          isOver = true;
          controller.enqueue(new TextEncoder().encode(": open\n"));
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    await page.evaluate(() => location.hash = "#/tools/files__read_file");
    await page.getByLabel("path").fill("/x");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.waitForSelector("[data-problem=outcome_unknown]");
    assertStringIncludes(await page.locator("[data-problem]").textContent() ?? "", "It may have been done");
    dashboard.intercept = undefined;
  });

  test("servers stay while the runner cannot be asked: nothing is lost, nothing moves, and it is told once", async () => {
    await page.clock.install();
    await page.evaluate(() => location.hash = "#/servers");
    const card = page.locator("[data-server=tracker]");
    await card.getByText("What it says").click();
    await card.getByText("Search before you create an issue").waitFor();
    await page.locator("#add-name").fill("typed");
    const place = await page.locator("#add-name").boundingBox();
    let asked = 0;
    let underWay = 0;
    const isList = (one: Request) => one.method() === "GET" && one.url().endsWith("/api/servers");
    const begin = (one: Request) => void (underWay += Number(isList(one)));
    const end = (one: Request) => void (underWay -= Number(isList(one)));
    page.on("request", begin).on("requestfinished", end).on("requestfailed", end);
    dashboard.intercept = ({ method, url }) => {
      if (method !== "GET" || !url.endsWith("/api/servers")) return undefined;
      return Response.json({ code: "closing", detail: "It ends", requestId: `request-${++asked}` }, { status: 503 });
    };
    const beats = async (more: number): Promise<void> => {
      for (const until = asked + more; asked < until;) {
        // An answer that is on its way would come too late, by the page's clock.
        if (!underWay) await page.clock.fastForward(5_000);
        await page.waitForTimeout(50);
      }
    };
    await beats(1);
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    assertEquals(await page.locator("#add-name").boundingBox(), place);
    assertEquals([await page.locator("[data-server]").count(), await card.locator("details").getAttribute("open")], [
      3,
      "",
    ]);
    const before = await page.locator("[data-problem]").elementHandle();
    await again.focus();
    await beats(3);
    assertEquals([await focused(), await before?.evaluate((one) => one.isConnected)], ["Try again", true]);
    dashboard.intercept = undefined;
    await again.press("Enter");
    await page.locator("[data-problem]").waitFor({ state: "detached" });
    assertEquals(await page.evaluate(() => document.activeElement?.id), "main");
    assertEquals(await page.locator("#add-name").inputValue(), "typed");
    page.off("request", begin).off("requestfinished", end).off("requestfailed", end);
  });

  test("however many logs are opened, the page can still ask its runner", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    const states = { state: "connected", tools: 1, resources: 0, prompts: 0, added: false };
    const servers = Array.from({ length: 7 }, (_, at) => ({ name: `s${at}`, ...states }));
    dashboard.intercept = ({ url }) => {
      if (url.endsWith("/api/servers")) return Response.json({ servers });
      if (/\/s\d$/.test(url)) return Response.json({});
      if (!/\/s\d\/events$/.test(url)) return undefined;
      const log = new TextEncoder().encode('event: log\ndata: {"level":"info","data":"it talks"}\n\n');
      const body = new ReadableStream({ start: (one) => one.enqueue(log) });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
    await page.evaluate(() => location.hash = "#/servers");
    for (const { name } of servers) {
      await page.locator(`[data-server=${name}] summary`).click();
      await page.locator(`[data-server=${name}] .log`).getByText("it talks").waitFor();
    }
    const open = () => page.locator("[data-server]:has(details[open])").evaluateAll((all) => all.map((one) => one.id));
    assertEquals((await open()).length, 3);
    assertEquals(await page.evaluate(async () => (await fetch("/api/session")).status), 200);
    dashboard.intercept = undefined;
    await context.close();
  });

  test("the stream of a run that dies without a word is missed, and taken up behind its last event", async () => {
    const { id } = await dashboard.runs.start({ agent: "assistant", principal: "ada", input: "hang" });
    const asked: (string | null)[] = [];
    dashboard.intercept = async (request) => {
      if (!request.url.endsWith(`${id}/events`)) return undefined;
      asked.push(request.headers.get("last-event-id"));
      // As on another connection that has died.
      if (asked.length === 2) return await new Promise<undefined>((go) => request.signal.onabort = () => go(undefined));
      if (asked.length > 2) return undefined;
      const { value } = await (await dashboard.runner.fetch(request)).body!.getReader().read();
      const told = new TextEncoder().encode(
        `${
          new TextDecoder().decode(value)
        }\nid: 1\nevent: text\ndata: {"at":0,"event":{"type":"text","text":"so far"}}\n\n`,
      );
      return new Response(new ReadableStream({ start: (one) => one.enqueue(told) }), {
        headers: { "content-type": "text/event-stream" },
      });
    };
    await page.evaluate((id) => location.hash = `#/runs/${id}`, id);
    await page.getByText("so far").waitFor();
    while (asked.length < 3) {
      await page.clock.runFor(5_000);
      await page.waitForTimeout(20);
    }
    assertEquals(asked, [null, "1", "1"]);
    dashboard.intercept = undefined;
    await dashboard.runs.cancel(id);
  });

  test("a run that nobody looks at holds no connection, and goes on where one has looked away", async () => {
    const { id } = await dashboard.runs.start({ agent: "assistant", principal: "ada", input: "hang" });
    const { context, page } = await watchedPage(browser, dashboard.origin);
    const turn = (isHidden: boolean) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    const asked: (string | null)[] = [];
    const left: Promise<void>[] = [];
    dashboard.intercept = (request) => {
      if (!request.url.endsWith(`${id}/events`)) return undefined;
      asked.push(request.headers.get("last-event-id"));
      left.push(new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(), { once: true })));
      return undefined;
    };
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
    await page.evaluate((id) => location.hash = `#/runs/${id}`, id);
    dashboard.runs.tell(id, { type: "text", step: 1, text: "told before" });
    await page.getByText("told before").waitFor();
    await turn(true);
    await left[0];
    dashboard.runs.tell(id, { type: "text", step: 1, text: ", and meanwhile" });
    assertEquals(asked.length, 1);
    await turn(false);
    await page.getByText("told before, and meanwhile").waitFor();
    assertEquals(asked.length, 2);
    assertEquals(Number(asked[1]) > 0, true);
    dashboard.intercept = undefined;
    await dashboard.runs.cancel(id);
    await context.close();
  });

  test("a list whose answer never comes is told of, and asked for again", async () => {
    let isStalled = true;
    dashboard.intercept = ({ method, url }) => {
      if (!isStalled || method !== "GET" || !url.endsWith("/api/approvals")) return undefined;
      return new Response(new ReadableStream({ start: (one) => one.enqueue(new TextEncoder().encode("{")) }));
    };
    await page.evaluate(() => location.hash = "#/approvals");
    for (let turn = 0; turn < 200 && await page.locator("[data-problem]").count() === 0; turn++) {
      await page.clock.fastForward(5_000);
      await page.waitForTimeout(50);
    }
    await page.waitForSelector("main [data-problem=unreachable]");
    isStalled = false;
    for (let turn = 0; turn < 200 && await page.locator("[data-problem]").count() > 0; turn++) {
      await page.clock.fastForward(5_000);
      await page.waitForTimeout(50);
    }
    await page.getByText("Nothing waits for you").waitFor();
    dashboard.intercept = undefined;
  });

  test("on a machine whose clock is wrong by a day, what waits still waits", async () => {
    for (const wrong of [-day, day]) {
      const approvals = [{ id: "a", principal: "bob", expiresAt: Date.now() + 10 * 60_000 }];
      dashboard.intercept = ({ url }) => {
        if (url.endsWith("/api/approvals")) return Response.json({ approvals });
        const run = { id: "one", agent: "a", state: "succeeded", createdAt: Date.now() - 5 * 60_000, steps: 1 };
        return url.includes("/api/runs?") ? Response.json({ runs: [run] }) : undefined;
      };
      const { context, page } = await watchedPage(browser, dashboard.origin);
      await page.clock.install({ time: Date.now() + wrong });
      await page.goto(await dashboard.link());
      await page.waitForSelector("a.item-link");
      await page.evaluate(() => location.hash = "#/approvals");
      await page.waitForSelector("[data-approval]");
      const time = await page.locator(".time").textContent() ?? "";
      assertEquals(/^ends in (9|10) min$/.test(time), true, time);
      await page.evaluate(() => location.hash = "#/runs");
      await page.locator("[data-run=one]", { hasText: "5 min ago" }).waitFor();
      dashboard.intercept = undefined;
      await context.close();
    }
  });

  test("the day of a run is the one that it was where one is", async () => {
    const createdAt = Date.UTC(2026, 0, 5, 23, 30);
    dashboard.intercept = ({ url }) => {
      const run = { id: "one", agent: "a", state: "succeeded", createdAt, steps: 1 };
      return url.includes("/api/runs?") ? Response.json({ runs: [run] }) : undefined;
    };
    for (
      const [timezoneId, told] of [["Australia/Sydney", "2026-01-06"], ["America/New_York", "2026-01-05"]] as const
    ) {
      const context = await browser.newContext({ timezoneId });
      const page = await context.newPage();
      await page.goto(await dashboard.link());
      await page.waitForSelector("a.item-link");
      await page.evaluate(() => location.hash = "#/runs");
      await page.locator("[data-run=one]", { hasText: told }).waitFor({ timeout: 10_000 });
      await context.close();
    }
    dashboard.intercept = undefined;
  });
}
