/**
 * The dashboard as people use it, in real Chromium: trying tools, approving, following runs; with a keyboard and on a phone.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { skip } from "../chromium.ts";
import { pixel } from "./demo.ts";
import { hugeReply, watchFrames } from "./huge.ts";
import { keepPicture, openSignedIn } from "./support.ts";
import type { Dashboard, Watched } from "./support.ts";

if (skip) test("the dashboard in use", { skip }, () => {});
else describe("the dashboard in use", useSuite);

function useSuite(): void {
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

  async function openTool(name: string): Promise<void> {
    await page.evaluate((name) => location.hash = `#/tools/${name}`, name);
    await page.waitForSelector(`[data-open-tool=${name}]`);
  }
  const call = () => page.getByRole("button", { name: "Call", exact: true }).click();
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

  test("tools are listed, searched and opened with the keyboard alone", async () => {
    await page.keyboard.press("/");
    assertEquals(await page.evaluate(() => document.activeElement?.id), "search");
    await page.keyboard.type("weather of the next days");
    await page.waitForFunction(() =>
      document.querySelector<HTMLElement>("a.item-link")?.dataset.tool === "weather__forecast"
    );
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[data-open-tool=weather__forecast]");
    assertEquals(await page.locator("#search").inputValue(), "weather of the next days");
    await page.locator("#search").fill("zzyzx qwfp");
    await page.getByText("Nothing fits").waitFor();
    await page.locator("#search").fill("");
    await page.waitForFunction(() => document.querySelectorAll("a.item-link").length === 6);
  });

  test("a form becomes arguments, and its result is shown: text, pictures of safe types, links in full, structured", async () => {
    await openTool("weather__forecast");
    await page.getByLabel("place").fill("Zürich");
    assertEquals(await page.getByLabel("days").inputValue(), "3");
    await page.getByLabel("unit").selectOption({ label: "Fahrenheit" });
    await page.getByLabel("place").press("Control+Enter");
    await page.waitForSelector(".result");
    assertEquals(dashboard.ledger.at(-1), { tool: "forecast", given: { place: "Zürich", days: 3, unit: "f" } });
    assertEquals(
      await page.locator(".result [data-part=result-text]").textContent(),
      "Mild, with light rain on Sunday.",
    );
    assertEquals(
      await page.locator(".result img").evaluateAll((images) => images.map((one) => (one as HTMLImageElement).src)),
      [`data:image/png;base64,${pixel}`],
    );
    assertStringIncludes(
      await page.locator(".result").textContent() ?? "",
      "An image of a type that is not shown, image/svg+xml",
    );
    assertEquals(
      await page.locator(".result [data-part=link-uri]").textContent(),
      "https://weather.example/zurich?days=3",
    );
    const link = page.locator(".result a");
    assertEquals([await link.getAttribute("href"), await link.getAttribute("rel"), await link.getAttribute("target")], [
      "https://weather.example/zurich?days=3",
      "noopener noreferrer",
      "_blank",
    ]);
    assertStringIncludes(await page.locator("[data-part=structured]").textContent() ?? "", '"high": 14');
  });

  test("the form and its JSON say the same, both ways, and keep what the form does not know", async () => {
    await openTool("tracker__create_issue");
    await page.getByLabel("Project").fill("web");
    await page.getByLabel("Title").fill("Slow");
    await page.getByLabel("labels").getByRole("button", { name: "Add" }).click();
    await page.getByLabel("Item").fill("search");
    await page.getByLabel("estimate").fill("2,5");
    await press("JSON");
    const json = page.locator("#argument-json");
    const written = JSON.parse(await json.inputValue());
    assertEquals(written, { project: "web", title: "Slow", priority: "normal", labels: ["search"], estimate: 2.5 });
    await json.fill(JSON.stringify({ ...written, notify: true, labels: ["a", "b"], more: { of: "this" } }));
    await press("Form");
    assertEquals(
      await page.getByLabel("Item").evaluateAll((items) => items.map((one) => (one as HTMLInputElement).value)),
      ["a", "b"],
    );
    await call();
    await page.waitForSelector(".result");
    assertEquals(dashboard.ledger.at(-1)?.given, {
      project: "web",
      title: "Slow",
      priority: "normal",
      labels: ["a", "b"],
      notify: true,
      estimate: 2.5,
      more: { of: "this" },
    });
    await press("JSON");
    await json.fill('{"project": 3}');
    await press("Form");
    await page.getByText("The form cannot show what stands at /project").waitFor();
    await json.fill("{");
    await press("Form");
    await page.getByText("This is no JSON object").waitFor();
  });

  test("what is typed for a tool is there when one comes back from another, or from another place", async () => {
    await openTool("files__read_file");
    await page.getByLabel("path").fill("/half a pa");
    await openTool("weather__forecast");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.locator("#argument-json").fill('{"place": "Ch');
    await openTool("files__read_file");
    assertEquals(await page.getByLabel("path").inputValue(), "/half a pa");
    await page.evaluate(() => location.hash = "#/runs");
    await openTool("weather__forecast");
    assertEquals(await page.locator("#argument-json").inputValue(), '{"place": "Ch');
    await page.locator("#argument-json").fill("{}");
    await page.getByRole("button", { name: "Form", exact: true }).click();
    await openTool("tracker__create_issue");
  });

  test("what is wrong is said at its field, and nothing is sent", async () => {
    await page.reload();
    await page.waitForSelector("[data-open-tool=tracker__create_issue]");
    const before = dashboard.ledger.length;
    await page.getByLabel("estimate").fill("many");
    await call();
    const wrong = await page.locator(".field:has([aria-invalid=true])").evaluateAll((fields) =>
      fields.map((one) => [one.querySelector("bdi")?.textContent, one.querySelector(".wrong")?.textContent])
    );
    assertEquals(wrong, [["Project", "This is needed."], ["Title", "This is needed."], [
      "estimate",
      "Expected a number.",
    ]]);
    assertEquals(await page.evaluate(() => document.activeElement?.getAttribute("aria-invalid")), "true");
    await page.getByLabel("Project").fill("web");
    await page.getByLabel("Title").fill("x".repeat(121));
    await page.getByLabel("estimate").fill("101");
    await call();
    assertEquals(await page.locator("[aria-invalid=true]").count(), 2);
    assertEquals(dashboard.ledger.length, before);
  });

  test("a tool that fails, and errors of the runner, say what can be done", async () => {
    await openTool("tracker__search_issues");
    await page.getByLabel("words").fill("roof");
    await call();
    await page.getByText("The tool failed").first().waitFor();
    assertStringIncludes(await page.locator(".result").textContent() ?? "", "try again in an hour");
    dashboard.intercept = ({ method }) =>
      method === "POST"
        ? Response.json(
          { title: "The server behind failed", detail: "It does not answer", code: "server_unavailable" },
          { status: 502 },
        )
        : undefined;
    await call();
    await page.waitForSelector("[data-problem=server_unavailable]");
    assertStringIncludes(await page.locator("[data-problem]").textContent() ?? "", "connect to it again");
    await keepPicture(page, "light-error");
    dashboard.intercept = undefined;
    await press("Try again");
    await page.waitForSelector(".result");
  });

  test("a call is called off", async () => {
    await openTool("files__slow");
    await call();
    for (let times = 0; dashboard.ledger.at(-1)?.tool !== "slow" && times < 300; times++) await page.waitForTimeout(50);
    await press("Cancel");
    await page.getByText("Cancelled.").waitFor();
    for (let times = 0; dashboard.ledger.at(-1)?.tool !== "slow, called off" && times < 300; times++) {
      await page.waitForTimeout(50);
    }
    assertEquals(dashboard.ledger.at(-1)?.tool, "slow, called off");
  });

  test("a call is copied as curl, as a line for our command, and as TypeScript", async () => {
    await openTool("weather__forecast");
    await page.getByLabel("place").fill("it's");
    await page.getByText("Copy this call").click();
    let last = "";
    const copied = async () => {
      await press("Copy");
      await page.getByText("Copy: copied").waitFor();
      // That may still be said of the one before.
      const before = last;
      while (last === before) last = await page.evaluate(() => navigator.clipboard.readText());
      return last;
    };
    assertStringIncludes(await copied(), `curl -sS ${dashboard.origin}/api/tools/weather__forecast`);
    await press("CLI");
    assertStringIncludes(
      await copied(),
      `causeway call ${dashboard.origin}/mcp weather__forecast --header "Authorization: Bearer $CAUSEWAY_KEY" --args '{"place":"it'\\''s","days":3}'`,
    );
    await press("TypeScript");
    assertStringIncludes(await copied(), 'client.callTool("weather__forecast", {\n  "place": "it\'s"');
  });

  test("a result of 100 MB is shown truncated, and the page goes on (D10)", async () => {
    await openTool("files__read_file");
    await page.getByLabel("path").fill("big");
    for (const kind of ["events", "json"] as const) {
      dashboard.intercept = ({ method, url }) =>
        method === "POST" && url.includes("/api/tools/") ? hugeReply(kind) : undefined;
      // Up to three rounds, of which the best counts: what else the machine does is not held against the page.
      const rounds: { longest: number; frames: number }[] = [];
      while (rounds.length < 3 && !rounds.some(({ longest }) => longest <= 200)) {
        await page.evaluate(watchFrames);
        await call();
        await page.waitForSelector("[data-cut]", { timeout: 60_000 });
        rounds.push(
          await page.evaluate(() =>
            (globalThis as unknown as { frames(): { longest: number; frames: number } }).frames()
          ),
        );
        assertStringIncludes(
          await page.locator("[data-cut]").textContent() ?? "",
          "The result has 100 MB: its beginning is shown",
        );
        assert((await page.locator("[data-cut]").textContent() ?? "").length < 40_000);
      }
      const told = rounds.map(({ longest, frames }) => `${longest} ms, in ${frames} frames`).join("; ");
      assert(rounds.some(({ longest }) => longest <= 200), `${kind}: the page stood still for ${told}`);
    }
    dashboard.intercept = undefined;
    await call();
    await page.getByText("The file big").waitFor();
  });

  test("servers show how they do; signing in shows the whole address first, and adding says what is wrong", async () => {
    const address = "https://login.example/authorize?client_id=causeway&state=abc&redirect_uri=http%3A%2F%2Flocalhost";
    dashboard.intercept = ({ method, url }) => {
      const broken = {
        name: "broken",
        state: "failed",
        tools: 0,
        resources: 0,
        prompts: 0,
        added: true,
        lastError: { name: "ConnectError", message: "Cannot connect" },
      };
      const login = { name: "login", state: "authorizing", tools: 0, resources: 0, prompts: 0, added: true };
      if (method === "GET" && url.endsWith("/api/servers")) return Response.json({ servers: [broken, login] });
      if (url.endsWith("/login/connect")) return Response.json({ ...login, authorizationUrl: address });
      return method === "DELETE" ? new Response(null, { status: 204 }) : undefined;
    };
    await page.evaluate(() => location.hash = "#/servers");
    await page.waitForSelector("[data-server=login]");
    assertStringIncludes(await page.locator("[data-server=broken]").textContent() ?? "", "Cannot connect");
    await press("Sign in");
    await page.waitForSelector("[data-part=authorization-url]");
    assertEquals(await page.locator("[data-part=authorization-url]").textContent(), address);
    await keepPicture(page, "light-servers");
    await page.locator("[data-server=broken]").getByRole("button", { name: "Remove" }).click();
    await press("Remove it");
    await page.getByText("broken was removed").waitFor();
    dashboard.intercept = undefined;
    await page.getByLabel("Name").fill("inside");
    await page.getByLabel("URL").fill("http://169.254.169.254/mcp");
    await press("Add");
    await page.waitForSelector("[data-problem=egress_denied]");
    assertStringIncludes(await page.locator("[data-problem]").textContent() ?? "", "Only public https addresses");
  });

  test("what is open at a server stays open while it is called and changes", async () => {
    const server = { name: "talking", tools: 1, resources: 0, prompts: 0, added: false };
    let now: object = { ...server, state: "connected", active: 0 };
    const log = 'event: log\ndata: {"level":"info","data":"it talks"}\n\n';
    dashboard.intercept = ({ url }) => {
      if (url.endsWith("/api/servers")) return Response.json({ servers: [now] });
      if (url.endsWith("/api/servers/talking")) return Response.json(now);
      return url.endsWith("/talking/events") ? new Response(log) : undefined;
    };
    await page.evaluate(() => location.hash = "#/library");
    await page.evaluate(() => location.hash = "#/servers");
    const card = page.locator("[data-server=talking]");
    await card.locator("summary").click();
    await card.getByText("it talks").first().waitFor();
    const asked = () => dashboard.seen.filter(({ line }) => line.endsWith("/api/servers")).length;
    const next = async (status: object): Promise<void> => {
      now = status;
      const before = asked();
      while (asked() < before + 2) await page.waitForTimeout(100);
    };
    await next({ ...server, state: "connected", active: 1 });
    assertEquals(await card.locator("details").getAttribute("open"), "");
    await next({ ...server, state: "reconnecting", active: 0 });
    await card.getByText("reconnecting").first().waitFor();
    assertEquals(await card.locator("details").getAttribute("open"), "");
    assert(await card.getByText("it talks").first().isVisible());
    assertEquals(await page.evaluate(() => document.activeElement?.tagName), "SUMMARY");
    dashboard.intercept = undefined;
  });

  test("a runner that is away for a while is told of, and comes back by itself", async () => {
    let isAway = true;
    dashboard.intercept = ({ url }) =>
      isAway && url.includes("/api/servers") ? Response.json({ code: "closing" }, { status: 503 }) : undefined;
    await page.reload();
    await page.waitForSelector("[data-problem=closing]");
    isAway = false;
    await page.waitForSelector("[data-server=tracker]");
    assertEquals(await page.locator("[data-problem]").count(), 0);
    dashboard.intercept = undefined;
  });

  test("what there is none of says what to do", async () => {
    dashboard.intercept = ({ url }) => {
      if (url.includes("/api/tools")) return Response.json({ tools: [] });
      if (url.includes("/api/agents")) return Response.json({ agents: [] });
      if (url.includes("/api/runs")) {
        return Response.json({ code: "not_offered", detail: "This runner keeps no runs" }, { status: 404 });
      }
      return url.includes("/api/servers") ? Response.json({ servers: [] }) : undefined;
    };
    for (
      const [place, text] of [["tools", "No tools yet"], ["runs", "No agents here"], [
        "servers",
        "No servers yet",
      ]] as const
    ) {
      await page.goto(`${dashboard.origin}/#/${place}`);
      await page.getByText(text).waitFor();
    }
    await page.goto(`${dashboard.origin}/#/runs`);
    await page.getByText("This runner keeps no runs").waitFor();
    assertEquals(await page.locator("[data-problem]").count(), 0);
    dashboard.intercept = undefined;
  });

  test("resources are read, and prompts filled in", async () => {
    await page.evaluate(() => location.hash = "#/library");
    await press("Read");
    await page.waitForSelector("[data-part=resource-text]");
    assertEquals(await page.locator("[data-part=resource-text]").textContent(), "Zürich\nBern");
    await page.getByText("Try it").click();
    await press("Fill in");
    await page.getByText("This is needed.").waitFor();
    await page.getByLabel("place").fill("Bern");
    await press("Fill in");
    await page.getByText("Write a report of the weather in Bern.").waitFor();
  });

  test("colours are the system's, or one's own", async () => {
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await ground();
    assert(light !== dark);
    await page.getByRole("button", { name: "Colours: system" }).click();
    assertEquals(await ground(), light);
    await page.reload();
    await page.waitForSelector(".brand");
    assertEquals(await ground(), light);
    await page.getByRole("button", { name: "Colours: light" }).click();
    assertEquals(await ground(), dark);
    await page.getByRole("button", { name: "Colours: dark" }).click();
    await page.emulateMedia({ colorScheme: "light" });
    assertEquals(await ground(), light);
  });

  test("nothing went wrong beside, and nothing was asked of anybody else", () => {
    assertEquals([watched.complaints, watched.strangers], [[], []]);
  });
}
