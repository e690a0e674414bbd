/**
 * Three programs of two people over one store, and whatever can happen to them: decided by a seed.
 *
 * @module
 */
import { createOAuth, type OAuth } from "../../../src/auth/mod.ts";
import type { Fetch, Random, Store } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { answer, delay, type Fault, lostReply, networkFailure, silence } from "../world/faults.ts";
import { createWorld, redirectUri, type World } from "../world/world.ts";
import { failing, RestlessStore } from "./race.ts";
import { anyScope, type Person, type Program, signed, Watch } from "./watch.ts";

const people = ["ada", "grace"] as const;
/** Runs one seed. Rejects when something happened that must not. */
export async function simulate(seed: number, steps: number = 30): Promise<void> {
  const simulation = await Simulation.create(seed);
  for (let step = 0; step < steps; step++) await simulation.step();
  await simulation.finish();
}

/** A clock that waits for keys and hashes as well: they are made by other threads, and no time passes for that. */
class PatientClock extends VirtualClock {
  override async settle(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await crypto.subtle.digest("SHA-256", new Uint8Array(1));
      await super.settle();
    }
  }
}

class Simulation {
  readonly #world: World;
  readonly #store: RestlessStore;
  readonly #watch: Watch;
  readonly #chance: () => number;
  readonly #programs: Program[] = [];
  #started = 0;

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#chance = chanceOf(seed);
    this.#store = new RestlessStore(world.clock);
    this.#watch = new Watch(world, this.#store);
    for (let index = 0; index < 3; index++) this.#programs.push(this.#start());
  }

  static async create(seed: number): Promise<Simulation> {
    const chance = chanceOf(seed + 1_000_003);
    const lifetime = chance() < 0.3 ? 30 : 300;
    const clock = new PatientClock();
    const resource = {
      scope: anyScope,
      needs: ({ name }: { name: string }) => [...new Set([anyScope, name || anyScope])],
    };
    const world = await createWorld({ handler: () => new Response("{}"), server: { lifetime }, resource, clock });
    return new Simulation(world, seed);
  }

  /** Does something. */
  async step(): Promise<void> {
    const { clock, server } = this.#world;
    const program = this.#pick(this.#programs);
    const person = this.#chance() < 0.75 ? "ada" : "grace";
    const what = this.#chance();
    if (what < 0.45) this.#call(program, person);
    else if (what < 0.72) {
      await clock.advance(this.#pick([0, 50, 200, 1_000, 5_000, 16_000, 40_000, 70_000, 240_000, 3e5]));
    } else if (what < 0.77) server.issued.revokeAccess();
    else if (what < 0.79) {
      for (const { family } of server.issued.refresh.values()) {
        server.issued.revokeFamily(family);
      }
    } else if (what < 0.87) this.#world.fault("/token", this.#fault(), 1 + Math.floor(3 * this.#chance()));
    else if (what < 0.9) this.#hurtStore();
    else if (what < 0.92) this.#slowStore();
    else if (what < 0.94) this.#watch.signOut(program, person);
    else if (what < 0.96) this.#watch.signIn(program, person);
    else if (what < 0.97) server.clients.known.clear();
    else this.#restart(program);
  }

  /** All is well again: what is under way ends, and all can call, also what needs more than what they have. */
  async finish(): Promise<void> {
    const { clock } = this.#world;
    this.#world.fault(() => true, (_seen, go) => go(), 0);
    this.#watch.isCalm = true;
    this.#store.fails = () => false;
    this.#store.latency = () => 0;
    await this.#watch.ended(240_000);
    for (const program of this.#programs) {
      for (const person of people) {
        // What is left of the faults may be in its way: for 30 s after a token endpoint was away nobody is brought to a page again.
        for (let attempt = 0; attempt < 60; attempt++) {
          const call = this.#watch.call(program, person, "files:write");
          await this.#watch.ended(120_000);
          const outcome = await call;
          if (outcome === 200) break;
          if (attempt === 59) throw new Error(`${program.name} cannot call for ${person} in the end: ${outcome}`);
          await clock.advance(4_000);
        }
      }
    }
    this.#watch.judge();
  }

  #call(program: Program, person: Person): void {
    const count = 1 + Math.floor(4 * this.#chance());
    for (let index = 0; index < count; index++) {
      const caller = new AbortController();
      if (this.#chance() < 0.15) {
        this.#world.clock.schedule(() => caller.abort(new Error("left")), this.#pick([0, 100, 3_000]));
      }
      const scope = this.#pick([anyScope, anyScope, "files:read", "files:write"]);
      void this.#watch.call(program, person, scope, caller.signal);
    }
  }

  #fault(): Fault {
    const { clock } = this.#world;
    return this.#pick([
      networkFailure,
      answer(500),
      answer(429),
      lostReply,
      silence,
      delay(clock, 3_000),
      delay(clock, 9_000),
      delay(clock, 20_000),
    ]);
  }

  #hurtStore(): void {
    const fails = failing(
      1 + Math.floor(3 * this.#chance()),
      () => this.#chance() < 0.5,
      this.#pick(["before", "after"]),
    );
    this.#store.fails = (step, key) => {
      const found = fails(step, key);
      if (found) this.#watch.storeFailures.push(this.#world.clock.monotonic());
      return found;
    };
  }

  #slowStore(): void {
    const most = this.#pick([0, 20, 300]);
    this.#store.latency = () => Math.floor(most * this.#chance());
  }

  #restart(program: Program): void {
    program.isDead = true;
    this.#watch.died(program);
    this.#programs[this.#programs.indexOf(program)] = this.#start();
  }

  /** Starts a program: once it is dead, nothing that it did comes to anything. */
  #start(): Program {
    const name = `program ${++this.#started}`;
    const self: { program?: Program } = {};
    const alive = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      if (self.program?.isDead) return await new Promise<Value>(() => {});
      try {
        return await work();
      } finally {
        if (self.program?.isDead) await new Promise<never>(() => {});
      }
    };
    const { get, set, delete: remove, compareAndSet } = this.#store;
    const store: Store = {
      get: (key) => alive(() => get(key)),
      set: (key, value) => alive(() => set(key, value)),
      delete: (key) => alive(() => remove(key)),
      compareAndSet: (key, expected, value) => alive(() => compareAndSet(key, expected, value)),
    };
    const random: Random = {
      fraction: this.#chance,
      bytes: (length) => Uint8Array.from({ length }, () => Math.floor(256 * this.#chance())),
    };
    const oauthOf = (person: Person): OAuth => {
      const fetch: Fetch = (url, init) => alive(() => this.#world.fetch(url, signed(init, name)));
      return createOAuth({
        redirectUri,
        store,
        fetch,
        random,
        subject: person,
        clock: this.#world.clock,
        authorize: (request) => alive(() => this.#watch.ask(name, person, request.authorizationUrl)),
      });
    };
    const program: Program = { name, isDead: false, oauths: { ada: oauthOf("ada"), grace: oauthOf("grace") } };
    self.program = program;
    return program;
  }

  #pick<Value>(values: readonly Value[]): Value {
    const found = values[Math.floor(values.length * this.#chance())];
    if (found === undefined) throw new Error("there is nothing to choose from");
    return found;
  }
}

/** Fractions that follow from a seed (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
