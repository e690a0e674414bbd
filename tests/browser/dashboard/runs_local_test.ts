/**
 * Runs in the dashboard, in real Chromium: live, over broken connections, with questions of each kind; and on a phone.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { AgentQuestion } from "../../../src/agent/loop/seam.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { skip } from "../chromium.ts";
import { proposed, story } from "./demo.ts";
import { keepPicture, openSignedIn, watchedPage } from "./support.ts";
import type { Dashboard, Watched } from "./support.ts";

if (skip) test("runs in the dashboard", { skip }, () => {});
else describe("runs in the dashboard", runsSuite);

function runsSuite(): void {
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

  /** Starts a run on the page. */
  async function start(input: string, on: Page = page): Promise<string> {
    await on.evaluate(() => location.hash = "#/runs");
    await on.locator("#input").fill(input);
    await on.getByRole("button", { name: "Start" }).click();
    await on.waitForURL(/#\/runs\/.+/);
    await on.waitForSelector(".timeline", { state: "attached" });
    return decodeURIComponent(on.url().split("/runs/")[1] ?? "");
  }
  function ask(
    id: string,
    question: { id: string; message?: string } & Pick<AgentQuestion & { kind: "elicitation" }, "kind" | "request">,
  ): Promise<unknown> {
    dashboard.runs.askFor(id, { server: "tracker", message: "", askedAt: Date.now(), ...question });
    return page.waitForSelector(`[data-question=${question.id}]`);
  }
  const answer = (id: string, name: string) =>
    page.locator(`[data-question=${id}]`).getByRole("button", { name }).click();
  const answered = (id: string) =>
    page.waitForFunction((id) => !document.querySelector(`[data-question=${id}]`)?.classList.contains("attention"), id);

  test("a run is started, told and over", async () => {
    const id = await start("hello");
    await page.waitForSelector(".moment.end");
    assertEquals(dashboard.runs.tasks.at(-1)?.input, "hello");
    assertEquals(await page.locator("[data-part=model-text]").textContent(), "You said: hello");
    assertEquals(await page.locator("header .badge").textContent(), "over");
    assertStringIncludes(await page.locator("[data-usage]").textContent() ?? "", "7 tokens in, 3 out");
    await page.waitForSelector(`[data-run="${id}"] .badge.good`);
    assertEquals(await page.getByRole("button", { name: "Cancel the run" }).isVisible(), false);
  });

  test("the stream is taken up behind its last event: nothing is lost, and nothing told twice", async () => {
    let broken = 0;
    dashboard.intercept = async (request) => {
      if (!request.url.endsWith("/events") || broken >= 3) return undefined;
      broken++;
      const reply = await dashboard.runner.fetch(request);
      return new Response(cutAfter(reply.body!, 2), reply);
    };
    const id = await start("hang");
    for (const event of story(Date.now())) dashboard.runs.tell(id, event);
    await page.getByText("It rains on Sunday. I open an issue about the roof.").waitFor({ timeout: 20_000 });
    const asked = dashboard.seen.filter(({ line }) => line.endsWith(`${id}/events`));
    assertEquals(broken, 3);
    assertEquals(asked.map(({ headers }) => headers.get("last-event-id")), [null, "2", "4", "6"]);
    const told = await page.locator(".timeline > li").evaluateAll((items) =>
      items.map((one) => one.className.replace("moment ", ""))
    );
    assertEquals(told, ["step", "reasoning", "text", "call", "step", "text"]);
    assertEquals(
      await page.locator("[data-part=model-text]").first().textContent(),
      "I look at the weather, then I write the issue.",
    );
    const card = await page.locator("[data-call=call-0]").textContent() ?? "";
    for (const part of ["forecast", "ok", "took 412 ms", "validated", "calls itself weather 1.4.2"]) {
      assertStringIncludes(card, part);
    }
    dashboard.intercept = undefined;
    await keepPicture(page, "light-run");
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.getByText("Cancelled by ada").waitFor();
    assertEquals((await dashboard.runs.get(id))?.state, "cancelled");
  });

  test("a step that begins again voids what came of it", async () => {
    const id = await start("hang");
    dashboard.runs.tell(id, { type: "text", step: 1, text: "half of " });
    dashboard.runs.tell(id, { type: "restarted", step: 1, reason: "the process died" });
    dashboard.runs.tell(id, { type: "text", step: 1, text: "the whole" });
    await page.getByText("the whole").waitFor();
    assertEquals(await page.locator(".is-void").allTextContents(), ["half of "]);
    assertEquals(await page.locator(".moment.text:not(.is-void)").allTextContents(), ["the whole"]);
  });

  test("an approval shows the call with what hides in it (D11), and takes yes or no once", async () => {
    const id = await start("hang");
    const call = proposed({
      arguments: { path: "a\u202eb", note: "x\u{e0061}\u{e0062}" },
      hidden: ["description of the tool: U+200B"],
    });
    const expiresAt = Date.now() + 600_000;
    const asked = { id: "q-1", server: "tracker", message: "May it?", askedAt: 0, kind: "approval", call } as const;
    dashboard.runs.askFor(id, { ...asked, expiresAt });
    await page.waitForSelector("[data-question=q-1]");
    const card = await page.locator("[data-question=q-1]").textContent() ?? "";
    for (
      const part of [
        "\\u{202e}",
        "U+202E",
        "They spell: ab",
        "description of the tool: U+200B",
        "create_issue",
        "tracker",
        "ends in 10 min",
      ]
    ) assertStringIncludes(card, part);
    await answer("q-1", "Approve");
    await answered("q-1");
    assertEquals((await page.locator("[data-question=q-1]").textContent())?.includes("Without an answer"), false);
    assertEquals(dashboard.runs.answers.at(-1), { question: "q-1", answer: { action: "accept" } });
    assertEquals(await page.locator("[data-question=q-1] button").count(), 0);
  });

  test("a question that waits says how long it has still", async () => {
    const id = await start("hang");
    const asked = { server: "tracker", message: "", askedAt: 0, kind: "approval", call: proposed({}) } as const;
    dashboard.runs.askFor(id, { ...asked, id: "q-2", expiresAt: Date.now() + 2_000 });
    await page.locator("[data-question=q-2]").getByText("Its time is over.").waitFor();
    await answer("q-2", "Decline");
    await answered("q-2");
  });

  test("a question that waits does not move when the one above it is answered", async () => {
    const id = await start("hang");
    for (const one of ["above", "below"]) {
      dashboard.runs.askFor(id, {
        id: one,
        server: "tracker",
        message: "May it?",
        askedAt: 0,
        kind: "approval",
        call: proposed(),
      });
    }
    const below = page.locator("[data-question=below]").getByRole("button", { name: "Approve" });
    await below.waitFor();
    // With the next frame one is at the end, where the questions have come.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await page.evaluate(() => scrollTo(0, 0));
    const place = await below.boundingBox();
    await answer("above", "Approve");
    await answered("above");
    assertEquals(await below.boundingBox(), place);
    assertEquals(await page.locator("[data-question=above] button").count(), 0);
  });

  test("a form of a server says who asks, is checked, and sends what was filled in (D8)", async () => {
    const id = await start("hang");
    const requestedSchema = {
      type: "object" as const,
      required: ["project"],
      properties: {
        project: { type: "string" as const, enum: ["web", "api"], enumNames: ["The page", "The API"] },
        hours: { type: "integer" as const, minimum: 1, maximum: 9, title: "Hours" },
        tags: {
          type: "array" as const,
          items: { anyOf: [{ const: "a", title: "First" }, { const: "b", title: "Second" }] },
        },
        sure: { type: "boolean" as const, default: true },
        mail: { type: "string" as const, format: "email" as const },
      },
    };
    await ask(id, { id: "form-1", kind: "elicitation", request: { message: "Which project is it?", requestedSchema } });
    const card = page.locator("[data-question=form-1]");
    assertStringIncludes(await card.textContent() ?? "", "The server tracker asks you");
    await answer("form-1", "Send");
    await card.getByText("Choose one.").waitFor();
    await card.getByLabel("project").selectOption({ label: "The API" });
    await card.getByLabel("Hours").fill("12");
    await answer("form-1", "Send");
    assertEquals(await card.locator("[aria-invalid=true]").count(), 1);
    await card.getByLabel("Hours").fill("3");
    await card.getByLabel("Second").check();
    await keepPicture(page, "light-elicitation");
    await answer("form-1", "Send");
    await answered("form-1");
    assertEquals(dashboard.runs.answers.at(-1), {
      question: "form-1",
      answer: { action: "accept", content: { project: "api", hours: 3, tags: ["b"], sure: true } },
    });
  });

  test("a form that asks for a secret is not shown, and can only be declined (D8)", async () => {
    const id = await start("hang");
    const fields: Record<string, JsonObject> = {
      password: {},
      apiKey: {},
      code: { title: "Your PIN" },
      x: { format: "password" },
    };
    for (const [name, more] of Object.entries(fields)) {
      const requestedSchema = {
        type: "object" as const,
        properties: { user: { type: "string" as const }, [name]: { type: "string" as const, ...more } },
      };
      await ask(id, { id: `secret-${name}`, kind: "elicitation", request: { message: "Sign in", requestedSchema } });
      const card = page.locator(`[data-question=secret-${name}]`);
      assertEquals(await card.locator("input, textarea, select").count(), 0, name);
      assertEquals(await card.locator("[data-refused=secret]").count(), 1);
      assertEquals(await card.getByRole("button").allTextContents(), ["Decline", "Dismiss"]);
    }
    await answer("secret-password", "Decline");
    await answered("secret-password");
    assertEquals(dashboard.runs.answers.at(-1)?.answer, { action: "decline" });
  });

  test("a page to visit is shown in full, and asked for by nobody before the person opens it (D7, D8)", async () => {
    const id = await start("hang");
    const url = "https://pay.example.test/confirm?order=17&return=https%3A%2F%2Felsewhere.test";
    await ask(id, { id: "url-1", kind: "elicitation", request: { mode: "url", message: "Pay there", url } });
    const card = page.locator("[data-question=url-1]");
    assertEquals(await card.locator("[data-part=elicitation-url]").textContent(), url);
    assertStringIncludes(await card.textContent() ?? "", "leads to pay.example.test");
    await page.waitForTimeout(300);
    assertEquals(watched.strangers, []);
    assertEquals(await page.locator("link[rel=prefetch], link[rel=preconnect], link[rel=dns-prefetch]").count(), 0);
    const popup = watched.context.waitForEvent("page");
    await watched.context.route(
      "https://pay.example.test/**",
      (route) => route.fulfill({ contentType: "text/html", body: "<title>pay</title>" }),
    );
    await card.getByRole("link", { name: "Open the page" }).click();
    const opened = await popup;
    await opened.waitForLoadState();
    assertEquals(await opened.evaluate(() => [opener === null, document.referrer]), [true, ""]);
    await opened.close();
    assertEquals(watched.strangers.splice(0), [url]);
    for (
      const [at, bad] of ["http://pay.example.test/", "javascript:alert(1)", "https://good.test@evil.test/"].entries()
    ) {
      await ask(id, { id: `bad-${at}`, kind: "elicitation", request: { mode: "url", message: "There", url: bad } });
      assertEquals(await page.locator(`[data-question=bad-${at}] a`).count(), 0, bad);
      assertEquals(await page.locator(`[data-question=bad-${at}] [data-part=elicitation-url]`).textContent(), bad);
    }
    await answer("url-1", "I was there: go on");
    await answered("url-1");
  });

  test("a call that may have run is decided on", async () => {
    const id = await start("hang");
    dashboard.runs.askFor(id, {
      id: "d-1",
      server: "tracker",
      message: "The process died",
      askedAt: 0,
      kind: "decision",
      call: proposed(),
    });
    await page.waitForSelector("[data-question=d-1]");
    await answer("d-1", "Go on without it");
    await answered("d-1");
    assertEquals(dashboard.runs.answers.at(-1), { question: "d-1", answer: { action: "skip" } });
  });

  test("a run that fails says what can be done", async () => {
    await start("fail");
    await page.waitForSelector(".moment.end .bad, .moment.end.bad, .notice.bad");
    const text = await page.locator(".moment.end").textContent() ?? "";
    assertStringIncludes(text, "the model is gone");
    assertStringIncludes(text, "look at its provider");
  });

  test("on a phone everything is there, within the screen, in light and dark", async () => {
    for (const scheme of ["light", "dark"] as const) {
      const { context, page: phone, complaints } = await watchedPage(browser, dashboard.origin, {
        width: 390,
        height: 844,
        scheme,
      });
      await phone.goto(await dashboard.link());
      await phone.waitForSelector("a.item-link");
      await phone.setViewportSize({ width: 390, height: 300 });
      await phone.locator("[data-tool=tracker__create_issue]").focus();
      await phone.evaluate(() => scrollTo(0, 200));
      await phone.keyboard.press("Enter");
      await phone.waitForSelector("[data-open-tool]");
      // The list is hidden: one is at the head of what was opened, and so is the focus.
      await phone.waitForFunction(() => scrollY === 0);
      assertEquals(await phone.evaluate(() => document.activeElement?.id), "main");
      await phone.setViewportSize({ width: 390, height: 500 });
      assertEquals([await hiddenStops(phone, "Tab"), await hiddenStops(phone, "Shift+Tab")], [[], []]);
      await phone.setViewportSize({ width: 390, height: 844 });
      await within(phone, `tool ${scheme}`);
      await keepPicture(phone, `phone-${scheme}-tool`);
      await phone.getByRole("link", { name: "All tools" }).click();
      await phone.waitForSelector("a.item-link");
      const id = await start("hang", phone);
      for (const event of story(Date.now())) dashboard.runs.tell(id, event);
      dashboard.runs.askFor(id, {
        id: "p-1",
        server: "tracker",
        message: "May it?",
        askedAt: 0,
        kind: "approval",
        call: proposed(),
      });
      await phone.waitForSelector("[data-question=p-1]");
      await within(phone, `run ${scheme}`);
      await keepPicture(phone, `phone-${scheme}-run`);
      for (const place of ["servers", "approvals", "library", "runs"]) {
        await phone.evaluate((place) => location.hash = `#/${place}`, place);
        await phone.waitForSelector("h1, h2");
        await within(phone, `${place} ${scheme}`);
      }
      assertEquals(complaints, []);
      await context.close();
    }
  });

  test("nothing moves while it loads", async () => {
    const { context, page: fresh } = await watchedPage(browser, dashboard.origin);
    await fresh.addInitScript(() => {
      let moved = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) moved += (entry as unknown as { value: number }).value;
      }).observe({ type: "layout-shift", buffered: true });
      Object.assign(globalThis, { moved: () => moved });
    });
    await fresh.goto(await dashboard.link());
    await fresh.waitForSelector("a.item-link");
    await fresh.waitForTimeout(200);
    const moved = await fresh.evaluate(() => (globalThis as unknown as { moved(): number }).moved());
    assert(moved < 0.1, `it moved by ${moved}`);
    await context.close();
  });

  test("nothing went wrong beside", () => assertEquals([watched.complaints, watched.strangers], [[], []]));
}

