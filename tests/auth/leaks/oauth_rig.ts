/**
 * A client that signs in, in a world that can be broken, with somebody who looks at all that comes out of it.
 *
 * The secrets are not given but gathered: from what went over the wire, and from what the stores were told to keep.
 *
 * @module
 */
import { connect, telemetry } from "../../../mod.ts";
import { createMemoryStore, createSealedStore, type OAuthOptions } from "../../../src/auth/mod.ts";
import { OAuth } from "../../../src/auth/oauth.ts";
import type { Authorizer, Store } from "../../../src/ports.ts";
import { isJson } from "../world/jwt.ts";
import type { SeenRequest } from "../world/request_log.ts";
import { createWorld, issuer, redirectUri, resourceUrl, type World, type WorldOptions } from "../world/world.ts";
import { type Canary, createCanary } from "./canary.ts";

/** What a flow uses. */
export interface Rig {
  readonly world: World;
  readonly canary: Canary;
  /** The options that every `createOAuth` here has. */
  readonly usual: OAuthOptions;
  /** The secrets that were met so far, and of which kind each is. */
  readonly secrets: ReadonlyMap<string, string>;
  /** What went wrong so far. */
  readonly errors: readonly unknown[];
  /** The store fails from now on, and says with what; or not any more. */
  breakStore(way: "get" | "set" | "compareAndSet" | "delete" | undefined): void;
  /** Makes a secret known. */
  learn(kind: string, secret: string): void;
  /** Does something, and looks at what it gives or throws. False: it failed. */
  step(name: string, run: () => Promise<unknown>): Promise<boolean>;
  /** Connects with an authorizer. */
  open(auth: Authorizer): ReturnType<typeof connect>;
  /** Gathers what is not known yet, and looks at who was told what. */
  finish(): Promise<void>;
}

const formKinds: Readonly<Record<string, string>> = {
  code: "authorization code",
  code_verifier: "PKCE verifier",
  refresh_token: "refresh token",
  client_secret: "client secret",
  client_assertion: "client assertion",
  assertion: "ID-JAG or assertion",
  subject_token: "subject token",
  device_code: "device code",
};
const recordKinds: Readonly<Record<string, string>> = {
  accessToken: "access token",
  refreshToken: "refresh token",
  clientSecret: "client secret",
  state: "state",
  verifier: "PKCE verifier",
  session: "session binding",
  d: "private key",
};
const headerKinds: Readonly<Record<string, string>> = {
  "x-api-key": "API key",
};

/** Who is told what, beside the identity provider: a token goes to its resource, and back to who gave it. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "access token": [resourceUrl, issuer],
  "API key": [resourceUrl],
  "subject token": ["https://login.example.org"],
  "session binding": [],
  "private key": [],
  state: [],
};

/** Makes one. */
export async function createRig(options: WorldOptions = {}): Promise<Rig> {
  const world = await createWorld(options);
  const canary = createCanary({});
  const known = new Map<string, string>();
  const errors: unknown[] = [];
  let brokenWay: string | undefined;
  const learn = (kind: string, text: unknown): void => {
    // JWTs begin alike: what makes one good is its signature.
    const secret = typeof text === "string" && /^eyJ[^.]*\.[^.]*\./.test(text) ? text.split(".")[2] : text;
    if (typeof secret !== "string" || secret.length < 6 || known.has(secret)) return;
    known.set(secret, kind);
    canary.add(`${kind} ${known.size}`, secret);
  };
  const sealed = createSealedStore(watched(createMemoryStore(), canary), { keys: "k".repeat(43) });
  const store = learning(sealed, learn, () => brokenWay);
  const usual: OAuthOptions = {
    ...{ redirectUri, store, fetch: world.fetch, clock: world.clock, session: "session/cookie+0123456789==" },
    ...{ authorize: world.person.authorize, logger: canary.logger },
  };
  const watch = telemetry({ onEvent: canary.onEvent, sanitize: (content) => content });
  return {
    ...{ world, canary, usual, secrets: known, errors, learn },
    breakStore(way) {
      brokenWay = way;
    },
    async step(name, run) {
      try {
        canary.value(name, await canary.console(() => world.clock.until(run())));
        return true;
      } catch (error) {
        errors.push(error);
        canary.error(name, error);
        return false;
      }
    },
    open: (auth) =>
      connect(resourceUrl, {
        ...{ fetch: world.fetch, auth, cache: false, stream: false, retry: { attempts: 1 }, clock: world.clock },
        ...{ logger: canary.logger, middleware: [watch] },
      }),
    async finish() {
      for (const seen of world.log.all) learnFromRequest(seen, learn);
      for (const secret of world.server.issued.access.keys()) learn("access token", secret);
      for (const secret of world.server.issued.refresh.keys()) learn("refresh token", secret);
      for (const { id } of world.server.clients.known.values()) {
        learn("client secret", world.server.clients.known.get(id)?.secret);
      }
      await lookAtRequests(world, known, canary);
    },
  };
}

