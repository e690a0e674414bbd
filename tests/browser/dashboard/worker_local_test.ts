/**
 * The dashboard of the deployed Worker, in real Chromium: a person signs in with a key, sees the tenant's servers, calls a tool, and
 * follows a run.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Browser } from "playwright-core";
import { after, before, describe, test } from "node:test";
import { startRun, startWorld } from "../../workers/runner/world.ts";
import type { WorkerWorld } from "../../workers/runner/world.ts";
import { launchChromium, skip } from "../chromium.ts";
import { watchedPage } from "./support.ts";

if (skip) test("the dashboard of the Worker", { skip }, () => {});
else describe("the dashboard of the Worker", workerSuite);

function workerSuite(): void {
  let browser: Browser;
  let world: WorkerWorld;
  before(async () => {
    [browser, world] = await Promise.all([launchChromium(), startWorld()]);
  });
  after(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });

  test("a person signs in with a key, and uses the tenant's servers", async () => {
    // A key that nobody knows says so; the page asks nobody else, and nothing is reported.
    const { context, page, complaints, strangers } = await watchedPage(browser, world.url);
    await page.goto(world.url);
    await page.locator("#key").fill(world.key("nobody"));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForSelector("[data-problem=not_signed_in]");
    await page.locator("#key").fill(world.key("ada"));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForSelector('a.item-link[href="#/tools/data__fetch_data"]');
    const [cookie] = await context.cookies();
    assertEquals([cookie?.httpOnly, cookie?.sameSite], [true, "Strict"]);

    await page.evaluate(() => location.hash = "#/tools/data__fetch_data");
    await page.getByLabel("city").fill("Rome");
    await page.getByLabel("city").press("Control+Enter");
    await page.waitForSelector(".result");
    assertStringIncludes(
      await page.locator("[data-part=structured]").textContent() ?? "",
      "Rome as acme.example knows it",
    );
    assertEquals(world.ledger.map(({ given }) => given.city), ["Rome"]);

    await page.evaluate(() => location.hash = "#/servers");
    await page.waitForSelector("[data-server=data]");
    const detail = page.waitForResponse((reply) => reply.url() === `${world.url}/api/servers/data`);
    await page.getByText("What it says").click();
    assertEquals((await detail).status(), 200);

    const { id } = await startRun(world, "say hello");
    await page.evaluate((id) => location.hash = `#/runs/${id}`, id);
    await page.waitForSelector(".moment.end");

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForSelector("#key");
    assertEquals(await page.evaluate(async () => (await fetch("/api/servers/data")).status), 401);
    assertEquals([complaints, strangers], [[], []]);
    await context.close();
  });
}
