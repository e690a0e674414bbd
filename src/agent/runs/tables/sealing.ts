/**
 * What is kept of runs, sealed: each run has a key of its own, which is sealed with a secret. So changing the secret changes
 * those keys alone, and a row opens nowhere but in its place.
 *
 * @module
 */
import type { Random, SqlCipher, SqlDatabase, SqlRow, SqlValue } from "../../../ports.ts";
import { toHex } from "../../../ports.ts";
import { McpError } from "../../../protocol/errors.ts";
import { DamagedError, numberOf, optionalText, textOf } from "./cells.ts";

/** Where a text stands. */
export interface TextPlace {
  readonly table: "agent_texts" | "agent_events" | "agent_steps";
  readonly run: string;
  /** The rest of the row's key. */
  readonly key: readonly (string | number)[];
}

/** A database of runs. What stands in it as text goes in and out by `seal` and `open`. */
export interface RunsDatabase extends SqlDatabase {
  /** Makes what the texts of a new run are sealed with. Its row has to be there. */
  prepareRun(run: string): void;
  /** What stands in a row for a text. */
  seal(place: TextPlace, text: string): SqlValue;
  /**
   * The text that a row stands for.
   *
   * @throws {McpError} When it is not the one that was kept there.
   */
  open(place: TextPlace, value: SqlValue | undefined): string;
}

/** What a database is sealed with. */
export interface SealingOptions {
  /** The first one seals, all of them open; none: nothing is sealed. */
  readonly secrets: readonly Uint8Array[];
  readonly tenant: string;
  readonly random: Random;
}

interface Secret {
  /** Tells secrets apart, and nothing else. */
  readonly id: string;
  readonly key: Uint8Array;
}

/** How many keys of runs are at hand. */
const mostKeys = 256;

/**
 * Makes a database of runs of one with their tables. The first time that there is a secret, what was kept without is sealed; where
 * the secret is another one, the keys of runs are sealed anew.
 *
 * @throws {TypeError} When there is a secret, and nothing to seal with.
 * @throws {McpError} When it is sealed with a secret that is not among these, or with one and there is none.
 */
export function openRunsDatabase(database: SqlDatabase, options: SealingOptions): RunsDatabase {
  if (options.secrets.length === 0) {
    checkSecret(database, []);
    return new PlainDatabase(database);
  }
  const { cipher } = database;
  if (!cipher) {
    throw new TypeError(
      '"secret" needs a database that can encrypt: that of "openDatabase", or of "createObjectDatabase" in a Worker with the flag nodejs_compat',
    );
  }
  return database.transaction(() => {
    const { salt, secret } = database.all("select salt, secret from agent_schema")[0] ?? {};
    const kept = salt instanceof Uint8Array ? salt : options.random.bytes(16);
    const secrets = options.secrets.map((bytes) => derive(cipher, bytes, { salt: kept, tenant: options.tenant }));
    checkKeys(database, secrets);
    const sealed = new SealedDatabase(database, { cipher, secrets, random: options.random });
    database.run("update agent_schema set salt = ?, secret = ?", kept, secrets[0]?.id ?? null);
    if (typeof secret === "string") sealed.renewKeys();
    else sealed.sealAll();
    return sealed;
  });
}

/** Hands on what it does not change. */
abstract class DatabaseLayer implements RunsDatabase {
  protected readonly inner: SqlDatabase;
  readonly #ids: readonly string[];
  readonly sync?: () => Promise<void>;

  constructor(inner: SqlDatabase, ids: readonly string[]) {
    this.inner = inner;
    this.#ids = ids;
    if (inner.sync) this.sync = () => inner.sync?.() ?? Promise.resolve();
  }

  all(sql: string, ...parameters: readonly SqlValue[]): readonly SqlRow[] {
    return this.inner.all(sql, ...parameters);
  }

  run(sql: string, ...parameters: readonly SqlValue[]): void {
    this.inner.run(sql, ...parameters);
  }

