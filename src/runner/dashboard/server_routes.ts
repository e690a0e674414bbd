/**
 * What servers say of themselves, and what happens to them.
 *
 * @module
 */
import type { HubEvent } from "../../hub/seam.ts";
import { watchStanding } from "../access/standing.ts";
import type { Can } from "../access/types.ts";
import type { Call } from "../rest/call.ts";
import { missing } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import { serverDetailSchema } from "../rest/schemas.ts";
import { eventStream } from "../rest/sse.ts";
import { addedNames } from "../routes/servers.ts";
import type { SentEvent } from "../rest/sse.ts";

const retry = 1_000;
const policy = { kind: "decided", actions: ["see"], about: "the server" } as const;

/** The routes of one server. */
export const serverDetailRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/servers/:name",
    summary: "One server: how it does, and what it says about its use.",
    policy,
    query: {},
    replies: { 200: { description: "The server", type: "application/json", schema: serverDetailSchema } },
    answer: async (call) => {
      const { hub, name } = await seen(call);
      const status = hub.scoped.status().find((one) => one.name === name);
      const listed = hub.scoped.catalog().servers.find((one) => one.name === name);
      const { instructions, capabilities } = listed ?? {};
      const added = (await addedNames(call)).has(name);
      return call.json({ ...status, added, instructions, capabilities });
    },
  },
  {
    method: "GET",
    path: "/api/servers/:name/events",
    summary: "What happens at a server from now on: `state`, and `log` for who manages it.",
    policy,
    query: {},
    replies: { 200: { description: "Events without a place: none is told twice", type: "text/event-stream" } },
    answer: async (call) => {
      const { hub, name } = await seen(call);
      const { leaving, parts: { clock, keepAlive } } = call;
      const stop = leaveWithRights(call, name, await call.can());
      return eventStream(told(hub.scoped.events({ signal: leaving.signal }), name), {
        clock,
        keepAlive,
        retry,
        count: (bytes) => call.count(bytes),
        done: () => {
          stop();
          leaving.leave();
        },
      });
    },
  },
];

/** @throws {Refusal} 404 when there is no such server, or the caller may not see it. */
async function seen(call: Call): Promise<{ readonly hub: Awaited<ReturnType<Call["hub"]>>; readonly name: string }> {
  const { name = "" } = call.params;
  const hub = await call.hub();
  if (!hub.scoped.status().some((status) => status.name === name)) throw missing("server", name);
  return { hub, name };
}

/** Ends the stream when who listens may see more or less of the server than at first: it comes back, and is told what it may hear then. */
function leaveWithRights({ judge, leaving, parts: { clock } }: Call, name: string, can: Can): () => void {
  const rightsOf = (can: Can): string => `${can(name, "", "see")} ${can(name, "", "manage")}`;
  const first = rightsOf(can);
  const isGood = async (): Promise<boolean> => rightsOf(await judge.open()) === first;
  return watchStanding({ clock, isGood, gone: leaving.leave });
}

async function* told(events: AsyncIterable<HubEvent>, name: string): AsyncGenerator<SentEvent, void, undefined> {
  for await (const event of events) {
    if (event.server !== name) continue;
    if (event.type === "state") yield { event: "state", data: { from: event.from, to: event.to } };
    else if (event.type === "log") yield { event: "log", data: { level: event.level, data: event.data } };
  }
}
