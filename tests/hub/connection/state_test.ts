import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { states } from "../../../src/hub/connection/state.ts";
import type { StateEvent } from "../../../src/hub/connection/state.ts";
import type { ServerState } from "../../../src/hub/seam.ts";

const events: readonly StateEvent[] = ["connect", "opened", "lost", "refused", "authorize", "close"];

const nextState = (state: ServerState, event: StateEvent): ServerState => states[state][event] ?? state;

/** The whole table: a line for each state, a column for each event; a dot stays where it is. */
const expected: Readonly<Record<ServerState, string>> = {
  disconnected: "connecting . . . . .",
  connecting: ". connected reconnecting failed authorizing disconnected",
  authorizing: "connecting . . . . disconnected",
  connected: ". . reconnecting failed authorizing disconnected",
  reconnecting: ". connected . failed authorizing disconnected",
  failed: "connecting . . . . disconnected",
};

test("each event leads each state where the table says", () => {
  for (const [state, row] of Object.entries(expected) as [ServerState, string][]) {
    const found = events.map((event) => nextState(state, event)).map((next) => next === state ? "." : next);
    assertEquals(found.join(" "), row, state);
  }
});

test("from everywhere there is a way to connected and a way to disconnected", () => {
  const all = Object.keys(expected) as ServerState[];
  for (const from of all) {
    const reached = new Set<ServerState>([from]);
    for (const state of reached) for (const event of events) reached.add(nextState(state, event));
    assertEquals([...reached].sort(), [...all].sort(), from);
    if (from !== "disconnected") assertEquals(nextState(from, "close"), "disconnected", from);
  }
});
