/**
 * The events of a run, as a stream that can be taken up again.
 *
 * @module
 */
import type { RunEvent, RunRecord } from "../../agent/runs/seam.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import type { Logger } from "../../ports.ts";
import { watchStanding } from "../access/standing.ts";
import type { Call } from "../rest/call.ts";
import { ask, wrongField } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import { eventStream } from "../rest/sse.ts";
import type { SentEvent } from "../rest/sse.ts";
import { isSeen, ownRun } from "./runs.ts";

/** When a reader whose stream broke off shall come back, in milliseconds. */
const retry = 1_000;
const ends: readonly string[] = ["succeeded", "failed", "cancelled"];

/** The route of events. */
export const runEventRoutes: readonly Route[] = [{
  method: "GET",
  path: "/api/runs/:id/events",
  summary: "The events of a run, those that were and those that come; it ends after the one last event of the run. " +
    "204 when there is nothing after the place that was named, and nothing will come.",
  policy: { kind: "decided", actions: ["run", "manage"], about: "the run's agent" },
  query: {
    after: { description: "Leaves out events up to this place (0)", schema: { type: "integer", minimum: 0 } },
  },
  headers: { "Last-Event-ID": "As `after`, and before it: what browsers send when they come back" },
  replies: {
    200: {
      description: "Events: `id` is the place, `event` the type, `data` a RunEvent as JSON",
      type: "text/event-stream",
    },
    204: { description: "The run is over, and everything was told" },
  },
  answer: events,
}];

async function events(call: Call): Promise<Response> {
  const { runs, record } = await ownRun(call);
  const last = call.request.headers.get("last-event-id");
  if (last !== null && !/^\d{1,15}$/.test(last)) {
    throw wrongField("Last-Event-ID", "expected a whole number, 0 or more");
  }
  const after = last === null ? call.number("after", 0) : Number(last);
  const { leaving, parts: { clock, keepAlive, logger } } = call;
  const iterator = told(runs.events(record.id, { after, signal: leaving.signal }), { logger, signal: leaving.signal });
  let first: IteratorResult<SentEvent> | undefined;
  if (record.end) {
    // A browser comes back until it is told that there is no more.
    first = await ask("What keeps runs", () => iterator.next(), logger);
    if (first.done) return new Response(null, { status: 204 });
  }
  const stop = leaveInTime(call, record);
  return eventStream(first ? startingWith(first.value, iterator) : iterator, {
    clock,
    keepAlive,
    retry,
    count: (bytes) => call.count(bytes),
    done: () => {
      stop();
      leaving.leave();
    },
  });
}

/** Ends the stream when who listens may no longer: it comes back, and has to show anew who it is. */
function leaveInTime(call: Call, record: RunRecord): () => void {
  const { leaving, judge, principal, parts: { clock } } = call;
  const { expiresAt } = principal;
  const stopTimer = expiresAt === undefined
    ? undefined
    : clock.schedule(leaving.leave, expiresAt - clock.now(), { background: true });
  // Whether they would be let in at all is looked at in front of all routes.
  const isGood = async (): Promise<boolean> => isSeen(record, call, await judge.open());
  const stopLooks = watchStanding({ clock, isGood, gone: leaving.leave });
  return () => {
    stopTimer?.();
    stopLooks();
  };
}

/** Exactly one last event: whatever comes after one is not told. */
async function* told(
  events: AsyncIterable<RunEvent>,
  { logger, signal }: { readonly logger: Logger | undefined; readonly signal: AbortSignal },
): AsyncGenerator<SentEvent, void, undefined> {
  try {
    for await (const data of events) {
      const { sequence: id, event: { type: event } } = data;
      yield { id, event, data };
      if (ends.includes(event)) return;
    }
  } catch (error) {
    // Nobody listens any more.
    if (signal.aborted) return;
    // The stream breaks off, and whoever reads it comes back.
    createSafeLogger(logger)?.({ level: "error", message: "The events of a run broke off", fields: { error } });
    throw error;
  }
}

async function* startingWith(
  first: SentEvent,
  rest: AsyncGenerator<SentEvent, void, undefined>,
): AsyncGenerator<SentEvent, void, undefined> {
  yield first;
  yield* rest;
}
