/**
 * The sessions of legacy clients in front. What a server asks or logs on its own account says for nobody whom it is: so it goes to
 * the one session that there is, and with several to nobody.
 *
 * @module
 */
import type { Implementation, LogMessage, Root } from "../../../protocol/types.ts";
import { readRoots } from "../../../server/legacy/questions.ts";
import type { LegacyClient, LegacyOutlet } from "../../../server/seam.ts";

/** How long a client may take to tell its roots, in milliseconds: over HTTP it may have no stream to be asked on. */
const patience = 10_000;
/** Of how many servers it is known who called them last, or what they asked: those that were removed are among them. */
const mostServers = 1_000;

/** How a session is reached, and which servers it may know of. */
interface Front {
  readonly outlet: LegacyOutlet;
  readonly sees: (server: string) => boolean;
}

/** The sessions of all gateways that share a relay. */
export class Fronts {
  readonly #sessions = new Map<LegacyClient, Front>();
  /** Servers that asked for roots when there was nobody to tell any. */
  readonly #unanswered = new Set<string>();
  /** What the last caller at each server said of itself: the same object for all calls of a session. */
  readonly #callers = new Map<string, object>();

  /**
   * A client has said something, or is gone.
   *
   * @param front How it is reached.
   * @returns What tells whether a server should ask for roots again; undefined when none should.
   */
  heard(
    method: string | undefined,
    session: LegacyClient | undefined,
    front: Front,
  ): ((server: string) => boolean) | undefined {
    if (!session) return undefined;
    if (method === undefined) return void this.#sessions.delete(session);
    if (method === "notifications/initialized") this.#sessions.set(session, front);
    if (!this.#sessions.has(session) || !session.client.capabilities.roots || this.#sessions.size > 1) return undefined;
    if (method === "notifications/roots/list_changed") return () => true;
    return method === "notifications/initialized" ? (server) => this.#unanswered.delete(server) : undefined;
  }

  /** Somebody calls a server: what it logs from now on may be about that call. */
  called(server: string, client: Implementation | undefined): void {
    this.#callers.delete(server);
    this.#callers.set(server, client ?? {});
    dropOldest(this.#callers);
  }

  /** The roots of the one session; undefined where there is not one that has some. */
  roots(server: string, signal: AbortSignal): Promise<Root[]> | undefined {
    const [[session, front] = [], another] = this.#sessions;
    if (session?.client.capabilities.roots && !another && front?.sees(server)) return rootsOf(session, signal);
    this.#unanswered.add(server);
    dropOldest(this.#unanswered);
    return undefined;
  }

  /** Tells the one session what a server logs, where that session has called it last. */
  log(server: string, { level, data, logger = server }: LogMessage): void {
    const [only, another] = this.#sessions;
    if (!only || another) return;
    const [{ client, wants }, { outlet }] = only;
    if (!client.info || client.info !== this.#callers.get(server) || !wants(level)) return;
    outlet.send({ jsonrpc: "2.0", method: "notifications/message", params: { level, logger, data } });
  }
}

function dropOldest(servers: Set<string> | Map<string, object>): void {
  const [oldest] = servers.keys();
  if (servers.size > mostServers && oldest !== undefined) servers.delete(oldest);
}

async function rootsOf({ asks }: LegacyClient, signal: AbortSignal): Promise<Root[]> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
  return readRoots(await asks.ask("roots/list", undefined, undefined, inTime));
}
