/**
 * The dashboard with a keyboard and a screen reader, in real Chromium: where the focus goes, what is told, and what can be seen.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { skip } from "../chromium.ts";
import { proposed } from "../dashboard/demo.ts";
import { openSignedIn } from "../dashboard/support.ts";
import type { Dashboard } from "../dashboard/support.ts";

if (skip) test("the dashboard with a keyboard and a screen reader", { skip }, () => {});
else describe("the dashboard with a keyboard and a screen reader", keyboardSuite);

function keyboardSuite(): void {
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

  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const go = (hash: string) => page.evaluate((hash) => location.hash = hash, hash);
  const focused = () =>
    page.evaluate(() => {
      const at = document.activeElement as HTMLElement | null;
      return at?.dataset.question ?? (at?.id || at?.textContent);
    });
  /** Waits until that has the focus: what one sees may come by another connection than the answer that gives it back. */
  const hasFocus = (name: string) =>
    page.waitForFunction((name) => {
      const at = document.activeElement;
      return at !== document.body && (at?.id || at?.textContent) === name;
    }, name);
  /** What screen readers are told from now on. */
  const listen = () =>
    page.evaluate(() => {
      const told: string[] = [];
      const watch = new MutationObserver((list) => {
        for (const { target } of list) {
          const live = (target instanceof Element ? target : target.parentElement)?.closest("[aria-live]");
          if (live && live.textContent) told.push(live.textContent);
        }
      });
      watch.observe(document.body, { childList: true, characterData: true, subtree: true });
      Object.assign(globalThis, { told });
    });
  const told = () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
  async function press(name: string): Promise<void> {
    await button(name).focus();
    await page.keyboard.press("Enter");
  }
  async function start(): Promise<string> {
    await go("#/runs");
    await page.locator("#input").fill("hang");
    await button("Start").click();
    await page.waitForURL(/#\/runs\/.+/);
    await page.waitForSelector(".timeline li");
    return decodeURIComponent(page.url().split("/runs/")[1] ?? "");
  }
  function approval(run: string, id: string): void {
    const more = { server: "tracker", message: "May it?", askedAt: 0, kind: "approval" as const };
    dashboard.runs.askFor(run, { id, ...more, call: proposed() });
  }

  test("a call that is called off leaves the focus where the next one begins", async () => {
    await go("#/tools/files__slow");
    await page.waitForSelector("[data-open-tool=files__slow]");
    await press("Call");
    await page.locator("progress").waitFor({ state: "visible" });
    await press("Cancel");
    await page.getByText("Cancelled.").waitFor();
    assertEquals(await focused(), "Call");
  });

  test("of a call it is told that it began and how it ended, and not all that it gave", async () => {
    await go("#/tools/weather__forecast");
    await page.waitForSelector("[data-open-tool=weather__forecast]");
    await page.getByLabel("place").fill("Bern");
    await listen();
    await press("Call");
    await page.waitForSelector(".result");
    assertEquals(await told(), ["Calling", "The result is there"]);
  });

  test("a question that is answered leaves the focus at it, and a run that is cancelled on the page", async () => {
    const id = await start();
    approval(id, "first");
    approval(id, "second");
    await page.waitForSelector("[data-question=second]");
    await page.locator("[data-question=first]").getByRole("button", { name: "Approve" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("[data-question=first] .badge", { hasText: "accepted" }).waitFor();
    assertEquals(await focused(), "first");
    await page.keyboard.press("Tab");
    assertEquals(await page.evaluate(() => document.activeElement?.closest("[data-question=second]") !== null), true);
    await press("Cancel the run");
    await page.getByText("Cancelled by ada").waitFor();
    await button("Cancel the run").waitFor({ state: "hidden" });
    await hasFocus("main");
  });

  test("a run that is over is not told as one that waits", async () => {
    const id = await start();
    approval(id, "asked");
    await page.waitForSelector("[data-question=asked]");
    await button("Cancel the run").click();
    await page.getByText("Cancelled by ada").waitFor();
    await go("#/runs");
    await page.locator("#input").waitFor();
    await listen();
    await go(`#/runs/${id}`);
    await page.getByText("Cancelled by ada").waitFor();
    await page.waitForFunction(() => (globalThis as unknown as { told: string[] }).told.includes("The run is over"));
    assertEquals((await told()).includes("The run waits for you"), false);
  });

  test("a question does not move while it waits, whatever the run goes on to tell", async () => {
    const id = await start();
    for (let step = 2; step < 40; step++) dashboard.runs.tell(id, { type: "step", step });
    approval(id, "asked");
    const approve = page.locator("[data-question=asked]").getByRole("button", { name: "Approve" });
    await approve.waitFor();
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    const place = await approve.boundingBox();
    for (let step = 40; step < 60; step++) dashboard.runs.tell(id, { type: "step", step });
    await page.getByText("Step 59").waitFor();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    assertEquals(await approve.boundingBox(), place);
  });

  test("a server that is connected to again keeps the focus on its button, whatever becomes of it", async () => {
    const told = { name: "files", tools: 1, resources: 0, prompts: 0, added: true };
    let state = "failed";
    dashboard.intercept = ({ method, url }) => {
      if (method === "GET" && url.endsWith("/api/servers")) return Response.json({ servers: [{ ...told, state }] });
      if (!url.endsWith("/files/connect")) return undefined;
      state = "connected";
      return Response.json({ ...told, state });
    };
    await go("#/servers");
    await page.locator(".badge", { hasText: "failed" }).waitFor();
    await press("Connect again");
    await page.locator(".badge", { hasText: "connected" }).waitFor();
    await hasFocus("Connect again");
    dashboard.intercept = undefined;
  });

  test("what is wrong with a field is tied to it, and the focus goes there", async () => {
    const inputSchema = {
      type: "object",
      required: ["tags", "name"],
      properties: {
        tags: { type: "array", minItems: 1, items: { enum: ["red", "blue"] } },
        name: { type: "string", minLength: 2 },
      },
    };
    dashboard.intercept = ({ url }) =>
      url.includes("/api/tools?")
        ? Response.json({ tools: [{ name: "a__wrong", server: "a", tool: { name: "wrong", inputSchema } }] })
        : undefined;
    await go("#/tools/a__wrong");
    await page.waitForSelector("[data-open-tool=a__wrong]");
    await page.getByLabel("name").fill("xx");
    await press("Call");
    assertEquals(await page.evaluate(() => document.activeElement?.getAttribute("type")), "checkbox");
    await button("JSON").click();
    const json = page.locator("#argument-json");
    await json.fill("{");
    await press("Call");
    assertEquals([await json.getAttribute("aria-invalid"), await focused()], ["true", "argument-json"]);
    const about = await json.getAttribute("aria-describedby");
    assertStringIncludes(await page.locator(`#${about}`).textContent() ?? "", "This is no JSON");
    dashboard.intercept = undefined;
    await go("#/servers");
    await page.locator("#add-name").fill("one");
    await page.locator("#add-url").fill("https://one.example/mcp");
    await page.locator("#add-header").fill("no header");
    await press("Add");
    assertEquals([await page.locator("#add-header").getAttribute("aria-invalid"), await focused()], [
      "true",
      "add-header",
    ]);
    await go("#/runs");
    await page.locator("#input").fill("hang");
    await page.getByText("Output that fits a schema").click();
    await page.locator("#output").fill("{");
    await press("Start");
    assertEquals([await page.locator("#output").getAttribute("aria-invalid"), await focused()], ["true", "output"]);
  });

  test("what has nothing in it yet is shown: fields of templates, and pictures of resources", async () => {
    const blob = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
    dashboard.intercept = ({ url }) => {
      if (url.endsWith("/api/resources/read")) {
        return Response.json({ contents: [{ uri: "a:b", mimeType: "image/png", blob }] });
      }
      const template = { name: "page", uriTemplate: "a:{page}" };
      return url.endsWith("/api/resources")
        ? Response.json({ resources: [], templates: [{ server: "a", template }] })
        : undefined;
    };
    await go("#/library");
    await page.getByLabel("Address").fill("a:b");
    await button("Read").click();
    await page.getByRole("img", { name: "A picture that the server gave" }).waitFor();
    dashboard.intercept = undefined;
  });

  test("headings go down step by step from one of the first level, and what scrolls is reached by the keyboard", async () => {
    dashboard.intercept = ({ method, url }) => {
      if (method !== "POST" || !url.includes("/api/tools/")) return undefined;
      const text = "line\n".repeat(300);
      return Response.json({ content: [{ type: "text", text }], structuredContent: { text } });
    };
    await go("#/tools/files__read_file");
    await page.getByLabel("path").fill("/x");
    await button("Call").click();
    await page.waitForSelector(".result");
    for (const summary of await page.locator("summary").all()) await summary.click();
    await looksWell("a result");
    dashboard.intercept = undefined;
    const id = await start();
    dashboard.runs.tell(id, { type: "text", step: 1, text: "half" });
    dashboard.runs.tell(id, { type: "restarted", step: 1, reason: "it died" });
    approval(id, "asked");
    await page.waitForSelector("[data-question=asked]");
    await looksWell("a run");
    // What is void is struck through, and can still be read.
    const opacity = await page.locator(".is-void").evaluate((one) => Number(getComputedStyle(one).opacity));
    assertEquals(opacity >= 0.85, true);
    await go("#/servers");
    await page.locator("[data-server=tracker] summary").click();
    await page.waitForSelector("[data-server=tracker] .log", { state: "attached" });
    await looksWell("servers");
    for (const place of ["approvals", "library", "nowhere"]) {
      await go(`#/${place}`);
      await page.waitForSelector("h1");
      await looksWell(place);
    }
  });
  async function looksWell(where: string): Promise<void> {
    const found = await page.evaluate(() => {
      const shown = (one: Element) => one.checkVisibility();
      const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(shown).map((one) =>
        Number(one.tagName[1])
      );
      const jumps = levels.filter((level, at) => at > 0 && level > levels[at - 1]! + 1);
      const stuck = [...document.querySelectorAll("main *")].filter((one) =>
        shown(one) && one.scrollHeight > one.clientHeight + 20 && /auto|scroll/.test(getComputedStyle(one).overflowY) &&
        !one.matches("[tabindex], textarea, select") && !one.querySelector("a[href], button, input, [tabindex]")
      );
      return { first: levels.includes(1), jumps, stuck: stuck.map((one) => one.className) };
    });
    assertEquals(found, { first: true, jumps: [], stuck: [] }, where);
  }

  test("in colours of the system alone it can be seen what is chosen", async () => {
    await page.emulateMedia({ forcedColors: "active" });
    await go("#/tools/weather__forecast");
    await page.waitForSelector("[data-open-tool=weather__forecast]");
    const outline = (selector: string) =>
      page.locator(selector).first().evaluate((one) => getComputedStyle(one).outlineStyle);
    for (const place of [".places a", ".item-link"]) {
      assertEquals([await outline(`${place}[aria-current]`), await outline(`${place}:not([aria-current])`)], [
        "solid",
        "none",
      ]);
    }
    assertEquals([await outline(".segment[aria-pressed=true]"), await outline(".segment[aria-pressed=false]")], [
      "solid",
      "none",
    ]);
    await page.emulateMedia({ forcedColors: "none" });
  });
}
