/**
 * Sessions of the dashboard that end while somebody is at work, in real Chromium; in one tab, and in two.
 */
import { assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { skip } from "../chromium.ts";
import { openSignedIn, watchedPage } from "../dashboard/support.ts";
import type { Dashboard, Watched } from "../dashboard/support.ts";

if (skip) test("sessions of the dashboard that end", { skip }, () => {});
else describe("sessions of the dashboard that end", sessionsSuite);

function sessionsSuite(): void {
  let dashboard: Dashboard;
  let browser: Browser;
  let watched: Watched;
  let context: BrowserContext;
  let page: Page;

  before(async () => {
    ({ dashboard, browser, watched, page } = await openSignedIn());
    ({ context } = watched);
  });
  after(async () => {
    await browser?.close();
    await dashboard?.[Symbol.asyncDispose]();
  });

  const press = (name: string, on: Page = page) => on.getByRole("button", { name, exact: true }).click();

  /** Opens a tool, writes into its form, and has the session end: the call is refused. */
  async function writeAndEnd(): Promise<void> {
    await page.evaluate(() => location.hash = "#/tools/weather__forecast");
    await page.getByLabel("place").fill("Zürich");
    await context.clearCookies();
    // It may have been found out in the background already.
    await page.evaluate(() => document.querySelector<HTMLElement>("[data-open-tool] .button.main")?.click());
    await page.waitForSelector("#key");
    assertEquals(await page.locator("header.top, [data-open-tool]").count(), 0);
  }

  async function signIn(on: Page = page): Promise<void> {
    await on.locator("#key").fill(dashboard.key);
    await press("Sign in", on);
  }

  test("what was typed when a session ended is there when its person is in again, and works", async () => {
    const before = dashboard.ledger.length;
    await writeAndEnd();
    await signIn();
    await page.waitForSelector("[data-open-tool=weather__forecast]");
    assertEquals(await page.getByLabel("place").inputValue(), "Zürich");
    assertEquals([new URL(page.url()).hash, await page.title()], [
      "#/tools/weather__forecast",
      "weather__forecast · Causeway",
    ]);
    // Nothing is sent again by itself.
    assertEquals(dashboard.ledger.length, before);
    await press("Call");
    await page.waitForSelector(".result");
    assertEquals(dashboard.ledger.at(-1), { tool: "forecast", given: { place: "Zürich", days: 3 } });
  });

  test("who pressed something when the session ended goes on with the page when they are back", async () => {
    await page.evaluate(() => location.hash = "#/tools/weather__forecast");
    await page.getByLabel("place").fill("Zürich");
    await page.getByRole("button", { name: "Call", exact: true }).focus();
    await context.clearCookies();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#key");
    await signIn();
    await page.waitForSelector("[data-open-tool=weather__forecast]");
    assertEquals(await page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent), "main");
  });

  test("who is back after a while is not told that the runner cannot be reached", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    await page.clock.install();
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
    await page.evaluate(() => location.hash = "#/approvals");
    await page.getByText("Nothing waits for you").waitFor();
    await context.clearCookies();
    await page.clock.fastForward(10_000);
    await page.waitForSelector("#key");
    for (let at = 0; at < 5; at++) {
      await page.clock.fastForward(10_000);
      await page.waitForTimeout(50);
    }
    dashboard.intercept = ({ url }) => url.endsWith("/api/approvals") ? new Promise(() => {}) : undefined;
    await signIn(page);
    await page.getByRole("heading", { name: "Approvals" }).waitFor();
    assertEquals(await page.locator("[data-problem]").allTextContents(), []);
    dashboard.intercept = undefined;
    await context.close();
  });

  test("a sign-out that failed leaves the page all the same, and is not what one comes back to", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    await page.clock.install();
    await page.goto(await dashboard.link());
    await page.waitForSelector("a.item-link");
    dashboard.intercept = ({ method }) =>
      method === "DELETE" ? Response.json({ code: "closing" }, { status: 503 }) : undefined;
    await press("Sign out", page);
    await page.waitForSelector("[data-problem=closing]");
    dashboard.intercept = undefined;
    await context.clearCookies();
    const before = dashboard.seen.length;
    await page.clock.fastForward(60_000);
    await page.evaluate(async () => (await fetch("/api/session")).status);
    assertEquals(dashboard.seen.slice(before).filter(({ line }) => line.endsWith("/api/approvals")), []);
    await press("Try again", page);
    await page.waitForSelector("#key");
    await signIn(page);
    await page.locator("[data-part=who]").waitFor();
    assertEquals(await page.locator("[data-problem]").count(), 0);
    await context.close();
  });

  test("a link that is opened where the session has ended brings back what was typed, too", async () => {
    await writeAndEnd();
    await page.goto(await dashboard.link());
    await page.waitForSelector("[data-open-tool=weather__forecast]");
    assertEquals(await page.getByLabel("place").inputValue(), "Zürich");
    assertEquals(new URL(page.url()).hash, "#/tools/weather__forecast");
  });

  test("whoever signs in after somebody else finds nothing of theirs", async () => {
    await writeAndEnd();
    const token = await dashboard.sessions.invite({ id: "bob", tenant: "acme" });
    await page.locator("#key").fill(token);
    await press("Sign in");
    await page.locator("[data-part=who]", { hasText: "bob" }).waitFor();
    assertEquals(await page.getByLabel("place").inputValue(), "");
  });

  test("a run that was followed goes on behind its last event", async () => {
    await page.evaluate(() => location.hash = "#/runs");
    await page.locator("#input").fill("hang");
    await press("Start");
    await page.waitForURL(/#\/runs\/.+/);
    const id = decodeURIComponent(page.url().split("/runs/")[1] ?? "");
    dashboard.runs.tell(id, { type: "text", step: 1, text: "before " });
    await page.getByText("before").waitFor();
    const question = { id: "q", kind: "elicitation" as const, server: "tracker", message: "", askedAt: 0 };
    const requestedSchema = { type: "object" as const, properties: { why: { type: "string" as const } } };
    dashboard.runs.askFor(id, { ...question, request: { message: "Why?", requestedSchema } });
    await page.getByLabel("why").fill("because");
    await context.clearCookies();
    // The list of runs is asked for all the time.
    await page.waitForSelector("#key");
    const token = await dashboard.sessions.invite({ id: "bob", tenant: "acme" });
    await page.locator("#key").fill(token);
    await press("Sign in");
    await page.waitForSelector("[data-question=q]");
    assertEquals(await page.getByLabel("why").inputValue(), "because");
    await press("Send");
    await page.locator("[data-question=q] .badge", { hasText: "accepted" }).waitFor();
    assertEquals(dashboard.runs.answers.at(-1)?.answer, { action: "accept", content: { why: "because" } });
    assertEquals(await page.locator("[data-part=model-text]").allTextContents(), ["before "]);
  });

  test("who has signed out in another tab can sign out here, and who has signed in there is in here", async () => {
    const other = await context.newPage();
    await other.goto(dashboard.origin);
    await other.waitForSelector("a.item-link");
    // What is asked in the background does not tell the first one before its button is pressed.
    await page.evaluate(() => location.hash = "#/tools/weather__forecast");
    await page.waitForSelector("[data-open-tool=weather__forecast]");
    dashboard.intercept = ({ method, url }) =>
      method === "GET" && url.endsWith("/api/approvals") ? Response.json({ approvals: [] }) : undefined;
    await press("Sign out", other);
    await other.waitForSelector("#key");
    await press("Sign out");
    await page.waitForSelector("#key");
    dashboard.intercept = undefined;
    assertEquals(await page.locator("[data-problem]").count(), 0);
    await signIn(other);
    await other.waitForSelector("a.item-link");
    // Headless pages are never hidden: the tab is looked at again.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await page.locator("[data-part=who]", { hasText: "ada" }).waitFor();
    await press("Sign out", other);
    await other.locator("#key").fill(await dashboard.sessions.invite({ id: "bob", tenant: "acme" }));
    await press("Sign in", other);
    await other.waitForSelector("a.item-link");
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await page.locator("[data-part=who]", { hasText: "bob" }).waitFor();
    await other.close();
  });

  test("a runner that is away when the page is opened can be asked again", async () => {
    dashboard.intercept = ({ url }) =>
      url.endsWith("/api/session") ? Response.json({ code: "closing" }, { status: 503 }) : undefined;
    await page.reload();
    await page.waitForSelector("[data-problem=closing]");
    dashboard.intercept = undefined;
    await press("Try again");
    await page.locator("[data-part=who]").waitFor();
  });

  test("a browser that keeps no cookies is told so", async () => {
    const { context, page } = await watchedPage(browser, dashboard.origin);
    dashboard.intercept = ({ method, url }) =>
      method === "POST" && url.endsWith("/api/session") ? new Response(null, { status: 204 }) : undefined;
    await page.goto(dashboard.origin);
    await signIn(page);
    await page.waitForSelector("[data-problem=no_cookie]");
    dashboard.intercept = undefined;
    await context.close();
  });

  test("nothing went wrong beside", () => assertEquals([watched.complaints, watched.strangers], [[], []]));
}
