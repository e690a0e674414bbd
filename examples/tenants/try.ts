/**
 * Two tenants of one runner: Bob sees nothing of Ada's. Her run waits for a yes, the process that began it ends, and the next
 * one finishes it.
 *
 * `bun examples/tenants/try.ts` or `deno run -A examples/tenants/try.ts`
 */
import { serveHttp } from "@causeway/mcp/local";
import { createApiKey, createKeyList, createPolicy } from "@causeway/mcp/runner";
import { createHandler, McpServer } from "@causeway/mcp/server";
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRunner } from "./runner.ts";

// Each tenant has a server; in the world these are elsewhere.
const paid: string[] = [];
const bank = new McpServer({ name: "bank", version: "1.0.0" });
bank.tool("balance", { description: "What there is" }, () => "100 euros");
bank.tool("close", { description: "Ends the account" }, () => "closed");
bank.tool("pay", { description: "Pays 20 euros", input: { type: "object", required: ["to"] } }, ({ to }) => {
  paid.push(String(to));
  return `paid ${to}`;
});
const shop = new McpServer({ name: "shop", version: "1.0.0" });
shop.tool("find", { description: "Finds shoes" }, () => "red shoes");
await using bankHost = await serveHttp(createHandler(bank), { port: 0 });
await using shopHost = await serveHttp(createHandler(shop), { port: 0 });

// The keys go to Ada and Bob; their hashes stay here.
const [ada, bob] = [await createApiKey(), await createApiKey()];
const settings = {
  tenants: { acme: { bank: { url: `${bankHost.url}/mcp` } }, globex: { shop: { url: `${shopHost.url}/mcp` } } },
  keys: createKeyList([
    { hash: ada.hash, principal: "ada", tenant: "acme" },
    { hash: bob.hash, principal: "bob", tenant: "globex" },
  ]),
  policy: createPolicy([{ effect: "allow" }, { tools: ["close"], effect: "deny" }]),
  folder: await mkdtemp(join(tmpdir(), "causeway-tenants-")),
};
let runner = await startRunner(settings);

try {
  const tools = async (key: string) =>
    (await ask(key, "/api/tools")).body.tools.map(({ name }: { name: string }) => name);
  const seen = { ada: await tools(ada.key), bob: await tools(bob.key) };
  console.log(seen);
  assert.deepEqual(seen, { ada: ["bank__balance", "bank__pay"], bob: ["shop__find"] });

  const task = { agent: "clerk", input: "call bank.balance\nthen\ncall bank.pay to=Grace" };
  const { status, body: { id } } = await ask(ada.key, "/api/runs", task);
  assert.equal(status, 202);
  const tried = [await ask(bob.key, "/api/tools/bank__pay", { to: "Bob" }), await ask(bob.key, `/api/runs/${id}`)];
  console.log("Bob at Ada's bank, and at her run:", ...tried.map(({ status }) => status));
  assert.deepEqual(tried.map(({ status }) => status), [404, 404]);

  const [question] = (await reach(id, "needs_input")).questions;
  console.log(question.message);
  await runner.close();
  runner = await startRunner(settings);
  await ask(ada.key, `/api/runs/${id}/input`, { question: question.id, answer: { action: "accept" } });
  const { end } = await reach(id, "succeeded");
  console.log(`Yes. ${end.text}`);
  assert.deepEqual(paid, ["Grace"]);
} finally {
  await runner.close();
  await rm(settings.folder, { recursive: true });
}

/** Asks the runner as whoever has the key. */
async function ask(key: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const sent = body && { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(runner.url + path, { headers, ...sent });
  return { status: response.status, body: await response.json() };
}

/** Waits until Ada's run is in a state, and gives it. */
async function reach(id: string, state: string) {
  for (;;) {
    const { body } = await ask(ada.key, `/api/runs/${id}`);
    if (body.state === state) return body;
    assert.match(body.state, /accepted|running|needs_input/);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
