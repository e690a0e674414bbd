/** Starting a run in the dashboard, in real Chromium: how the model answers, and a start that is sent again. */
import { assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { skip } from "../chromium.ts";
import { openSignedIn } from "../dashboard/support.ts";
import type { Dashboard } from "../dashboard/support.ts";

if (skip) test("a start of a run in the dashboard", { skip }, () => {});
else describe("a start of a run in the dashboard", startSuite);

function startSuite(): void {
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

  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  async function open(input: string): Promise<void> {
    await page.evaluate(() => location.hash = "#/runs");
    await page.locator("#input").fill(input);
  }

  test("says how the model answers, where that is wanted", async () => {
    await open("say hello");
    await page.getByText("How the model answers").click();
    await page.getByLabel("temperature").fill("3");
    await press("Start");
    await page.getByLabel("temperature").and(page.locator("[aria-invalid=true]:focus")).waitFor();
    assertEquals(dashboard.runs.tasks.length, 0);
    await page.getByText("How the model answers").click();
    await press("Start");
    await page.getByLabel("temperature").and(page.locator(":focus")).waitFor();
    await page.getByLabel("temperature").fill("0.5");
    await page.getByLabel("maxOutputTokens").fill("200");
    await press("Add");
    await page.getByLabel("Item").fill("END");
    await press("Start");
    await page.waitForURL(/#\/runs\/.+/);
    const settings = { temperature: 0.5, maxOutputTokens: 200, stopSequences: ["END"] };
    assertEquals(dashboard.runs.tasks.at(-1)?.settings, settings);
    await open("say hello");
    await press("Start");
    await page.waitForURL(/#\/runs\/.+/);
    assertEquals(dashboard.runs.tasks.at(-1)?.settings, undefined);
  });

  test("that is sent again under its key is one run, and another one once it says something else", async () => {
    const keys: (string | null)[] = [];
    dashboard.intercept = ({ method, url, headers }) => {
      if (method !== "POST" || !url.endsWith("/api/runs")) return undefined;
      keys.push(headers.get("idempotency-key"));
      return Response.json({ code: "unavailable", detail: "Not now" }, { status: 503 });
    };
    await open("say hello twice");
    const start = async () => {
      const count = keys.length;
      await press("Start");
      await page.getByText("Not now").waitFor();
      while (keys.length === count) await page.waitForTimeout(10);
    };
    await start();
    await start();
    await page.getByText("How the model answers").click();
    await press("Add");
    await page.getByLabel("Item").fill("END");
    await start();
    await press("Remove");
    await start();
    assertEquals(keys.map((key) => keys.indexOf(key)), [0, 0, 2, 3]);
    dashboard.intercept = undefined;
  });
}
