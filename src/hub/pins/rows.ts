/**
 * Pins as they are kept: a row for each server, plain JSON.
 *
 * @module
 */
import { isObject, type JsonObject } from "../../protocol/json_rpc.ts";
import type { Store } from "../../ports.ts";
import { canonicalJson } from "./canonical.ts";
import { fingerprintOf, type KnownIdentity } from "./definition.ts";

/** A tool as it was approved. */
export interface Pin {
  /** SHA-256 of where it comes from and of its definition, in hexadecimal digits. */
  readonly fingerprint: string;
  readonly identity: KnownIdentity;
  readonly definition: JsonObject;
  /** The definition as one text. */
  readonly text: string;
}

/** The pins of one server. */
export interface Row {
  /** What stood in the store; undefined when nothing did. */
  readonly raw: string | undefined;
  /** By the tool's name at the server. */
  readonly pins: ReadonlyMap<string, Pin>;
}

const kind = "causeway.pins";
/** The most tools of a server that are kept: what a server makes up cannot grow without end. */
export const mostPins = 10_000;

/** Makes a pin. */
export async function pinOf(identity: KnownIdentity, definition: JsonObject): Promise<Pin> {
  const text = canonicalJson(definition);
  return { fingerprint: await fingerprintOf(identity.digest, text), identity, definition: JSON.parse(text), text };
}

/**
 * Reads the pins of a server.
 *
 * @throws {TypeError} When what stands there is none of ours, or was changed by hand.
 */
export async function readRow(store: Store, key: string, known?: Row): Promise<Row> {
  // Many a store says null.
  const raw = await store.get(key) ?? undefined;
  if (raw === undefined) return { raw, pins: new Map() };
  // Each of its pins was looked at when this very text was read or written.
  if (raw === known?.raw) return known;
  const bad = (): never => {
    throw new TypeError(`The pins below "${key}" are damaged, expected what was written there`);
  };
  let row: unknown;
  try {
    row = JSON.parse(raw);
  } catch {
    bad();
  }
  if (!isObject(row) || row.kind !== kind || row.version !== 1 || !isObject(row.pins)) return bad();
  const pins = new Map<string, Pin>();
  for (const [name, kept] of Object.entries(row.pins)) {
    if (!isObject(kept) || !isObject(kept.identity) || !isObject(kept.definition)) return bad();
    const { digest, shown } = kept.identity;
    if (typeof digest !== "string" || typeof shown !== "string" || kept.definition.name !== name) return bad();
    const pin = await pinOf({ digest, shown }, kept.definition as JsonObject);
    if (pin.fingerprint !== kept.fingerprint) return bad();
    pins.set(name, pin);
  }
  return { raw, pins };
}

/**
 * Writes the pins of a server.
 *
 * @returns The row, or undefined when somebody else was faster: then it is to be read again.
 */
export async function writeRow(
  store: Store,
  key: string,
  { raw: expected, pins }: Row,
): Promise<Row | undefined> {
  const entries = [...pins].map(([name, { fingerprint, identity, definition }]) =>
    [name, { fingerprint, identity, definition }] as const
  );
  const raw = JSON.stringify({ kind, version: 1, pins: Object.fromEntries(entries) });
  if (!store.compareAndSet) await store.set(key, raw);
  else if (!await store.compareAndSet(key, expected, raw)) return undefined;
  return { raw, pins };
}
