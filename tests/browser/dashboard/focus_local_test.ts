/**
 * The focus and the keys in the dashboard, in real Chromium.
 */
import { assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { skip } from "../chromium.ts";
import { openSignedIn, watchedPage } from "./support.ts";
import type { Dashboard, Watched } from "./support.ts";

if (skip) test("the focus in the dashboard", { skip }, () => {});
else describe("the focus in the dashboard", focusSuite);

function focusSuite(): void {
  let dashboard: Dashboard;
  let browser: Browser;
  let watched: Watched;
  let page: Page;

  before(async () => {
    ({ dashboard, browser, watched, page } = await openSignedIn());
  });
  after(async () => {
    await browser?.close();
    await dashboard?.[Symbol.asyncDispose]();
  });

  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

  test("a button that was pressed has the focus again when it is done", async () => {
    const press = async (name: string, done: string) => {
      await page.getByRole("button", { name, exact: true }).first().focus();
      await page.keyboard.press("Enter");
      await page.waitForSelector(done);
    };
    const hasFocus = (text: string) =>
      page.waitForFunction((text) => document.activeElement?.textContent?.startsWith(text), text);
    await page.evaluate(() => location.hash = "#/tools/files__delete_file");
    await page.waitForSelector("[data-open-tool=files__delete_file]");
    await page.getByLabel("path").fill("/x");
    await press("Call", "[data-approval]");
    await hasFocus("Call");
    await press("Approve and call", "[data-part=result-text]");
    await hasFocus("Call");
    await page.evaluate(() => location.hash = "#/library");
    await press("Read", "[data-part=resource-text]");
    await hasFocus("Read");
  });

  test("what comes late takes the focus from nobody", async () => {
    const tools = (from: number) =>
      Array.from(
        { length: 3 },
        (_, at) => ({ name: `a__t${from + at}`, server: "a", tool: { name: `t${from + at}` } }),
      );
    let more: (() => void) | undefined;
    dashboard.intercept = async ({ url }) => {
      if (!url.includes("/api/tools?limit=200")) return undefined;
      if (!url.includes("after=")) return Response.json({ tools: tools(0), next: "x" });
      await new Promise<void>((resolve) => more = resolve);
      return Response.json({ tools: tools(3) });
    };
    await page.goto(`${dashboard.origin}/#/tools/files__slow`);
    await page.reload();
    await page.waitForSelector("[data-open-tool=files__slow]");
    await press("Show more");
    await page.getByRole("button", { name: "JSON", exact: true }).focus();
    while (!more) await page.waitForTimeout(20);
    more();
    await page.waitForSelector("[data-tool=a__t5]");
    assertEquals(await page.evaluate(() => document.activeElement?.textContent), "JSON");
    dashboard.intercept = undefined;
  });

  test("the last server that is removed leaves the focus on the page, and comes back as it was at first", async () => {
    const server = { name: "only", state: "connected", tools: 1, resources: 0, prompts: 0, added: true };
    let servers: object[] = [server];
    dashboard.intercept = ({ method, url }) => {
      if (url.endsWith("/api/servers")) {
        return method === "POST" ? Response.json(servers[0] = server) : Response.json({ servers });
      }
      if (method !== "DELETE") return undefined;
      servers = [];
      return new Response(null, { status: 204 });
    };
    await page.goto(`${dashboard.origin}/#/servers`);
    await page.getByRole("button", { name: "Remove", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.getByText("No servers yet").waitFor();
    assertEquals(await page.evaluate(() => document.activeElement?.id), "main");
    await page.getByLabel("Name").fill("only");
    await page.getByLabel("URL").fill("https://only.example/mcp");
    await press("Add");
    await page.waitForSelector("[data-server=only]");
    assertEquals(await page.getByRole("button", { name: "Remove it" }).count(), 0);
    dashboard.intercept = undefined;
  });

  test("a key that is held down calls once", async () => {
    await page.goto(`${dashboard.origin}/#/tools/tracker__create_issue`);
    await page.getByLabel("Project").fill("web");
    await page.getByLabel("Title").fill("once");
    const button = page.getByRole("button", { name: "Call", exact: true });
    const created = () => dashboard.ledger.filter(({ tool }) => tool === "create_issue").length;
    for (const at of [button, page.getByLabel("Title")]) {
      const before = created();
      await at.focus();
      if (at !== button) await page.keyboard.down("Control");
      for (let times = 0; times < 3; times++) {
        // All but the first are what a keyboard repeats.
        await page.keyboard.down("Enter");
        while (created() === before) await page.waitForTimeout(20);
        await button.and(page.locator(":enabled")).waitFor();
      }
      await page.keyboard.up("Enter");
      await page.keyboard.up("Control");
      assertEquals(created() - before, 1);
    }
  });

  test("a link that is opened while the page begins signs in, however late the answer before it comes", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    let hold: (() => void) | undefined;
    let first = true;
    dashboard.intercept = async ({ method, url }) => {
      if (method !== "GET" || !url.endsWith("/api/session") || !first) return undefined;
      first = false;
      await new Promise<void>((resolve) => hold = resolve);
      return Response.json({ code: "not_signed_in" }, { status: 401 });
    };
    await page.goto(dashboard.origin);
    while (!hold) await page.waitForTimeout(20);
    await page.goto(await dashboard.link());
    // A page that did not wait for the answer before is in by now.
    for (let turn = 0; turn < 50 && await page.locator("a.item-link").count() === 0; turn++) {
      await page.waitForTimeout(20);
    }
    const late = page.waitForEvent("requestfinished", (one) => one.url().endsWith("/api/session"));
    hold();
    await late;
    await page.waitForSelector("a.item-link");
    assertEquals(await page.locator("#key").count(), 0);
    dashboard.intercept = undefined;
    await context.close();
  });

  test("a log that is read stays where it was read when its server changes", async () => {
    const server = { name: "talking", tools: 1, resources: 0, prompts: 0, added: false };
    let now: object = { ...server, state: "connected", active: 0 };
    const log = Array.from({ length: 200 }, (_, at) => `event: log\ndata: {"level":"info","data":"it talks ${at}"}\n\n`)
      .join("");
    dashboard.intercept = ({ url }) => {
      if (url.endsWith("/api/servers")) return Response.json({ servers: [now] });
      if (url.endsWith("/api/servers/talking")) return Response.json(now);
      return url.endsWith("/talking/events") ? new Response(log) : undefined;
    };
    await page.goto(`${dashboard.origin}/#/servers`);
    const card = page.locator("[data-server=talking]");
    await card.locator("summary").click();
    await card.getByText("it talks 199").first().waitFor();
    await page.evaluate(() => document.querySelector(".log")!.scrollTop = 300);
    now = { ...server, state: "reconnecting" };
    await card.getByText("reconnecting").first().waitFor();
    assertEquals(await page.evaluate(() => document.querySelector(".log")!.scrollTop), 300);
    dashboard.intercept = undefined;
  });

  test("nothing went wrong beside, and nothing was asked of anybody else", () => {
    assertEquals([watched.complaints, watched.strangers], [[], []]);
  });
}
