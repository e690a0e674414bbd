/**
 * A hub in front of a hub: it shows and calls only tools that somebody has approved, as long as they stay what they were.
 *
 * @module
 */
import { HubLayer } from "../layer.ts";
import type { RequestOptions } from "../../client/session/request.ts";
import { plain, redactPatterns } from "../../egress/redact.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { labelServers, separator } from "../catalog/names.ts";
import type { CatalogTool, HubEvent, HubLike, QualifiedName } from "../seam.ts";
import { callWhile } from "../unchanged.ts";
import { SharedQuestions } from "./asked.ts";
import { canonicalJson } from "./canonical.ts";
import { changesBetween } from "./changes.ts";
import {
  definitionOf,
  hiddenIn,
  identityText,
  type KnownIdentity,
  knownIdentity,
  type ServerIdentity,
  showDefinition,
} from "./definition.ts";
import { blocked, unlisted } from "./refusals.ts";
import { mostPins, type Pin, pinOf, readRow, type Row, writeRow } from "./rows.ts";
import type { PinnedHub, PinOptions, PinReport, PinStatus } from "./types.ts";

/** How often a row is written again because somebody else was faster. */
const mostRounds = 10;
/** How many servers are known, at least, before those that are gone are forgotten. */
const leastKnown = 100;
/** How many refusals are remembered: a server may think of new names all the time. */
const mostRefused = 10_000;

interface Candidate {
  readonly found: CatalogTool;
  readonly pin: Pin;
}

/** Where a server is. */
interface Identity {
  readonly known: KnownIdentity;
  /** What the digest was made of. */
  readonly place: ServerIdentity;
}

/** What is known of the pins of a server. */
interface Known {
  readonly row?: Row;
  readonly identity?: Identity;
  /** Why nothing is known. */
  readonly failure?: string;
}

/** The hub that `withPins` gives. */
export class Pinned extends HubLayer implements PinnedHub {
  readonly #options: PinOptions;
  readonly #known = new Map<string, Known>();
  /** The last write of the pins of a server here: a row that was asked for before that is old. */
  readonly #writes = new Map<string, number>();
  #written = 0;
  #room = leastKnown;
  readonly #questions = new SharedQuestions();
  /** What a person has agreed to, while it is written down: a server, a tool and a fingerprint each. */
  readonly #agreed = new Set<string>();
  /** The fingerprint of each tool that a person has refused, by server and tool. */
  readonly #refused = new Map<string, string>();
  /** Of each tool: how it was written, and that as canonical text, so that what did not change is not sorted again. */
  readonly #texts = new WeakMap<object, { readonly raw: string; readonly text: string }>();
  #shown: { readonly from: readonly CatalogTool[]; readonly tools: readonly CatalogTool[] } | undefined;

  constructor(hub: HubLike, options: PinOptions) {
    super(hub);
    this.#options = options;
  }

  override tools(): readonly CatalogTool[] {
    const from = this.hub.tools();
    if (this.#shown?.from !== from) {
      this.#shown = { from, tools: from.filter((found) => this.#isApproved(found, this.#textOf(found))) };
    }
    return this.#shown.tools;
  }

  override findTool(name: QualifiedName): CatalogTool | undefined {
    const found = this.hub.findTool(name);
    return found && this.#isApproved(found, this.#textOf(found)) ? found : undefined;
  }

