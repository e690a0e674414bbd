/**
 * Texts of servers, models and callers in the page: they stay texts (D6), and what hides in approvals is shown (D11).
 */
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { visible } from "../../../src/hub/pins/hidden.ts";
import { launchChromium, skip } from "../chromium.ts";
import { hostileTexts } from "./hostile_texts.ts";
import { poison, poisonedRun, poisonedTool } from "./poison.ts";
import { keepPicture, openDashboard, watchedPage } from "./support.ts";
import type { Dashboard, Watched } from "./support.ts";

if (skip) test("hostile texts in the dashboard", { skip }, () => {});
else describe("hostile texts in the dashboard", { timeout: 240_000 }, hostileSuite);

function hostileSuite(): void {
  const texts = hostileTexts();
  const fields = new Set<string>();
  let dashboard: Dashboard;
  let browser: Browser;
  let watched: Watched;

  before(async () => {
    [dashboard, browser] = await Promise.all([openDashboard(), launchChromium()]);
    watched = await watchedPage(browser, dashboard.origin);
    watched.page.setDefaultTimeout(60_000);
    await watched.page.goto(await dashboard.link());
    await watched.page.waitForSelector("a.item-link");
    dashboard.intercept = poison(texts);
  });
  after(async () => {
    await browser?.close();
    await dashboard?.[Symbol.asyncDispose]();
  });

  /** Goes to a place of the page, anew. */
  async function go(path: string, ready: string): Promise<void> {
    await watched.page.goto("about:blank");
    await watched.page.goto(`${dashboard.origin}/#/${path}`);
    await watched.page.waitForSelector(ready);
  }

  /** Looks whether each text stands in the places of a name, exactly. */
  async function stands(part: string, given: readonly string[] = texts): Promise<void> {
    const seen = await watched.page.locator(`[data-part="${part}"]`).evaluateAll((elements) =>
      elements.map((element) => [element.textContent ?? "", element.childElementCount] as const)
    );
    fields.add(part);
    assert(seen.every(([, children]) => children === 0), `"${part}" holds elements`);
    const known = new Set(seen.map(([text]) => asPage(text)));
    const missing = given.map(asPage).filter((text) => !known.has(text));
    assertEquals(missing, [], `"${part}" has ${seen.length} places`);
  }

  test("there are 300 of them", () => assertEquals(new Set(texts).size, 300));

  test("names, titles, descriptions and icons of tools", async () => {
    await go("tools", "[data-tool=evil__299]");
    await stands("tool-title");
    await stands("tool-description");
    await go("tools/evil__0", "[data-open-tool]");
    assertEquals(await watched.page.locator("img").count(), 0);
  });

  test("schemas: names, titles, descriptions and choices of fields", async () => {
    await go(`tools/${poisonedTool}`, "[data-open-tool]");
    await stands("field-name");
    await stands("field-title", texts.map((text) => `${text} `));
    await stands("field-description");
    await stands("choice");
  });

  test("results, links, resources, types and structured content", async () => {
    await watched.page.getByRole("button", { name: "JSON", exact: true }).click();
    await watched.page.locator("#argument-json").fill("{}");
    await watched.page.getByRole("button", { name: "Call", exact: true }).click();
    await watched.page.waitForSelector(".result");
    const shown = texts.slice(0, 100);
    await stands("result-text", shown);
    for (const part of ["link-name", "link-description", "resource-uri", "resource-text", "mime"]) {
      await stands(part, shown);
    }
    await stands("link-uri", shown.map(visible));
    assertEquals(await watched.page.locator(".result img").count(), 0);
    const links = await watched.page.locator(".result a").evaluateAll((found) =>
      found.map((one) => [one.getAttribute("href"), one.getAttribute("rel")])
    );
    assert(
      links.length > 0 && links.every(([href, rel]) => href?.startsWith("https://") && rel === "noopener noreferrer"),
      String(links),
    );
  });

  test("servers: errors, instructions and log lines", async () => {
    await go("servers", "[data-server=server-299]");
    await stands("last-error");
    await watched.page.locator("[data-server=server-0] summary").click();
    await watched.page.waitForFunction(
      (most) => document.querySelectorAll("[data-part=log-line]").length === most,
      texts.length,
    );
    await stands("log-line");
    await stands("instructions", [texts.join("\n")]);
  });

  test("resources and prompts", async () => {
    await go("library", "[data-part=prompt-name]");
    for (
      const part of [
        "resource-name",
        "resource-uri",
        "resource-mime",
        "resource-description",
        "prompt-name",
        "prompt-description",
      ]
    ) await stands(part);
    await watched.page.getByRole("button", { name: "Read" }).first().click();
    await watched.page.waitForSelector("[data-part=resource-text]");
    await stands("resource-text");
    await watched.page.getByText("Try it").first().click();
    await watched.page.getByRole("button", { name: "Fill in" }).first().click();
    await watched.page.waitForSelector("[data-part=prompt-role]");
    await stands("result-text");
  });

  test("approvals: each character can be seen (D11)", async () => {
    await go("approvals", "[data-approval=approval-299]");
    await stands("approval-principal");
    for (const part of ["approval-server", "approval-tool"]) await stands(part, texts.map(visible));
    await stands("approval-arguments", texts.map((text) => visible(JSON.stringify({ text }, undefined, 2))));
    const hidden = texts.flatMap((text, at) =>
      visible(text) === text || /^[^\\]*\\u\{5c\}/.test(visible(text)) ? [] : [at]
    );
    assert(hidden.length > 10);
    for (const at of hidden) {
      assert(
        await watched.page.locator(`[data-approval=approval-${at}] [data-hidden]`).count() > 0,
        JSON.stringify(texts[at]),
      );
    }
    const spelled = texts.findIndex((text) => text.includes("\u{e0041}"));
    assertEquals(
      await watched.page.locator(`[data-approval=approval-${spelled}] [data-part=spelled]`).first().textContent(),
      "AB",
    );
    await keepPicture(watched.page, "hostile-approvals");
  });

  test("runs: what models, servers and callers say, ask and leave", async () => {
    await go(`runs/${poisonedRun}`, ".moment.end");
    await stands("model-text");
    await stands("model-reasoning");
    for (
      const part of ["restart-reason", "call-tool", "call-server", "server-info", "server-version", "question-server"]
    ) await stands(part);
    await stands("question-message", texts.map((text) => `${text}.`));
    await stands("agent-name", texts);
    await stands("run-error", texts.slice(1, 2));
    await keepPicture(watched.page, "hostile-run");
  });

  test("questions of a run: messages, addresses and fields", async () => {
    const whole = poison(texts);
    dashboard.intercept = async (request) => {
      const reply = await whole(request);
      if (!request.url.endsWith(`${poisonedRun}/events`) || !reply) return reply;
      // It goes on, so that its questions stay open, and its calls under way.
      const text = (await reply.text()).replace(/id: \d+\nevent: (failed|observation)\n.*\n\n/g, "");
      return new Response(
        new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) }),
        { headers: { "content-type": "text/event-stream" } },
      );
    };
    await go(`runs/${poisonedRun}`, "[data-question=sampling-299]");
    for (const part of ["elicitation-message", "hidden-place", "progress-message"]) await stands(part);
    await stands("elicitation-url", texts.map(visible));
    await stands("sampling-request", texts.map((text) => visible(JSON.stringify({ text }, undefined, 2))));
  });

  test("errors of the API", async () => {
    for (const detail of texts.filter((_, at) => at % 30 === 0)) {
      dashboard.intercept = ({ url }) =>
        url.includes("/api/servers")
          ? Response.json({ detail, title: detail, code: detail, errors: [{ pointer: detail, detail }] }, {
            status: 400,
          })
          : undefined;
      await go("servers", "[role=alert]");
      await stands("error-message", [detail]);
    }
  });

  test("nothing came of any of them: no dialog, no report of the policy, no request", () => {
    assert(fields.size >= 42, `${fields.size} fields: ${[...fields]}`);
    assertEquals([watched.complaints, watched.strangers], [[], []]);
    const paths = dashboard.seen.map(({ line }) => line.split(" ")[1] ?? "");
    assertEquals(paths.filter((path) => !path.startsWith(`${dashboard.origin}/`)), []);
    const odd = paths.map((path) => new URL(path).pathname).filter((path) => !/^\/(api\/|dashboard\/|$)/.test(path));
    assertEquals(odd, []);
  });
}

/** Half surrogate pairs do not come whole through the driver of a browser. */
function asPage(text: string): string {
  return text.toWellFormed();
}