  transaction<Value>(work: () => Value): Value {
    return this.inner.transaction(() => {
      // Another process may have sealed everything meanwhile: what is written now would open for nobody.
      checkSecret(this.inner, this.#ids);
      return work();
    });
  }

  close(): void {
    this.inner.close?.();
  }

  abstract prepareRun(run: string): void;
  abstract seal(place: TextPlace, text: string): SqlValue;
  abstract open(place: TextPlace, value: SqlValue | undefined): string;
}

/** Texts as they are. */
class PlainDatabase extends DatabaseLayer {
  constructor(inner: SqlDatabase) {
    super(inner, []);
  }

  prepareRun(): void {}

  seal(_: TextPlace, text: string): SqlValue {
    return text;
  }

  open(place: TextPlace, value: SqlValue | undefined): string {
    if (typeof value === "string") return value;
    if (!(value instanceof Uint8Array)) throw unreadable(place, "it is no text");
    // Another process has sealed all of them meanwhile: this row is not the one that is damaged.
    throw new McpError(unreadable(place, `it is sealed: "secret" is missing`).message);
  }
}

/** Texts that are bytes which only who has the secret can read. */
class SealedDatabase extends DatabaseLayer {
  readonly #cipher: SqlCipher;
  readonly #secrets: readonly Secret[];
  readonly #random: Random;
  readonly #keys = new Map<string, { readonly sealed: Uint8Array; readonly bound: string; readonly key: Uint8Array }>();

  constructor(
    inner: SqlDatabase,
    { cipher, secrets, random }: { cipher: SqlCipher; secrets: readonly Secret[]; random: Random },
  ) {
    super(inner, secrets.map(({ id }) => id));
    this.#cipher = cipher;
    this.#secrets = secrets;
    this.#random = random;
  }

  prepareRun(run: string): void {
    this.#writeKey(run, this.#random.bytes(32));
  }

  seal(place: TextPlace, text: string): SqlValue {
    return this.#seal(this.#keyOf(place.run), new TextEncoder().encode(text), boundOf(place));
  }

  open(place: TextPlace, value: SqlValue | undefined): string {
    if (!(value instanceof Uint8Array)) throw unreadable(place, "it is not sealed");
    const plain = this.#cipher.open(this.#keyOf(place.run), value, boundOf(place));
    if (plain) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(plain);
    throw unreadable(place, "it was moved or changed");
  }

  /** Seals the keys of all runs with the first secret. */
  renewKeys(): void {
    const rows = this.inner.all("select run from agent_keys where secret <> ?", this.#secrets[0]?.id ?? "");
    for (const row of rows) {
      const run = textOf(row, "run");
      this.#writeKey(run, this.#keyOf(run));
    }
  }

  /** Seals what was kept without a secret. */
  sealAll(): void {
    for (const row of this.inner.all("select id from agent_runs")) {
      const run = textOf(row, "id");
      this.prepareRun(run);
      this.#sealTexts(run);
      this.#sealEvents(run);
      this.#sealSteps(run);
    }
  }

  #sealTexts(run: string): void {
    // One by one: together they may be more than fits into memory.
    for (const row of this.inner.all("select kind, name, part from agent_texts where run = ?", run)) {
      const key = [textOf(row, "kind"), textOf(row, "name"), numberOf(row, "part")];
      const where = "where run = ? and kind = ? and name = ? and part = ?";
      const found = this.inner.all(`select text from agent_texts ${where}`, run, ...key)[0];
      const sealed = this.seal({ table: "agent_texts", run, key }, found ? textOf(found, "text") : "");
      this.inner.run(`update agent_texts set text = ? ${where}`, sealed, run, ...key);
    }
  }

  #sealEvents(run: string): void {
    const rows = this.inner.all("select sequence, event from agent_events where run = ? and event is not null", run);
    for (const row of rows) {
      const sequence = numberOf(row, "sequence");
      const sealed = this.seal({ table: "agent_events", run, key: [sequence] }, textOf(row, "event"));
      this.inner.run("update agent_events set event = ? where run = ? and sequence = ?", sealed, run, sequence);
    }
  }

