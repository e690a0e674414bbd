/**
 * Approvals in the dashboard, in real Chromium: what is asked is shown whole, and does not move while one decides.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium, skip } from "../chromium.ts";
import { keepPicture, openDashboard, watchedPage } from "./support.ts";
import type { Dashboard, Watched } from "./support.ts";

if (skip) test("approvals in the dashboard", { skip }, () => {});
else describe("approvals in the dashboard", approvalsSuite);

function approvalsSuite(): void {
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

  test("a call that wants an approval is shown whole, with what hides in it, before it is made (D11)", async () => {
    await page.evaluate(() => location.hash = "#/tools/files__delete_file");
    await page.waitForSelector("[data-open-tool=files__delete_file]");
    await page.getByLabel("path").fill("/tmp/\u202efdp.exe\u200b");
    await press("Call");
    await page.waitForSelector("[data-approval]");
    assertEquals(dashboard.ledger.filter(({ tool }) => tool === "delete_file").length, 0);
    assertEquals(
      await page.locator("[data-part=approval-arguments]").textContent(),
      '{\n  "path": "/tmp/\\u{202e}fdp.exe\\u{200b}"\n}',
    );
    assertStringIncludes(
      await page.locator("[data-hidden]").textContent() ?? "",
      "What would be sent has 2 hidden characters",
    );
    assertStringIncludes(await page.locator("[data-hidden]").textContent() ?? "", "U+202E, U+200B");
    await keepPicture(page, "light-approval");
    await press("Approve and call");
    await page.waitForSelector(".result");
    assertEquals(dashboard.ledger.at(-1), { tool: "delete_file", given: { path: "/tmp/\u202efdp.exe\u200b" } });
    await press("Call");
    await page.waitForSelector("[data-approval]");
    await page.evaluate(() => location.hash = "#/approvals");
    await page.waitForSelector("main [data-approval]");
    await page.locator(".places .count").getByText("1", { exact: true }).waitFor();
    await press("Decline");
    await page.getByText("Nothing waits for you").waitFor();
    assertEquals(dashboard.ledger.filter(({ tool }) => tool === "delete_file").length, 1);
  });

  test("what one is about to approve does not move when others go and come", async () => {
    const ask = (path: string, body: object) =>
      fetch(`${dashboard.origin}/api/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${dashboard.key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const propose = async (path: string): Promise<string> =>
      (await (await ask("tools/files__delete_file", { path })).json()).approval.id;
    const card = (id: string) => page.locator(`main [data-approval="${id}"]`);
    const button = (id: string) => card(id).getByRole("button", { name: "Approve" });
    const [first, second] = [await propose("one"), await propose("two")];
    await page.evaluate(() => location.hash = "#/approvals");
    await button(second).waitFor();
    const place = await button(second).boundingBox();
    await ask(`approvals/${first}`, { action: "decline" });
    const third = await propose("three");
    await card(third).waitFor();
    await card(first).getByText("has ended").waitFor();
    assertEquals([await button(first).isDisabled(), await button(second).boundingBox()], [true, place]);
    const below = await button(third).boundingBox();
    await button(second).click();
    await card(second).getByText("has ended").waitFor();
    assertEquals([await button(second).isDisabled(), await button(third).boundingBox()], [true, below]);
    await card(third).getByRole("button", { name: "Decline" }).click();
    await page.getByText("Nothing waits for you").waitFor();
  });

  test("nothing went wrong beside, and nothing was asked of anybody else", () => {
    assertEquals([watched.complaints, watched.strangers], [[], []]);
  });
}