/** Every URL, and whatever goes to somebody who is not meant. */
async function lookAtRequests(world: World, known: ReadonlyMap<string, string>, canary: Canary): Promise<void> {
  const asked = world.log.all.filter(({ by }) => by === "client");
  for (const { url, headers, body } of asked) {
    canary.text("URL", url.href);
    const strangers = [...known].filter(([, kind]) => !isFor(url, kind));
    const watcher = createCanary(
      Object.fromEntries(strangers.map(([secret, kind], index) => [`${kind} ${index}`, secret])),
    );
    headers.forEach((value) => watcher.text("header", value));
    watcher.text("body", body);
    // Reported through the one canary that the test asks.
    for (const { secret, text } of watcher.leaks) canary.text(`${secret} to ${url.origin}`, text);
  }
  await Promise.resolve();
}

function isFor({ origin }: URL, kind: string): boolean {
  const places = allowed[kind] ?? [issuer, "https://login.example.org"];
  return places.some((place) => new URL(place).origin === origin);
}

function learnFromRequest({ form, headers }: SeenRequest, learn: (kind: string, secret: unknown) => void): void {
  for (const [name, kind] of Object.entries(formKinds)) learn(kind, form.get(name));
  for (const [name, kind] of Object.entries(headerKinds)) learn(kind, headers.get(name));
  const [, scheme = "", text = ""] = /^(\w+) (\S+)$/.exec(headers.get("authorization") ?? "") ?? [];
  learn(scheme === "Basic" ? "client credentials" : "access token", text);
  if (scheme !== "Basic") return;
  const secret = atob(text).split(":")[1] ?? "";
  learn("client secret", decodeURIComponent(secret.replaceAll("+", " ")));
}

/** Looks at all that reaches a store: it must be nothing that can be read. */
function watched(store: Required<Store>, canary: Canary): Required<Store> {
  const look = (...texts: readonly (string | undefined)[]) => texts.forEach((text) => canary.text("store", text ?? ""));
  return {
    get: (key) => (look(key), store.get(key)),
    set: (key, value) => (look(key, value), store.set(key, value)),
    delete: (key) => (look(key), store.delete(key)),
    compareAndSet: (key, from, to) => (look(key, from, to), store.compareAndSet(key, from, to)),
  };
}

/** Learns the secrets that are to be kept; where it is broken, it says them. */
function learning(
  store: Required<Store>,
  learn: (kind: string, secret: unknown) => void,
  broken: () => string | undefined,
): Required<Store> {
  const read = (text: string | undefined): void => {
    if (text !== undefined && /^[{[]/.test(text)) gather(JSON.parse(text), learn);
  };
  const check = async (way: string, key: string, ...values: readonly (string | undefined)[]): Promise<void> => {
    values.forEach(read);
    if (broken() !== way) return;
    // What was kept is shown by a failing read too, as stores do that cannot make sense of a row.
    const shown = [...values, await store.get(key)].filter((value) => value !== undefined);
    const cause = Object.assign(new Error(`row ${JSON.stringify(shown)}`), { parameters: shown.join() });
    throw Object.assign(new Error(`Cannot ${way} ${key} = ${shown.join(", ")}`, { cause }), { query: shown.join() });
  };
  return {
    get: async (key) => (await check("get", key), await store.get(key)),
    set: async (key, value) => (await check("set", key, value), await store.set(key, value)),
    delete: async (key) => (await check("delete", key), await store.delete(key)),
    compareAndSet: async (key, from, to) => {
      await check("compareAndSet", key, from, to);
      return await store.compareAndSet(key, from, to);
    },
  };
}

/** The secrets in a record. The key of DPoP is a JSON text in it. */
function gather(value: unknown, learn: (kind: string, secret: unknown) => void): void {
  if (!isJson(value)) return;
  for (const [name, item] of Object.entries(value)) {
    const kind = recordKinds[name];
    if (kind !== undefined) learn(kind, item);
    gather(name === "dpopKey" && typeof item === "string" ? JSON.parse(item) : item, learn);
  }
}

/** Tells whether it signs in by itself. */
export function isOAuth(auth: Authorizer): auth is OAuth {
  return auth instanceof OAuth;
}
