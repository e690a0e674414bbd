/**
 * What commands say of a session, and what its parts hand to each other.
 *
 * @module
 */
import type { Client } from "../../client/mod.ts";
import type { ConnectOptions } from "../../entry/targets.ts";
import type { AuthWorld } from "../auth/oauth.ts";
import type { Destination } from "../target/target.ts";
import type { HearWire } from "../wire/tap.ts";
import type { EarlyChild } from "./early_child.ts";

/** What a command does with a client. */
export type Use = (client: Client, signal: AbortSignal, destination: Destination) => Promise<number>;

/** What is done with the client, and what it is made with. */
export interface Session {
  /** Interrupts. */
  readonly signal: AbortSignal;
  /** Gets a signal that ends with `--timeout` too. */
  readonly use: Use;
  /** Has the sign-ins (the person's own). */
  readonly world?: AuthWorld;
  readonly options?: Pick<ConnectOptions, "tasks">;
  /** Whether it is one of several at once: somebody else says that it is under way, and what it asks is declined. */
  readonly isSilent?: boolean;
  /** What the lines of the wire call the server, where there are several. */
  readonly name?: string;
}

/** A session that has begun. */
export interface BegunSession extends Session {
  /** Ends with `--timeout` too. */
  readonly signal: AbortSignal;
  /** Takes the secrets of the target out of texts. */
  readonly redact: (text: string) => string;
  /** Hears what goes over the wire. */
  readonly hear: HearWire | undefined;
  /** The program of a local server, which runs already. */
  readonly child: EarlyChild | undefined;
}
