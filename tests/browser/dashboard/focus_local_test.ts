/**
 * The focus and the keys in the dashboard, in real Chromium.
 */
import { assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium, skip } from "../chromium.ts";
import { openDashboard, watchedPage } from "./support.ts";
import type { Dashboard, Watched } from "./support.ts";

if (skip) test("the focus in the dashboard", { skip }, () => {});
else describe("the focus in the dashboard", focusSuite);

function focusSuite(): void {
  let dashboard: Dashboard;
  let browser: Browser;
  let watched: Watched;
  let page: Page;

  before(async () => {
    [dashboard, browser] = await Promise.all([openDashboard(), launchChromium()]);
    watched = await watchedPage(browser, dashboard.origin);
    page = watched.page;
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
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

  test("nothing went wrong beside, and nothing was asked of anybody else", () => {
    assertEquals([watched.complaints, watched.strangers], [[], []]);
  });
}
