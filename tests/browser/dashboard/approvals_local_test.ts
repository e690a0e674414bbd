/**
 * Approvals in the dashboard, in real Chromium: what is asked is shown whole, and does not move while one decides.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { skip } from "../chromium.ts";
import { keepPicture, openSignedIn } from "./support.ts";
import type { Dashboard, Watched } from "./support.ts";

if (skip) test("approvals in the dashboard", { skip }, () => {});
else describe("approvals in the dashboard", approvalsSuite);

function approvalsSuite(): void {
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

  test("an approval that waits keeps its place and the focus when others come, and says how long it has", async () => {
    const one = (id: string, minutes: number) => ({ id, principal: "bob", expiresAt: Date.now() + minutes * 60_000 });
    let waiting = [one("a", 9)];
    dashboard.intercept = ({ url }) =>
      url.endsWith("/api/approvals") ? Response.json({ approvals: waiting }) : undefined;
    await page.evaluate(() => location.hash = "#/approvals");
    await page.getByText("ends in 9 min").waitFor();
    await page.locator("[data-approval=a]").getByRole("button", { name: "Approve" }).focus();
    waiting = [one("a", 5), one("b", 8)];
    await page.getByText("ends in 8 min").waitFor();
    assertEquals(await page.locator("[data-approval]").count(), 2);
    assertEquals(await page.evaluate(() => document.activeElement?.textContent), "Approve");
    assert(await page.getByText("ends in 5 min").isVisible());
    dashboard.intercept = undefined;
  });

  /** The runner says that these wait; the page's clock goes on until it shows so. */
  async function waiting(...told: readonly string[]): Promise<void> {
    const expiresAt = Date.now() + ++hours * 3_600_000;
    const approvals = told.map((id) => ({ id, principal: id, expiresAt }));
    await answering(Response.json({ approvals }), cardOf(told[0] ?? "").getByText(`ends in ${hours} h`));
  }
  let hours = 30;
  async function answering(reply: Response, shown: Locator): Promise<void> {
    dashboard.intercept = ({ method, url }) =>
      method === "GET" && url.endsWith("/api/approvals") ? reply.clone() : undefined;
    for (let turn = 0; turn < 200 && !await shown.isVisible(); turn++) {
      await page.clock.fastForward(5_000);
      await page.waitForTimeout(50);
    }
    await shown.waitFor();
  }
  const cardOf = (id: string) => page.locator(`main [data-approval="${id}"]`);
  const approve = (id: string) => cardOf(id).getByRole("button", { name: "Approve" });
  const ids = () =>
    page.locator("main [data-approval]").evaluateAll((cards) => cards.map((one) => one.getAttribute("data-approval")));

  test("with a clock of its own, the page asks when it is told to", async () => {
    await page.clock.install();
    await page.reload();
    await page.getByText("Nothing waits for you").waitFor();
  });

  test("an approval that is told of again can be given again", async () => {
    await waiting("a", "b");
    assertEquals(await ids(), ["a", "b"]);
    await waiting("b");
    await cardOf("a").getByText("has ended").waitFor();
    assertEquals(await approve("a").isDisabled(), true);
    await waiting("a", "b");
    await cardOf("a").getByText("ends in ").waitFor();
    assertEquals([await approve("a").isEnabled(), await approve("b").isEnabled()], [true, true]);
  });

  test("what waits stays where it is, and can be given, while the runner cannot be asked", async () => {
    await waiting("a", "b");
    await waiting("b");
    const place = await approve("b").boundingBox();
    await answering(Response.json({ code: "closing" }, { status: 503 }), page.locator("[data-problem=closing]"));
    assertEquals([await approve("b").isEnabled(), await approve("b").boundingBox()], [true, place]);
    await waiting("b", "c");
    assertEquals(await page.locator("[data-problem]").count(), 0);
    assertEquals([await ids(), await approve("b").boundingBox()], [["a", "b", "c"], place]);
  });

  test("what has ended goes as soon as it is out of sight, and nothing in sight moves", async () => {
    const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `n${from + at}`);
    await waiting(...names(0, 20));
    await approve("n10").evaluate((one) => one.scrollIntoView({ block: "center" }));
    const place = async () => Math.round((await approve("n10").boundingBox())?.y ?? 0);
    const before = await place();
    await waiting("n10", ...names(20, 40));
    await waiting("n10", ...names(40, 60));
    const shown = await ids();
    assertEquals(shown.filter((id) => Number(id?.slice(1)) >= 20), names(40, 60));
    assertEquals([shown.length < 28, shown.includes("n10"), shown.includes("n0"), await place()], [
      true,
      true,
      false,
      before,
    ]);
  });

  test("a card is as high when its call has ended, whoever asks for it and however small the screen", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const names = Array.from({ length: 36 }, (_, at) => "mmmm".slice(0, at / 9) + "i".repeat(at % 9 + 1));
    const heights = () =>
      page.locator("main [data-approval]").evaluateAll((cards) => cards.map((one) => one.clientHeight));
    await waiting("first");
    // All of them are in sight: none goes.
    await page.setViewportSize({ width: 390, height: 12_000 });
    await waiting("first", ...names);
    const before = await heights();
    await waiting("first");
    assertEquals(await heights(), before);
    await page.setViewportSize({ width: 1280, height: 860 });
    dashboard.intercept = undefined;
  });

  test("nothing went wrong beside, and nothing was asked of anybody else", () => {
    assertEquals([watched.complaints, watched.strangers], [[], []]);
  });
}
