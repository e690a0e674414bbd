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

  test("a row of runs that is pressed stays while the list changes, and the newest are said to be that", async () => {
    let asked = 0;
    dashboard.intercept = ({ url }) => {
      if (!url.includes("/api/runs?")) return undefined;
      const runs = [{ id: "run-1", agent: "assistant", state: "succeeded", createdAt: 0, steps: ++asked }];
      return Response.json({ runs, ...(asked < 3 && { next: "0.run-1" }) });
    };
    await go("runs");
    const row = page.locator("[data-run=run-1]");
    await row.waitFor();
    await page.getByText("The newest 1 run.").waitFor();
    await row.hover();
    await page.mouse.down();
    const before = asked;
    while (asked < before + 2) await page.clock.runFor(4_000);
    await page.mouse.up();
    await page.waitForURL(/#\/runs\/run-1$/);
    await page.clock.runFor(4_000);
    await page.getByText("The newest 1 run.").waitFor({ state: "detached" });
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
