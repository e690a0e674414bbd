/**
 * The forms of the dashboard, in real Chromium: groups in groups, and what is wrong with them.
 */
import { assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { skip } from "../chromium.ts";
import { openSignedIn } from "./support.ts";
import type { Dashboard } from "./support.ts";

if (skip) test("forms of the dashboard", { skip }, () => {});
else describe("forms of the dashboard", formsSuite);

function formsSuite(): void {
  let dashboard: Dashboard;
  let browser: Browser;
  let page: Page;
  /** The arguments that were sent. */
  const sent: unknown[] = [];

  before(async () => {
    ({ dashboard, browser, page } = await openSignedIn());
  });
  after(async () => {
    await browser?.close();
    await dashboard?.[Symbol.asyncDispose]();
  });

  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

  /** Opens a tool whose arguments have these properties. */
  async function open(name: string, properties: JsonObject): Promise<void> {
    const inputSchema = { type: "object", properties };
    dashboard.intercept = async (request) => {
      if (request.url.includes("/api/tools?")) {
        return Response.json({ tools: [{ name, server: "a", tool: { name, inputSchema } }] });
      }
      if (request.method !== "POST" || !request.url.endsWith(`/api/tools/${name}`)) return undefined;
      sent.push(await request.json());
      return Response.json({ content: [{ type: "text", text: `call ${sent.length}` }] });
    };
    await page.evaluate(() => location.hash = "#/library");
    await page.evaluate((name) => location.hash = `#/tools/${name}`, name);
    await page.waitForSelector(`[data-open-tool=${name}]`);
  }

  async function call(): Promise<unknown> {
    const next = page.getByText(`call ${sent.length + 1}`);
    await press("Call");
    await next.waitFor();
    return sent.at(-1);
  }

  const texts = { type: "array", items: { type: "string" } };
  const name = { type: "string" };

  test("a default that its field cannot show is left out, and no other one with it", async () => {
    await open("a__start", {
      name: { ...name, default: "Ada" },
      size: { type: "integer", default: "large" },
      colour: { enum: ["red", "blue"], default: "green" },
      tags: { ...texts, default: ["a"] },
    });
    assertEquals(await call(), { name: "Ada", tags: ["a"] });
  });

  test("a group that nobody has touched is left out, whatever is needed in it", async () => {
    const inner = {
      type: "object",
      required: ["colours"],
      properties: { colours: { ...texts, items: { enum: ["red"] } } },
    };
    await open("a__filter", {
      filter: { type: "object", required: ["tags", "name", "inner"], properties: { tags: texts, name, inner } },
    });
    assertEquals(await call(), {});
    await page.getByLabel("name").fill("shoes");
    assertEquals(await call(), { filter: { tags: [], name: "shoes", inner: { colours: [] } } });
    await press("JSON");
    await page.locator("#argument-json").fill('{"filter":{"tags":[],"name":"","inner":{"colours":[]}}}');
    await press("Form");
    assertEquals(await call(), { filter: { tags: [], name: "", inner: { colours: [] } } });
  });

  test("what is wrong with a group, or with what no field of it shows, is said at the group", async () => {
    await open("a__range", {
      range: {
        type: "object",
        properties: { from: name, to: name },
        dependentRequired: { from: ["to"] },
        additionalProperties: false,
      },
    });
    await page.getByLabel("from", { exact: true }).fill("1");
    const wrong = page.locator("fieldset > .wrong");
    await press("Call");
    assertEquals(await wrong.textContent(), 'must have the property "to"');
    await page.getByLabel("to", { exact: true }).fill("2");
    assertEquals(await call(), { range: { from: "1", to: "2" } });
    assertEquals(await wrong.isVisible(), false);
    await press("JSON");
    await page.locator("#argument-json").fill('{"range":{"more":1}}');
    await press("Form");
    await press("Call");
    assertEquals(await wrong.textContent(), "/range/more: must not be there");
  });

  test("a form that starts a run and is cleared speaks of the agent that is chosen then", async () => {
    const agents = [{ name: "one", description: "The first" }, { name: "two", description: "The second" }];
    dashboard.intercept = ({ url }) => url.endsWith("/api/agents") ? Response.json({ agents }) : undefined;
    await page.evaluate(() => location.hash = "#/runs");
    await page.getByLabel("Agent").selectOption("two");
    await page.getByText("The second").waitFor();
    await press("Clear");
    assertEquals(await page.getByLabel("Agent").inputValue(), "one");
    assertEquals(await page.locator("[data-part=agent-description]").textContent(), "The first");
  });
}
