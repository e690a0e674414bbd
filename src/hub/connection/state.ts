/**
 * The states of a server as a table.
 *
 * ```
 * disconnected ── connect ──▶ connecting ── opened ──▶ connected
 *       ▲                      │  │  ▲ ▲                │  │
 *       │              refused │  │  │ └─ connect ──┐   │  │ lost
 *     close                    ▼  │ connect         │   │  ▼
 *  (from each)              failed ──┘   authorizing ◀──┤ reconnecting ── opened ──▶ connected
 *                              ▲                        │  │  ▲  │
 *                              └── refused ─────────────┘  │  └──┴─ lost (from connecting too)
 *                              └── refused ────────────────┘
 * ```
 *
 * `authorize` leads to `authorizing` from connecting, connected and reconnecting. What is not in the table changes nothing.
 *
 * @module
 */
import type { ServerState } from "../seam.ts";

/**
 * What may happen to a server: it is to be connected; it is; the connection broke or did not come about and is tried again;
 * it is given up for now; a person has to sign in first; it is wanted no more.
 */
export type StateEvent = "connect" | "opened" | "lost" | "refused" | "authorize" | "close";

/** The state after an event; what is not here changes nothing. */
export const states: Readonly<Record<ServerState, Readonly<Partial<Record<StateEvent, ServerState>>>>> = {
  disconnected: { connect: "connecting" },
  connecting: {
    opened: "connected",
    lost: "reconnecting",
    refused: "failed",
    authorize: "authorizing",
    close: "disconnected",
  },
  authorizing: { connect: "connecting", close: "disconnected" },
  connected: { lost: "reconnecting", refused: "failed", authorize: "authorizing", close: "disconnected" },
  reconnecting: { opened: "connected", refused: "failed", authorize: "authorizing", close: "disconnected" },
  failed: { connect: "connecting", close: "disconnected" },
};