  override async callTool(
    name: QualifiedName,
    args?: JsonObject,
    options: RequestOptions = {},
  ): Promise<CallToolResult> {
    const { signal } = options;
    signal?.throwIfAborted();
    const found = this.hub.findTool(name);
    if (!found && this.#mayBePinned(name)) return unlisted(name, this.hub);
    if (!found) return await this.hub.callTool(name, args, options);
    const own = { server: found.server, name: found.name };
    if (!this.#isPinned(own.server)) return await this.hub.callTool(own, args, options);
    const isGood = (now: CatalogTool | undefined): boolean => !!now && this.#isApproved(now, this.#textOf(now));
    // While somebody is asked, or it waits for its server, it may become another one.
    const isThere = isGood(found) ||
      await this.#checkServer(own.server, [found], signal).then(() => isGood(this.hub.findTool(own)));
    const result = isThere ? await callWhile(this.hub, own, args, options, isGood) : undefined;
    if (result) return result;
    const now = this.hub.findTool(own);
    return now ? blocked(await this.#reportOn(now)) : unlisted(own, this.hub);
  }

  async check({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    const servers = new Map<string, CatalogTool[]>();
    for (const found of this.hub.tools()) {
      if (!this.#isPinned(found.server)) continue;
      const tools = servers.get(found.server);
      if (tools) tools.push(found);
      else servers.set(found.server, [found]);
    }
    for (const [server, tools] of servers) await this.#checkServer(server, tools, signal);
  }

  async report(): Promise<readonly PinReport[]> {
    const reports: PinReport[] = [];
    for (const found of this.hub.tools()) {
      if (this.#isPinned(found.server)) reports.push(await this.#reportOn(found));
    }
    return reports;
  }

  async approve(name: QualifiedName, fingerprint: string): Promise<void> {
    const found = this.hub.findTool(name);
    if (!found) throw new TypeError(`Cannot approve ${JSON.stringify(name)}: expected a tool that is listed`);
    const { server } = found;
    const identity = await this.#identify(server);
    const pin = await pinOf(identity.known, definitionOf(found.tool));
    if (pin.fingerprint !== fingerprint) {
      throw new TypeError(
        `Cannot approve "${found.qualifiedName}": its fingerprint is "${pin.fingerprint}", expected "${fingerprint}"`,
      );
    }
    for (let round = 0; round < mostRounds; round++) {
      const row = await readRow(this.#options.store, this.#key(server), this.#known.get(server)?.row);
      if (await this.#write(server, { row, identity }, [{ found, pin }])) return;
    }
    throw new Error(`Cannot approve "${found.qualifiedName}": its pins are written by others all the time`);
  }

  override events(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<HubEvent> {
    // From now on, not from the first turn of the loop on.
    return this.#checked(this.hub.events(options), options?.signal);
  }

  /** The same events; before each that tells of other tools they are looked at. */
  async *#checked(events: AsyncIterable<HubEvent>, signal: AbortSignal | undefined): AsyncIterable<HubEvent> {
    for await (const event of events) {
      // A new server has tools at once where a stored catalog knows it.
      const isNew = event.type === "added";
      if ((isNew || (event.type === "catalog" && event.changed.includes("tools"))) && this.#isPinned(event.server)) {
        const { server } = event;
        const tools = this.hub.tools().filter((found) => found.server === server);
        await this.#checkServer(server, tools, signal).catch((error) => {
          if (!signal?.aborted) throw error;
        });
      }
      yield event;
    }
  }

  /** Whether it is what was approved, where it was approved. Never by anything that is remembered of the tool itself. */
  #isApproved({ server, name }: CatalogTool, text: string | undefined): boolean {
    if (!this.#isPinned(server)) return true;
    const { row, identity } = this.#known.get(server) ?? {};
    const pin = row?.pins.get(name);
    return pin !== undefined && identity !== undefined && pin.text === text &&
      pin.identity.digest === identity.known.digest && isSamePlace(identity.place, this.#identity(server));
  }

  #isPinned(server: string): boolean {
    return this.#options.servers?.(server) !== false;
  }

  /** Whether what is not listed may lead to a server that is pinned: as far as its name tells. */
  #mayBePinned(name: QualifiedName): boolean {
    if (typeof name === "object") return this.#isPinned(name.server);
    const labels = labelServers(this.hub.status().map((status) => status.name));
    const named = Array.from(labels).filter(([server, label]) =>
      name.startsWith(`${server}.`) || name.startsWith(label + separator)
    );
    return named.length === 0 || named.some(([server]) => this.#isPinned(server));
  }

  /** Reads the pins of a server anew, approves what is trusted, asks for the rest, and keeps what was approved. */
  async #checkServer(server: string, tools: readonly CatalogTool[], signal: AbortSignal | undefined): Promise<void> {
    const agreed = new Set<string>();
    try {
      const identity = await this.#identify(server);
      const candidates: Candidate[] = [];
      for (const found of tools) {
        // A definition that is no JSON is one that nobody can approve; the others can.
        if (this.#textOf(found) !== undefined) {
          candidates.push({ found, pin: await pinOf(identity.known, definitionOf(found.tool)) });
        }
      }
      for (let round = 0; round < mostRounds; round++) {
        const writes = this.#writes.get(server);
        const row = await readRow(this.#options.store, this.#key(server), this.#known.get(server)?.row);
        if (writes !== this.#writes.get(server)) continue;
        this.#learn(server, { row, identity });
        const chosen: Candidate[] = [];
        const places = new Set(Array.from(row.pins.values(), ({ identity }) => identity.digest));
        for (const candidate of candidates) {
          if (await this.#isWanted(candidate, row, { agreed, places, signal })) chosen.push(candidate);
        }
        if (chosen.length === 0 || await this.#write(server, { row, identity }, chosen)) return;
      }
      throw new Error("others write there all the time");
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const why = error instanceof Error ? error.message : String(error);
      const before = this.#known.get(server);
      this.#learn(server, { ...before, failure: plain(redactPatterns(why)) });
    } finally {
      for (const key of agreed) this.#agreed.delete(key);
    }
  }

  /** Whether a tool that is not approved is to be approved now. */
  async #isWanted(
    { found, pin }: Candidate,
    row: Row,
    { agreed, places, signal }: { agreed: Set<string>; places: ReadonlySet<string>; signal: AbortSignal | undefined },
  ): Promise<boolean> {
    const { approve, onFirstSight } = this.#options;
    const known = row.pins.get(found.name);
    if (known?.fingerprint === pin.fingerprint) return false;
    const place = JSON.stringify([found.server, found.name]);
    const key = place + pin.fingerprint;
    if (agreed.has(key) || this.#agreed.has(key)) return true;
    const isHome = places.size === 0 || places.has(pin.identity.digest);
    if (!known && onFirstSight === "trust" && isHome) return true;
    if (!approve || this.#refused.get(place) === pin.fingerprint) return false;
    signal?.throwIfAborted();
    const ask = async (signal: AbortSignal): Promise<boolean> =>
      await approve(await this.#reportOn(found, pin), { signal });
    let answer: unknown;
    try {
      answer = await this.#questions.ask(key, ask, signal);
    } catch (error) {
      if (signal?.aborted) throw error;
      // Who could not answer has not refused: the next call asks again.
      return false;
    }
    // Only a plain yes is one.
    const isYes = answer === true;
    if (isYes) {
      agreed.add(key);
      this.#agreed.add(key);
    } else {
      this.#refused.set(place, pin.fingerprint);
      const [oldest] = this.#refused.keys();
      if (this.#refused.size > mostRefused && oldest !== undefined) this.#refused.delete(oldest);
    }
    return isYes;
  }

  /** Keeps pins beside those of a row. False: somebody else was faster. */
  async #write(
    server: string,
    { row, identity }: { row: Row; identity: Identity },
    chosen: readonly Candidate[],
  ): Promise<boolean> {
    const pins = new Map(row.pins);
    for (const { found, pin } of chosen) pins.set(found.name, pin);
    if (pins.size > mostPins) throw new RangeError(`"${server}" has ${pins.size} pins, expected at most ${mostPins}`);
    const written = await writeRow(this.#options.store, this.#key(server), { raw: row.raw, pins });
    if (written) {
      this.#writes.set(server, ++this.#written);
      this.#learn(server, { row: written, identity });
    }
    return written !== undefined;
  }

  async #reportOn(found: CatalogTool, candidate?: Pin): Promise<PinReport> {
    const { server, name, qualifiedName, tool } = found;
    const base = { server, name, qualifiedName };
    const { row, failure } = this.#known.get(server) ?? {};
    const text = this.#textOf(found);
    if (text === undefined) {
      const reason = "its definition is no JSON, or nested too deeply";
      return { ...base, status: "unknown", changes: [], hidden: [], shown: "", reason };
    }
    const shown = showDefinition(tool);
    const hidden = hiddenIn(tool);
    let pin = candidate;
    let reason = failure ?? (row ? undefined : "its pins were not read yet");
    try {
      pin ??= await pinOf((await this.#identify(server)).known, definitionOf(tool));
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    const known = row?.pins.get(name);
    const status: PinStatus = known && known.fingerprint === pin?.fingerprint
      ? "approved"
      : reason !== undefined
      ? "unknown"
      : known
      ? "changed"
      : "new";
    const changes = known && pin && status !== "approved" ? changesOf(known, pin) : [];
    const { fingerprint, identity } = pin ?? {};
    const told = status === "unknown" ? { reason } : {};
    return {
      ...base,
      status,
      fingerprint,
      digest: await sha256(text),
      from: identity?.shown,
      changes,
      hidden,
      shown,
      ...told,
    };
  }

  /** The definition as one text; undefined when it is no JSON. */
  #textOf({ tool }: CatalogTool): string | undefined {
    try {
      const definition = definitionOf(tool);
      const raw = JSON.stringify(definition);
      const kept = this.#texts.get(tool);
      if (kept?.raw === raw) return kept.text;
      const text = canonicalJson(definition);
      this.#texts.set(tool, { raw, text });
      return text;
    } catch {
      return undefined;
    }
  }

  #learn(server: string, known: Known): void {
    this.#known.set(server, known);
    this.#shown = undefined;
    if (this.#known.size > this.#room) this.#forgetGone();
  }

  /** What is known of servers that were removed. Their pins stay in the store. */
  #forgetGone(): void {
    const there = new Set(this.hub.tools().map(({ server }) => server));
    for (const server of this.#known.keys()) {
      if (there.has(server)) continue;
      this.#known.delete(server);
      this.#writes.delete(server);
    }
    // Not with each server that comes.
    this.#room = Math.max(leastKnown, 2 * this.#known.size);
  }

  #identity(server: string): ServerIdentity | undefined {
    const { identities } = this.#options;
    if (typeof identities === "function") return identities(server);
    return Object.hasOwn(identities, server) ? identities[server] : undefined;
  }

  async #identify(server: string): Promise<Identity> {
    const identity = this.#identity(server);
    const text = identity && identityText(identity);
    if (!identity || text === undefined) {
      throw new TypeError(`Nobody says where the server "${server}" is: expected "url" or "command" in "identities"`);
    }
    const { url, issuer, command, args } = identity;
    const place: ServerIdentity = { url, issuer, command, args: args && [...args] };
    return { known: await knownIdentity(place, text), place };
  }

  #key(server: string): string {
    return `${this.#options.prefix ?? "pins/"}${encodeURIComponent(server.toWellFormed())}`;
  }
}

/** Whether a server is where it was, told at a glance. */
function isSamePlace(known: ServerIdentity, { url, issuer, command, args = [] }: ServerIdentity = {}): boolean {
  const { args: before = [] } = known;
  return url === known.url && issuer === known.issuer && command === known.command && args.length === before.length &&
    args.every((argument, at) => argument === before[at]);
}

function changesOf(known: Pin, pin: Pin): PinReport["changes"] {
  const changes = changesBetween(known.definition, pin.definition);
  if (known.identity.digest === pin.identity.digest) return changes;
  const [before, after] = [known.identity.shown, pin.identity.shown];
  const shown = before === after ? `${after} (changed where it is not shown: the query, or the arguments)` : after;
  return [{ path: "server", before, after: shown }, ...changes];
}
