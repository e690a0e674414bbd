import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createJudge, createPolicy, scopeHub } from "../../../src/runner/mod.ts";
import { createAccessCheck, signAccess } from "../../../src/runner/mod.ts";
import { cells, expected, principals, rules, servers, tenants, tools } from "../support/matrix.ts";
import type { Cell } from "../support/matrix.ts";
import { createWorld, problemOf } from "../support/world.ts";
import type { World } from "../support/world.ts";

const name = ({ principal, tenant, server, tool, action }: Cell) =>
  `${principal} in ${tenant}: ${action} ${server}.${tool}`;
/** As many requests as it takes. */
const quotas = { requestsPerMinute: 1e6 };
/** Seeing and managing are about a server as a whole. */
const subject = ({ tool, action }: Cell) => action === "see" || action === "manage" ? "" : tool;

describe("the matrix of 3 principals, 3 tenants, 4 servers, 5 tools and 6 actions", () => {
  it("has 1,080 cells, and the policy gives what the table says", async () => {
    const policy = createPolicy(rules);
    assertEquals(cells().length, 1_080);
    for (const cell of cells()) {
      const { principal: id, tenant, server, action } = cell;
      const { tenant: from = "" } = principals[id] ?? {};
      const can = await policy.open({ id, tenant: from }, tenant);
      assertEquals(can(server, subject(cell), action), expected(cell), name(cell));
    }
  });

  it("is the same inside an object that does not trust its caller", async () => {
    const secret = "a secret of 16 bytes or more";
    const check = createAccessCheck({ policy: createPolicy(rules), secret });
    for (const { principal: id, tenant, ...rest } of cells()) {
      const cell = { principal: id, tenant, ...rest };
      const { tenant: from = "" } = principals[id] ?? {};
      const signed = await signAccess({ principal: { id, tenant: from }, tenant }, { secret });
      const question = { tenant, server: cell.server, tool: subject(cell), action: cell.action };
      assertEquals(await check(signed, question), expected(cell), name(cell));
      for (const other of tenants.filter((other) => other !== tenant)) {
        assertEquals(await check(signed, { ...question, tenant: other }), "deny", `${name(cell)}, for ${other}`);
      }
    }
  });

  it("holds over HTTP in each cell, and nothing that is denied reaches a server", async () => {
    await using world = await createWorld({ servers, tools, principals, policy: rules, quotas });
    let denied = 0;
    for (const cell of cells()) {
      const before = world.ledger.length;
      const got = await outcomeOf(world, cell);
      assertEquals(got, expected(cell), name(cell));
      const reached = world.ledger.slice(before);
      const reaches = expected(cell) === "allow" && ["call", "read", "run"].includes(cell.action);
      assertEquals(reached.length, reaches ? 1 : 0, `${name(cell)}: ${JSON.stringify(reached)}`);
      for (const entry of reached) assertEquals([entry.tenant, entry.server], [cell.tenant, cell.server], name(cell));
      if (got === "deny") denied++;
    }
    assert(denied > 700, `${denied}`);
    const outcomes = new Set(world.audit.map(({ outcome }) => outcome));
    assertEquals([...outcomes].sort(), ["allow", "ask", "deny"]);
  });
});

/** What a caller gets to know. */
async function outcomeOf(world: World, cell: Cell): Promise<string> {
  const { principal: as, tenant, server, tool, action } = cell;
  const headers = { "causeway-tenant": tenant };
  if (action === "see") {
    const { servers } = await (await world.ask("/api/servers", { as, headers })).json();
    return servers.some(({ name }: { name: string }) => name === server) ? "allow" : "deny";
  }
  if (action === "call") return await callOutcome(world, cell);
  if (action === "read") {
    const body = { server, uri: `note://${server}/${tool}` };
    return await allowedOrMissing(await world.ask("/api/resources/read", { as, headers, body }), "resource");
  }
  if (action === "manage") {
    const response = await world.ask(`/api/servers/${server}/connect`, { as, headers, method: "POST" });
    return await allowedOrMissing(response, "server");
  }
  return action === "run" ? await runOutcome(world, cell) : await answerOutcome(world, cell);
}

async function allowedOrMissing(response: Response, what: string): Promise<string> {
  if (response.ok) {
    await response.body?.cancel();
    return "allow";
  }
  const problem = await problemOf(response);
  assertEquals([problem.status, String(problem.detail).startsWith(`There is no ${what} `)], [404, true]);
  return "deny";
}

async function callOutcome(world: World, { principal: as, tenant, server, tool }: Cell): Promise<string> {
  const headers = { "causeway-tenant": tenant };
  const qualified = `${server}__${tool}`;
  const { tools } = await (await world.ask("/api/tools?limit=1000", { as, headers })).json();
  const listed = tools.find(({ name }: { name: string }) => name === qualified);
  const response = await world.ask(`/api/tools/${qualified}`, { as, headers, body: {} });
  if (response.ok) {
    await response.body?.cancel();
    assertEquals(listed?.approval, false);
    return "allow";
  }
  const { requestId: _, ...problem } = await problemOf(response);
  if (problem.status === 428) {
    assertEquals(listed?.approval, true);
    return "ask";
  }
  // What is hidden reads like what is not there.
  assertEquals(listed, undefined);
  const missing = await world.ask("/api/tools/nothing__here", { as, headers, body: {} });
  const { requestId: _other, ...other } = await problemOf(missing);
  assertEquals(
    JSON.stringify(problem).replaceAll(qualified, ""),
    JSON.stringify(other).replaceAll("nothing__here", ""),
  );
  return "deny";
}

/** What an agent may do in a run: it has the hub of the tenant as its principal may use it. */
async function runOutcome(world: World, { principal: id, tenant, server, tool }: Cell): Promise<string> {
  const { tenant: from = "" } = principals[id] ?? {};
  const policy = createPolicy(rules);
  const judge = createJudge({ policy, principal: { id, tenant: from }, tenant });
  const scoped = await scopeHub(await world.hub(tenant), judge, "run");
  const found = scoped.findTool({ server, name: tool });
  const { isError, content } = await scoped.callTool({ server, name: tool }, {});
  if (!isError) return found && scoped.effectOf(found) === "allow" ? "allow" : "listed wrongly";
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  if (text.includes("approval")) return found ? "ask" : "listed wrongly";
  assertEquals([text, found], [`There is no tool "${server}.${tool}"`, undefined]);
  return "deny";
}

/** Whether somebody may answer: a call of Ada's that waits for an approval is put there, whoever asks. */
async function answerOutcome(world: World, { principal: as, tenant, server, tool }: Cell): Promise<string> {
  const id = await world.propose(tenant, { server, name: tool });
  const headers = { "causeway-tenant": tenant };
  const { approvals } = await (await world.ask("/api/approvals", { as, headers })).json();
  const listed = approvals.some((approval: { id: string }) => approval.id === id);
  const response = await world.ask(`/api/approvals/${id}`, { as, headers, body: { action: "decline" } });
  const got = await allowedOrMissing(response, "approval");
  assertEquals(listed, got === "allow");
  // Who would have to ask somebody else may not answer: there is nobody behind them.
  const can = await createPolicy(rules).open({ id: as, tenant: principals[as]?.tenant ?? "" }, tenant);
  return got === "deny" && can(server, tool, "answer") === "ask" ? "ask" : got;
}
