/**
 * What is kept of legacy sessions: one text for each, under a key that does not tell the session's id.
 *
 * @module
 */
import type { Clock, Store } from "../../ports.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { exchange, inTime } from "../common/store_steps.ts";

/** What lasts of a session. */
export interface Lasting {
  /** What the client said of itself: `protocolVersion`, `capabilities` and `clientInfo`. */
  readonly initialize: JsonObject;
  /** The level of `logging/setLevel`. */
  readonly level?: string;
  /** The resources that are watched. */
  readonly resources: readonly string[];
}

/** A session as it is kept. */
export interface SessionRecord {
  /** Whom it belongs to; null where callers are not verified. */
  readonly principal: string | null;
  /** When it was last used, in milliseconds since 1970: not to the second. */
  readonly at: number;
  readonly lasting: Lasting;
}

/** Options of {@linkcode SessionRecords}. */
export interface SessionRecordsOptions {
  readonly store: Store;
  readonly prefix: string;
  /** How long the store may take, in milliseconds. */
  readonly timeout: number;
  readonly clock: Clock;
}

/** Reads and writes sessions. Each call ends in time, whatever the store does. */
export class SessionRecords {
  readonly #options: SessionRecordsOptions;

  constructor(options: SessionRecordsOptions) {
    this.#options = options;
  }

  /**
   * What is kept of a session, and the very text; undefined when there is nothing. Throws when the store fails or holds
   * something else.
   */
  async read(id: string): Promise<{ readonly record: SessionRecord; readonly text: string } | undefined> {
    const key = await this.#key(id);
    // Many a store says null.
    const text = await this.#inTime(() => this.#options.store.get(key)) ?? undefined;
    return text === undefined ? undefined : { record: parse(text), text };
  }

  /**
   * Keeps a session; false when another process has changed it since it was read, where the store can tell. Throws when the
   * store fails.
   *
   * @param isOver Whether it was ended meanwhile: a write that comes too late, when nobody waits for it, is taken back.
   * @param before The text that was read; undefined for a new one.
   */
  async write(id: string, record: SessionRecord, isOver: () => boolean, before?: string): Promise<boolean> {
    const key = await this.#key(id);
    const { store } = this.#options;
    return await this.#inTime(async () => {
      const isWritten = await exchange(store, key, before, JSON.stringify(record));
      if (isOver()) await store.delete(key);
      return isWritten;
    });
  }

  /** Forgets a session. Throws when the store fails. */
  async delete(id: string): Promise<void> {
    const key = await this.#key(id);
    await this.#inTime(() => this.#options.store.delete(key));
  }

  /** Who can read the store shall not be able to use the sessions. */
  async #key(id: string): Promise<string> {
    return this.#options.prefix + await sha256(id);
  }

  #inTime<Value>(step: () => Promise<Value>): Promise<Value> {
    return inTime(this.#options.clock, this.#options.timeout, step);
  }
}

function parse(text: string): SessionRecord {
  const record: unknown = JSON.parse(text);
  const lasting = isObject(record) ? record.lasting : undefined;
  const isSound = isObject(record) && isObject(lasting) && isObject(lasting.initialize) &&
    (record.principal === null || typeof record.principal === "string") && Number.isFinite(record.at) &&
    (lasting.level === undefined || typeof lasting.level === "string") &&
    isTexts(lasting.resources);
  if (isSound) return record as unknown as SessionRecord;
  throw new Error("What the store gave is no session");
}
