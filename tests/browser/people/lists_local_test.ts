/**
 * Lists of the dashboard while they change, fail and end, in real Chromium.
 */
import { assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { skip } from "../chromium.ts";
import { openSignedIn } from "../dashboard/support.ts";
import type { Dashboard } from "../dashboard/support.ts";

if (skip) test("lists of the dashboard", { skip }, () => {});
else describe("lists of the dashboard", listsSuite);

function listsSuite(): void {
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;

  before(async () => {
    ({ dashboard, browser, page } = await openSignedIn());
    await page.clock.install();
  });
  after(async () => {
    await browser?.close();
    await dashboard?.[Symbol.asyncDispose]();
  });

  const go = (place: string) => page.evaluate((place) => location.hash = `#/${place}`, place);
  const refusal = (status: number, headers: Record<string, string> = {}) =>
    Response.json({ code: "rate_limited", detail: "Too much" }, { status, headers });

  test("a row of runs that is pressed stays while the list changes", async () => {
    let asked = 0;
    dashboard.intercept = ({ url }) => {
      if (!url.includes("/api/runs?")) return undefined;
      const runs = [{ id: "run-1", agent: "assistant", state: "succeeded", createdAt: 0, steps: ++asked }];
      return Response.json({ runs });
    };
    await go("runs");
    const row = page.locator("[data-run=run-1]");
    await row.waitFor();
    await row.hover();
    await page.mouse.down();
    const before = asked;
    while (asked < before + 2) await page.clock.runFor(4_000);
    await page.mouse.up();
    await page.waitForURL(/#\/runs\/run-1$/);
    dashboard.intercept = undefined;
  });

  test("older runs are a page away, which stays while the list changes, and so is the way back", async () => {
    let steps = 0;
    const asked: (string | null)[] = [];
    dashboard.intercept = ({ url }) => {
      if (!url.includes("/api/runs?")) return undefined;
      const after = new URL(url).searchParams.get("after");
      asked.push(after);
      const id = after === null ? "run-2" : "run-1";
      const run = { id, agent: "assistant", state: "succeeded", createdAt: 0, steps: ++steps };
      return Response.json({ runs: [run], ...(after === null && { next: "2.run-2" }) });
    };
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await go("library");
    await go("runs");
    const older = page.getByRole("button", { name: "Older runs" });
    await older.focus();
    const told = page.locator("[data-run=run-2]");
    const before = await told.textContent();
    while (await told.textContent() === before) await page.clock.runFor(4_000);
    assertEquals(await focused(), "Older runs");
    await older.press("Enter");
    while (await page.locator("[data-run=run-1]").count() === 0) await page.clock.runFor(100);
    assertEquals([await told.count(), await older.count()], [0, 0]);
    assertEquals(await focused(), "Newest runs");
    const count = asked.length;
    while (asked.length < count + 2) await page.clock.runFor(4_000);
    assertEquals(asked.at(-1), "2.run-2");
    await page.getByRole("button", { name: "Newest runs" }).press("Enter");
    while (await told.count() === 0) await page.clock.runFor(100);
    assertEquals([await page.locator("[data-run=run-1]").count(), await focused()], [0, "Older runs"]);
    dashboard.intercept = undefined;
  });

  test("a page of older runs begins at its head, is empty once they are gone, and is left by a start", async () => {
    let isEmpty = false;
    dashboard.intercept = ({ method, url }) => {
      if (method !== "GET" || !url.includes("/api/runs?")) return undefined;
      const page = new URL(url).searchParams.get("after") ?? "first";
      const run = { agent: "assistant", state: "succeeded", createdAt: 0, steps: 0 };
      const runs = Array.from({ length: 50 }, (_, at) => ({ ...run, id: `${page}-${at}` }));
      return Response.json(isEmpty ? { runs: [] } : { runs, ...(page === "first" && { next: "older" }) });
    };
    await go("library");
    await go("runs");
    const turn = async () => {
      await page.getByRole("button", { name: "Older runs" }).click();
      while (await page.locator("[data-run=older-0]").count() === 0) await page.clock.runFor(100);
    };
    await turn();
    const isSeen = (id: string) =>
      page.locator(`[data-run="${id}"]`).evaluate((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
    assertEquals([await isSeen("<"), await isSeen("older-0"), await isSeen("older-49")], [true, true, false]);
    await page.locator("[data-run=older-49]").scrollIntoViewIfNeeded();
    await page.locator("[data-run=older-49]").evaluate((row) => row.dataset.before = "");
    while (await page.locator("[data-before]").count() > 0) await page.clock.runFor(4_000);
    assertEquals(await isSeen("older-49"), true, "who reads further down stays there");
    await page.locator("#input").fill("say hello");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/#\/runs\/.+/);
    while (await page.locator("[data-run=first-0]").count() === 0) await page.clock.runFor(100);
    await turn();
    isEmpty = true;
    while (await page.locator("[data-run=older-0]").count() > 0) await page.clock.runFor(4_000);
    assertEquals(await page.getByRole("navigation", { name: "Runs" }).textContent(), "Newest runsNo older runs.");
    dashboard.intercept = undefined;
  });

  test("a poll that is told when to come back comes then", async () => {
    let asked = 0;
    dashboard.intercept = ({ url }) => {
      if (!url.includes("/api/runs?")) return undefined;
      asked++;
      return refusal(429, { "retry-after": "60" });
    };
    await go("library");
    await go("runs");
    await page.locator("[data-problem=rate_limited]").first().waitFor();
    // One when the view opens, and one in a moment.
    while (asked < 2) await page.clock.runFor(100);
    for (let times = 0; times < 10; times++) await page.clock.runFor(5_000);
    assertEquals(asked, 2);
    while (asked === 2) await page.clock.runFor(5_000);
    dashboard.intercept = undefined;
  });

  test("a search that fails late does not take the place of what was found since", async () => {
    await go("tools");
    await page.waitForSelector("a.item-link");
    let fail = (): void => {};
    const held = new Promise<void>((resolve) => fail = resolve);
    dashboard.intercept = async ({ url }) => {
      if (!url.includes("query=late")) return undefined;
      await held;
      return refusal(503);
    };
    const late = page.waitForResponse(/query=late/);
    const asked = page.waitForRequest(/query=late/);
    await page.locator("#search").fill("late");
    await page.clock.runFor(200);
    await asked;
    await page.locator("#search").fill("issue");
    await page.clock.runFor(200);
    await page.getByText("for “issue”").waitFor();
    fail();
    await (await late).finished();
    await page.clock.runFor(100);
    assertEquals(await page.locator("nav.items [data-problem]").count(), 0);
    assertEquals(await page.locator("nav.items a.item-link").count() > 0, true);
    dashboard.intercept = undefined;
  });

  test("a resource without contents is said to be empty", async () => {
    dashboard.intercept = ({ url }) => {
      if (url.endsWith("/api/resources/read")) return Response.json({ contents: [] });
      if (!url.includes("/api/resources")) return undefined;
      return Response.json({ resources: [{ server: "a", resource: { uri: "note:1", name: "one" } }] });
    };
    await go("servers");
    await go("library");
    await page.getByRole("button", { name: "Read" }).click();
    await page.getByText("It is empty.").waitFor();
    dashboard.intercept = undefined;
  });
}