  #sealSteps(run: string): void {
    const rows = this.inner.all("select name, arguments_hash from agent_steps where run = ?", run);
    for (const row of rows) {
      const hash = optionalText(row, "arguments_hash");
      if (hash === undefined) continue;
      const name = textOf(row, "name");
      const sealed = this.seal({ table: "agent_steps", run, key: [name] }, hash);
      this.inner.run("update agent_steps set arguments_hash = ? where run = ? and name = ?", sealed, run, name);
    }
  }

  #writeKey(run: string, key: Uint8Array): void {
    // The one in force, though this process may have another one in front: then that one can be dropped.
    const inForce = this.inner.all("select secret from agent_schema")[0]?.["secret"];
    const secret = this.#secrets.find(({ id }) => id === inForce) ?? this.#secrets[0];
    const owner = this.inner.all("select agent, principal from agent_runs where id = ?", run)[0];
    if (!secret || !owner) throw new McpError(`Cannot seal the run ${run}: it is not there`);
    this.inner.run(
      "insert or replace into agent_keys (run, secret, key) values (?, ?, ?)",
      run,
      secret.id,
      this.#seal(secret.key, key, keyBound(run, owner)),
    );
  }

  #keyOf(run: string): Uint8Array {
    const row = this.inner.all(
      `select k.secret, k.key, r.agent, r.principal from agent_keys k join agent_runs r on r.id = k.run where k.run = ?`,
      run,
    )[0];
    const sealed = row?.["key"];
    if (!row || !(sealed instanceof Uint8Array)) throw new DamagedError(`Cannot read the run ${run}: it is not sealed`);
    const bound = keyBound(run, row);
    const known = this.#keys.get(run);
    if (known?.bound === bound && isSame(known.sealed, sealed)) return known.key;
    const secret = this.#secrets.find(({ id }) => id === row["secret"]);
    if (!secret) throw otherSecret();
    const key = this.#cipher.open(secret.key, sealed, bound);
    if (!key) {
      throw new DamagedError(`Cannot read the run ${run}: its key was moved or changed, or it belongs to another`);
    }
    for (const oldest of this.#keys.keys()) if (this.#keys.size >= mostKeys) this.#keys.delete(oldest);
    this.#keys.set(run, { sealed, bound, key });
    return key;
  }

  #seal(key: Uint8Array, plain: Uint8Array, bound: string): Uint8Array {
    return this.#cipher.seal(key, this.#random.bytes(12), { plain, bound });
  }
}

function derive(cipher: SqlCipher, secret: Uint8Array, place: { salt: Uint8Array; tenant: string }): Secret {
  const { salt, tenant } = place;
  const id = cipher.derive(secret, salt, JSON.stringify(["causeway runs 1, name of the secret", tenant]));
  return {
    id: toHex(id.subarray(0, 8)),
    key: cipher.derive(secret, salt, JSON.stringify(["causeway runs 1, keys of runs", tenant])),
  };
}

/** Sees that each run's key can be opened. */
function checkKeys(database: SqlDatabase, secrets: readonly Secret[]): void {
  const used = database.all("select distinct secret from agent_keys");
  for (const row of used) if (!secrets.some(({ id }) => id === row["secret"])) throw otherSecret();
}

/** Sees that the database is sealed with one of these secrets; with none of none. */
function checkSecret(database: SqlDatabase, ids: readonly string[]): void {
  const secret = database.all("select secret from agent_schema")[0]?.["secret"] ?? null;
  if (secret === null ? ids.length === 0 : ids.includes(String(secret))) return;
  if (ids.length > 0) throw otherSecret();
  throw new McpError('Cannot use the database of runs: it is sealed, expected the "secret" that sealed it');
}

function otherSecret(): McpError {
  return new McpError(
    'Cannot use the database of runs: it is sealed with another secret or for another tenant, expected that one in "secret"',
  );
}

function unreadable({ table, run }: TextPlace, reason: string): DamagedError {
  return new DamagedError(
    `Cannot read the database of runs: a row of "${table}" of the run ${run} does not open: ${reason}`,
  );
}

function boundOf({ table, run, key }: TextPlace): string {
  return JSON.stringify([table, run, ...key]);
}

/** The key of a run is good for its owner alone. */
function keyBound(run: string, owner: SqlRow): string {
  return JSON.stringify(["agent_keys", run, textOf(owner, "agent"), textOf(owner, "principal")]);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
