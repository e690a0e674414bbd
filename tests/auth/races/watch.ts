/**
 * Looks on while programs race, and says what must not happen:
 *
 * - a call that does not end;
 * - a refresh token that is sent twice, though its first answer was heard;
 * - tokens that are deleted, though nobody signed out and the server did not refuse them;
 * - a token of one person that is sent for another;
 * - a person who is asked, though a good token was there all the time.
 *
 * @module
 */
import type { OAuth } from "../../../src/auth/mod.ts";
import type { Fetch } from "../../../src/ports.ts";
import type { SeenRequest } from "../world/request_log.ts";
import { resourceUrl, type World } from "../world/world.ts";
import type { RestlessStore } from "./race.ts";

/** The scope that every token has. */
export const anyScope = "mcp:use";

/** Who has a sign-in. */
export type Person = "ada" | "grace";

/** A program, until it is killed. */
export interface Program {
  readonly name: string;
  isDead: boolean;
  readonly oauths: Readonly<Record<Person, OAuth>>;
}

/** Something that somebody waits for. */
interface Work {
  readonly program: Program;
  readonly person: Person;
  readonly startedAt: number;
  readonly isExplicit: boolean;
  /** The scope that it needs. */
  readonly scope: string;
}

/** The texts of a store, which tells what changes. */
class WatchedTexts extends Map<string, string> {
  changed: (key: string, before: string | undefined, after: string | undefined) => void = () => {};

  override set(key: string, text: string): this {
    const before = this.get(key);
    super.set(key, text);
    this.changed?.(key, before, text);
    return this;
  }

  override delete(key: string): boolean {
    const before = this.get(key);
    const done = super.delete(key);
    this.changed(key, before, undefined);
    return done;
  }
}

/** Looks on. */
export class Watch {
  /** When a step of the store failed. */
  readonly storeFailures: number[] = [];
  isCalm = false;
  readonly #world: World;
  readonly #store: RestlessStore;
  readonly #works = new Set<Work>();
  readonly #wrongs: string[] = [];
  /** Whose tokens they are, by the family of the server. */
  readonly #owners = new Map<string, Person>();
  /** For each record of tokens: what it holds, and since which tick. */
  readonly #kept = new Map<string, { readonly refreshToken: string; readonly tick: number }>();
  readonly #diedAt = new Map<string, number>();
  #signingOut = 0;
  #tick = 0;

  constructor(world: World, store: RestlessStore) {
    this.#world = world;
    this.#store = store;
    const texts = new WatchedTexts();
    texts.changed = (key, before, after) => this.#changed(key, before, after);
    Object.assign(store, { texts });
    const { all } = world.log;
    const push = all.push.bind(all);
    all.push = (...seen) => {
      for (const one of seen) this.#saw(one);
      return push(...seen);
    };
  }

