/**
 * The servers of the dashboard while they change, in real Chromium.
 */
import { assertEquals } from "@std/assert";
import { after, before, beforeEach, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { skip } from "../chromium.ts";
import { openSignedIn } from "./support.ts";
import type { Dashboard } from "./support.ts";

if (skip) test("servers that change in the dashboard", { skip }, () => {});
else describe("servers that change in the dashboard", serversSuite);

function serversSuite(): void {
  const address = "https://login.example/authorize?state=abc";
  const told = { name: "files", tools: 0, resources: 0, prompts: 0, added: true };
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  /** How the server stands. */
  let state: string;

  before(async () => {
    ({ dashboard, browser, page } = await openSignedIn());
  });
  after(async () => {
    await browser?.close();
    await dashboard?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    state = "failed";
    dashboard.intercept = ({ method, url }) => {
      if (method === "GET" && url.endsWith("/api/servers")) return Response.json({ servers: [{ ...told, state }] });
      if (!url.endsWith("/files/connect")) return undefined;
      state = "authorizing";
      return Response.json({ ...told, state, authorizationUrl: address });
    };
    await page.evaluate(() => location.hash = "#/library");
    await page.evaluate(() => location.hash = "#/servers");
    await page.locator(".badge", { hasText: "failed" }).waitFor();
  });

  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const stands = (word: string) => page.locator(".badge", { hasText: word }).waitFor();

  test("the address of a sign-in stays when the list says what the server wants, and goes when that is connected", async () => {
    await button("Connect again").click();
    await page.waitForSelector("[data-part=authorization-url]");
    await stands("wants a sign-in");
    assertEquals(await page.locator("[data-part=authorization-url]").textContent(), address);
    state = "connected";
    await stands("connected");
    assertEquals(await page.locator("[data-part=authorization-url]").count(), 0);
  });

  test("an address that comes when the card is another one already is shown on that one", async () => {
    const { intercept } = dashboard;
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      dashboard.intercept = async (request) => {
        if (request.url.endsWith("/files/connect")) await new Promise<void>((open) => resolve(void (answer = open)));
        return await intercept?.(request);
      };
    });
    await button("Connect again").click();
    await asked;
    state = "connecting";
    await stands("connecting");
    answer();
    await page.waitForSelector("[data-part=authorization-url]");
  });

  test("whether a server is removed can be said while that changes", async () => {
    await button("Remove").click();
    await button("Remove it").waitFor();
    state = "reconnecting";
    await stands("reconnecting");
    assertEquals(await page.evaluate(() => document.activeElement?.textContent), "Remove it");
    await button("Keep it").click();
    assertEquals(await button("Remove it").count(), 0);
    assertEquals(await page.evaluate(() => document.activeElement?.textContent), "Remove");
  });
}
