/**
 * Approvals of calls.
 *
 * @module
 */
import type { ApprovalRecord } from "../access/approvals.ts";
import type { Call } from "../rest/call.ts";
import { missing, Refusal } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import { approvalAnswerSchema, approvalSchema } from "../rest/schemas.ts";

const policy = { kind: "decided", actions: ["answer"], about: "the tool" } as const;

/** The routes of approvals. */
export const approvalRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/approvals",
    summary: "Calls that wait for an approval which the caller may give.",
    policy,
    query: {},
    replies: {
      200: {
        description: "The calls, oldest first",
        type: "application/json",
        schema: { type: "object", properties: { approvals: { type: "array", items: approvalSchema } } },
      },
    },
    answer: list,
  },
  {
    method: "POST",
    path: "/api/approvals/:id",
    summary:
      "Approves or declines a call. An approval is good for that call alone: its principal, tool and arguments, once.",
    policy,
    query: {},
    body: approvalAnswerSchema,
    replies: { 200: { description: "It was taken", type: "application/json", schema: { type: "object" } } },
    answer,
  },
];

async function list(call: Call): Promise<Response> {
  const can = await call.can();
  const waiting = await call.parts.approvals.waiting(call.tenant);
  const approvals = waiting.filter(({ server, tool }) => can(server, tool, "answer") === "allow").map(shown);
  return call.json({ approvals });
}

function shown({ state: _, ...record }: ApprovalRecord): object {
  return record;
}

async function answer(call: Call): Promise<Response> {
  const { id = "" } = call.params;
  const { action } = await call.body() as { action: "accept" | "decline" };
  const can = await call.can();
  const { approvals } = call.parts;
  const record = await approvals.find(call.tenant, id);
  if (!record || can(record.server, record.tool, "answer") !== "allow") throw missing("approval", id);
  const { server, tool, arguments: given } = record;
  await call.decide("answer", { server, tool, arguments: given });
  if (!await approvals.answer(call.tenant, id, action === "accept")) {
    throw new Refusal(409, "stale", "It was answered already");
  }
  return call.json({ id, state: action === "accept" ? "approved" : "declined" });
}