  died(program: Program): void {
    this.#diedAt.set(program.name, this.#world.clock.monotonic());
    for (const work of this.#works) if (work.program === program) this.#works.delete(work);
  }

  /** Makes a call of the tool that is named by the scope that it needs. Resolves to its status, or to what went wrong. */
  async call(program: Program, person: Person, scope: string, signal?: AbortSignal): Promise<number | string> {
    const send: Fetch = (url, init) => this.#world.fetch(url, signed(init, program.name));
    const headers = { "content-type": "application/json", "x-person": person };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: scope } });
    const init = { method: "POST", headers, body, ...(signal && { signal }) };
    return await this.#work({ program, person, scope, isExplicit: false }, async () => {
      const response = await program.oauths[person].wrap(send, resourceUrl)(resourceUrl, init);
      return response.status;
    });
  }

  signIn(program: Program, person: Person): void {
    void this.#work(
      { program, person, scope: anyScope, isExplicit: true },
      () => program.oauths[person].signIn(resourceUrl),
    );
  }

  signOut(program: Program, person: Person): void {
    this.#signingOut++;
    const end = (): void => {
      if (!program.isDead) this.#signingOut--;
    };
    void this.#work(
      { program, person, scope: anyScope, isExplicit: true },
      () => program.oauths[person].signOut(resourceUrl).finally(end),
    );
  }

  /** Asks a person: they say yes. */
  async ask(program: string, person: Person, url: string): Promise<string> {
    const own = [...this.#works].filter((work) => work.program.name === program && work.person === person);
    // All who wanted the sign-in may have left: then nobody knows what was there when it began.
    const since = own.length ? Math.min(...own.map(({ startedAt }) => startedAt)) : -Infinity;
    const { issued, clients } = this.#world.server;
    const isAsked = own.some(({ isExplicit }) => isExplicit);
    for (const { refreshToken, tick } of this.#kept.values()) {
      const token = issued.refresh.get(refreshToken);
      if (!token || !issued.isGood(token) || this.#owners.get(token.family) !== person || isAsked) continue;
      if (own.some(({ scope }) => !token.scopes.includes(scope))) continue;
      if (tick < since && clients.known.has(token.clientId)) {
        this.#wrongs.push(`${program} asks ${person}, though a good refresh token is there`);
      }
    }
    const callback = await this.#world.person.follow(url).catch((error: unknown) => {
      // A page that says that it does not know the client leads nowhere: the person clears what the program keeps.
      for (const name of [...this.#store.texts.keys()]) {
        if (name.startsWith("oauth.client.")) this.#store.texts.delete(name);
      }
      throw error;
    });
    const code = issued.codes.get(new URL(callback).searchParams.get("code") ?? "");
    if (code) this.#owners.set(code.family, person);
    return callback;
  }

  /** Resolves when all has ended that was begun. */
  async ended(most: number): Promise<void> {
    const { clock } = this.#world;
    const last = clock.monotonic() + most;
    for (await clock.settle(); this.#works.size; await clock.advance(250)) {
      if (clock.monotonic() < last) continue;
      const left = [...this.#works].map(({ program, person }) => `${program.name} for ${person}`);
      throw new Error(`These hang: ${left.join(", ")}`);
    }
  }

  /** @throws {Error} When something happened that must not. */
  judge(): void {
    const sent = new Map<string, SeenRequest[]>();
    for (const seen of this.#world.log.tokens("refresh_token")) {
      const token = seen.form.get("refresh_token") ?? "";
      const earlier = sent.get(token) ?? [];
      if (earlier.some((one) => this.#wasHeard(one))) this.#wrongs.push(`a refresh token is sent twice: ${token}`);
      sent.set(token, [...earlier, seen]);
    }
    if (this.#wrongs.length) throw new Error([...new Set(this.#wrongs)].join("; "));
  }

  async #work<Value>(
    begun: Omit<Work, "startedAt">,
    run: () => Promise<Value>,
  ): Promise<Value | string> {
    const work: Work = { ...begun, startedAt: ++this.#tick };
    this.#works.add(work);
    try {
      return await run();
    } catch (error) {
      return String(error);
    } finally {
      this.#works.delete(work);
    }
  }

  /** Whether the answer to a refresh came, and could be kept. */
  #wasHeard(seen: SeenRequest): boolean {
    const { status = 0, at } = seen;
    if (status !== 200 && status !== 400) return false;
    const time = at - this.#world.clock.now() + this.#world.clock.monotonic();
    const hurt = this.storeFailures.some((failed) => failed >= time && failed < time + 30_000);
    const died = this.#diedAt.get(seen.headers.get("x-program") ?? "");
    if (died !== undefined && (hurt || died < time + 20_000)) return false;
    // A refusal that could not be noted is heard again.
    return status === 200 || !hurt;
  }

  #saw(seen: SeenRequest): void {
    const person = seen.headers.get("x-person");
    const token = this.#world.server.issued.access.get(seen.headers.get("authorization")?.slice(7) ?? "");
    if (person !== null && token && this.#owners.get(token.family) !== person) {
      this.#wrongs.push(`a token of ${this.#owners.get(token.family)} is sent for ${person}`);
    }
  }

  #changed(key: string, before: string | undefined, after: string | undefined): void {
    if (!key.startsWith("oauth.tokens.")) return;
    const refreshToken = after === undefined ? undefined : String(JSON.parse(after).refreshToken);
    if (refreshToken === undefined) this.#kept.delete(key);
    else if (this.#kept.get(key)?.refreshToken !== refreshToken) {
      this.#kept.set(key, { refreshToken, tick: ++this.#tick });
    }
    if (after !== undefined || before === undefined || this.#signingOut > 0) return;
    const gone = String(JSON.parse(before).refreshToken);
    const refused = this.#world.log.tokens("refresh_token").some(({ form, status }) => {
      return form.get("refresh_token") === gone && status === 400;
    });
    if (!refused) this.#wrongs.push(`tokens are deleted that nobody has refused: ${gone}`);
  }
}

/** The same request, with the program's name: the watch has to know who it was. */
export function signed(init: RequestInit | undefined, program: string): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set("x-program", program);
  return { ...init, headers: Object.fromEntries(headers) };
}
