/**
 * Programs that race for the tokens of one person, in a world of servers that take each refresh token once.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { createOAuth, type OAuth, type OAuthOptions } from "../../../src/auth/mod.ts";
import type { Clock, Store } from "../../../src/ports.ts";
import { createWorld, redirectUri, resourceUrl, type World, type WorldOptions } from "../world/world.ts";

/** The steps of a store. */
export type StoreStep = "get" | "set" | "delete" | "compareAndSet";

/** A store that is slow, or fails for a moment. */
export class RestlessStore implements Required<Store> {
  readonly texts: Map<string, string> = new Map();
  /** How long each step takes, in milliseconds: half of it before anything is done. */
  latency: (step: StoreStep) => number = () => 0;
  /** Whether a step fails: before anything is done, or after it. */
  fails: (step: StoreStep, key: string) => "before" | "after" | false = () => false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get = (key: string): Promise<string | undefined> => this.#do("get", key, () => this.texts.get(key));
  set = (key: string, value: string): Promise<void> => this.#do("set", key, () => void this.texts.set(key, value));
  delete = (key: string): Promise<void> => this.#do("delete", key, () => void this.texts.delete(key));
  compareAndSet = (key: string, expected: string | undefined, value: string | undefined): Promise<boolean> =>
    this.#do("compareAndSet", key, () => {
      if (this.texts.get(key) !== expected) return false;
      if (value === undefined) this.texts.delete(key);
      else this.texts.set(key, value);
      return true;
    });

  /** The same texts, as a store that cannot compare. */
  withoutComparing(): Store {
    const { get, set, delete: remove } = this;
    return { get, set, delete: remove };
  }

  async #do<Value>(step: StoreStep, key: string, work: () => Value): Promise<Value> {
    const pause = this.latency(step) / 2;
    if (pause) await sleep(this.#clock, pause);
    const fails = this.fails(step, key);
    if (fails === "before") throw new Error("the disk is on fire");
    const value = work();
    if (pause) await sleep(this.#clock, pause);
    if (fails === "after") throw new Error("the disk is on fire");
    return value;
  }
}

/** Lets so many steps fail, of those that are meant. */
export function failing(
  times: number,
  meant: (step: StoreStep, key: string) => boolean,
  when: "before" | "after" = "before",
): RestlessStore["fails"] {
  return (step, key) => times > 0 && meant(step, key) && times-- > 0 ? when : false;
}

/** A program with a store. */
export interface Program {
  readonly oauth: OAuth;
  /** Makes one call; resolves to the status of its reply. */
  call(signal?: AbortSignal): Promise<number>;
}

/** What a test works with. */
export interface Race {
  readonly world: World;
  readonly store: RestlessStore;
  /** The first program: it has signed in. */
  readonly first: Program;
  /** Another one over the same store. */
  another(options?: OAuthOptions): Program;
  /** Many calls at a time, whose statuses are given. */
  calls(count: number, programs?: readonly Program[]): Promise<number[]>;
  /** Lets time pass until the work is done. */
  drive<Value>(work: Promise<Value>, most?: number): Promise<Value>;
  /** Resolves when something has come true that needs no time to pass. */
  until(isTrue: () => boolean): Promise<void>;
  /** Resolves when somebody asks for tokens. */
  asked(): Promise<void>;
  /** The tokens in the store. */
  stored(): Record<string, unknown> | undefined;
  /** The refresh tokens that were sent, in their order. */
  sent(): (string | null)[];
}

/** Makes a world, and a program that has signed in. From then on the log is empty. */
export async function createRace(options: OAuthOptions = {}, worldOptions: WorldOptions = {}): Promise<Race> {
  const world = await createWorld({ handler: () => new Response("{}"), ...worldOptions });
  const store = new RestlessStore(world.clock);
  const another = (own: OAuthOptions = {}): Program => {
    const { fetch, clock, person: { authorize } } = world;
    const oauth = createOAuth({ redirectUri, store, fetch, clock, authorize, ...options, ...own });
    const send = oauth.wrap(world.fetch, resourceUrl);
    return { oauth, call: (signal) => post(send, signal) };
  };
  const first = another();
  assertEquals(await first.call(), 200);
  world.log.clear();
  world.person.visits.length = 0;
  return {
    world,
    store,
    first,
    another,
    calls: (count, programs = [first]) =>
      Promise.all(programs.flatMap((program) => Array.from({ length: count }, () => program.call()))),
    drive: (work, most) => drive(world, work, most),
    until: (isTrue) => until(world, isTrue),
    asked: () => until(world, () => world.log.tokens().length > 0),
    stored: () => storedTokens(store),
    sent: () => world.log.tokens("refresh_token").map(({ form }) => form.get("refresh_token")),
  };
}

/** What all that succeeds looks like: one refresh, nobody asked, nothing looked up, the newest pair kept without a lease. */
export function assertOnce(race: Race, statuses: readonly number[], refreshes: number = 1): void {
  const { world } = race;
  assertEquals(statuses.filter((status) => status !== 200), []);
  assertEquals(world.log.tokens().map(({ form }) => form.get("grant_type")), Array(refreshes).fill("refresh_token"));
  assertEquals(new Set(race.sent()).size, refreshes);
  assertEquals([world.person.visits.length, world.log.metadata().length], [0, 0]);
  assertNewest(race);
}

/** The newest pair is kept, and nobody is at it any more. */
export function assertNewest(race: Race): void {
  const { access, refresh } = race.world.server.issued;
  const newest = [[...access.keys()].at(-1), [...refresh.keys()].at(-1)];
  const { accessToken, refreshToken, lease } = race.stored() ?? {};
  assertEquals([accessToken, refreshToken, lease], [...newest, undefined]);
}

/** Waits by a clock. */
export function sleep(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => void clock.schedule(resolve, milliseconds));
}

/** Lets time pass in small steps, until the work is done: what takes a few turns of the event loop is not overtaken by time. */
export async function drive<Value>({ clock }: World, work: Promise<Value>, most: number = 120_000): Promise<Value> {
  let done = false;
  const finish = (): void => {
    done = true;
  };
  work.then(finish, finish);
  const last = clock.monotonic() + most;
  for (await clock.settle(); !done; await clock.advance(50)) {
    if (clock.monotonic() > last) throw new Error(`It hangs: it was not done within ${most} ms`);
  }
  return await work;
}

/** Gives the runtime turns until something has come true: how many it needs depends on what else the machine does. */
async function until({ clock }: World, isTrue: () => boolean): Promise<void> {
  for (let turn = 0; !isTrue(); turn++) {
    if (turn > 500) throw new Error(`It does not come true: ${isTrue}`);
    await clock.settle();
  }
}

/** The tokens that a store keeps. */
export function storedTokens(store: RestlessStore): Record<string, unknown> | undefined {
  const found = [...store.texts].find(([key]) => key.startsWith("oauth.tokens."));
  const content: unknown = found && JSON.parse(found[1]);
  return typeof content === "object" && content !== null ? { ...content } : undefined;
}

async function post(send: ReturnType<OAuth["wrap"]>, signal?: AbortSignal): Promise<number> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo" } });
  const headers = { "content-type": "application/json" };
  const response = await send(resourceUrl, { method: "POST", headers, body, ...(signal && { signal }) });
  await response.text();
  return response.status;
}