/** Whether nothing stands out of the screen, and what is pressed is large enough for a finger. */
async function within(page: Page, what: string): Promise<void> {
  const { wide, small } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    small: [...document.querySelectorAll("button, .button, .places a")].filter((one) =>
      one.checkVisibility() && one.getBoundingClientRect().height < 24
    ).map((one) => one.textContent),
  }));
  assertEquals([wide > 0, small], [false, []], what);
}

/** Goes through the page with a key: what has the focus while one of the bars lies over it. */
async function hiddenStops(page: Page, key: string): Promise<string[]> {
  const hidden: string[] = [];
  for (let stop = 0; stop < 25; stop++) {
    await page.keyboard.press(key);
    const under = await page.evaluate(() => {
      const { activeElement: at, body } = document;
      const { left, width, top, height } = (at ?? body).getBoundingClientRect();
      const over = document.elementFromPoint(left + width / 2, top + height / 2);
      return at !== body && over?.closest("header") && !at?.closest("header") ? at?.outerHTML : undefined;
    });
    if (under !== undefined) hidden.push(under);
  }
  return hidden;
}

/** The same stream, cut after so many events. */
function cutAfter(body: ReadableStream<Uint8Array>, most: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  return new ReadableStream({
    async pull(controller) {
      let wanted: string[] = [];
      for (let text = ""; wanted.length < most;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
        wanted = text.split("\n\n").slice(0, -1).filter((one) => /^id:/m.test(one));
      }
      controller.enqueue(new TextEncoder().encode(wanted.slice(0, most).map((one) => `${one}\n\n`).join("")));
      controller.close();
      await reader.cancel();
    },
  });
}
