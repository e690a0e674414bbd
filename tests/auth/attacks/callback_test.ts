/** Callbacks that somebody made up, tore, or stole: none is taken, and whoever waits finishes all the same. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import type { OAuthOptions } from "../../../src/auth/mod.ts";
import type { Store } from "../../../src/ports.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { createParty } from "../sign_in/parties.ts";
import { issuer, redirectUri, resourceUrl } from "../world/world.ts";
import { attack, finishes, hitsOf, refusalOf, wait, type Waiting } from "./attack.ts";

type Change = (query: URLSearchParams, waiting: Waiting) => void;

/** The callback with another query. */
function changed(waiting: Waiting, change: Change): string {
  const url = new URL(waiting.callback);
  change(url.searchParams, waiting);
  return url.href;
}

/** A callback that is refused: no token is asked for, and the true one is as good as before. */
function harmless(change: Change, options: OAuthOptions = {}) {
  return async () => {
    const waiting = await wait(options);
    const error = await refusalOf(waiting.oauth.finishAuth(changed(waiting, change)));
    assert(error instanceof AuthorizationError, error.name);
    const hits = hitsOf(waiting.world);
    await finishes(waiting);
    return hits;
  };
}

const set = (name: string, value: string): Change => (query) => query.set(name, value);
const drop = (name: string): Change => (query) => query.delete(name);
const state = (change: (state: string) => string): Change => (query) =>
  query.set("state", change(query.get("state") ?? ""));

const states: Record<string, Change> = {
  missing: drop("state"),
  empty: set("state", ""),
  "of nobody": set("state", "0".repeat(64)),
  "the same twice": (query) => query.append("state", query.get("state") ?? ""),
  "the true one, then another": (query) => query.append("state", "0".repeat(64)),
  "another, then the true one": (query) => {
    const own = query.get("state") ?? "";
    query.delete("state");
    query.append("state", "0".repeat(64));
    query.append("state", own);
  },
  truncated: state((text) => text.slice(0, -1)),
  "its first half": state((text) => text.slice(0, 32)),
  "longer by one": state((text) => text + "0"),
  "in capitals": state((text) => text.replace(/./, "F").toUpperCase()),
  "with a blank": state((text) => ` ${text}`),
  "with a line end": state((text) => `${text}\n`),
  "with a NUL": state((text) => `${text}\0`),
  "under another name": (query) => {
    query.append("State", query.get("state") ?? "");
    query.delete("state");
  },
  "as a list": (query) => {
    query.append("state[]", query.get("state") ?? "");
    query.delete("state");
  },
  __proto__of: set("state", "__proto__"),
  "a record's key": set("state", "oauth.pending.0"),
  "very long": set("state", "a".repeat(100_000)),
};

const others = "https://evil.example";
const issuers: Record<string, Change> = {
  missing: drop("iss"),
  empty: set("iss", ""),
  "another": set("iss", others),
  "with a slash": set("iss", `${issuer}/`),
  "with the usual port": set("iss", `${issuer}:443`),
  "in capitals": set("iss", "https://AUTH.example.com"),
  "a scheme in capitals": set("iss", "HTTPS://auth.example.com"),
  "percent-encoded": set("iss", "https://auth.example.co%6D"),
  "encoded twice": set("iss", encodeURIComponent(issuer)),
  "over http": set("iss", issuer.replace("https", "http")),
  "with a dot": set("iss", `${issuer}.`),
  "with a path": set("iss", `${issuer}/a/..`),
  "with a query": set("iss", `${issuer}?`),
  "with a fragment": set("iss", `${issuer}#`),
  "with a user name": set("iss", issuer.replace("//", "//a@")),
  "with a blank": set("iss", `${issuer} `),
  "its beginning": set("iss", issuer.slice(0, -1)),
  "longer": set("iss", `${issuer}.evil.example`),
  "the same twice": (query) => query.append("iss", issuer),
  "the true one, then another": (query) => query.append("iss", others),
  "another, then the true one": (query) => {
    query.set("iss", others);
    query.append("iss", issuer);
  },
};

const codes: Record<string, Change> = {
  missing: drop("code"),
  empty: set("code", ""),
  "two": (query) => query.append("code", "another"),
  "the same twice": (query) => query.append("code", query.get("code") ?? ""),
  "two errors": (query) => {
    query.append("error", "access_denied");
    query.append("error", "server_error");
  },
  "two descriptions": (query) => {
    query.append("error_description", "one");
    query.append("error_description", "two");
  },
};

describe("attacks on the callback", () => {
  attack("state", states, (change) => harmless(change)());
  attack("iss, which is announced", issuers, (change) => harmless(change)());
  attack("code", codes, (change) => harmless(change)());

  const { missing: _, ...told } = issuers;
  attack("iss, which is not announced", told, async (change) => {
    const metadata = { authorization_response_iss_parameter_supported: undefined };
    const waiting = await wait({}, { server: { metadata } });
    await refusalOf(waiting.oauth.finishAuth(changed(waiting, change)));
    const hits = hitsOf(waiting.world);
    await finishes(waiting);
    return hits;
  });

  test("iss is missing where nobody announced it: that is all right", async () => {
    const waiting = await wait({}, { server: { iss: "absent" } });
    assertEquals(new URL(waiting.callback).searchParams.has("iss"), false);
    await finishes(waiting);
  });

  attack("words of somebody else are not shown", ["error", "error_description", "error_uri"], async (name) => {
    for (const iss of [others, undefined]) {
      const words = "https://evil.example/call-us";
      const waiting = await wait();
      const url = changed(waiting, (query) => {
        query.delete("code");
        query.set("error", "access_denied");
        query.set(name, words);
        if (iss === undefined) query.delete("iss");
        else query.set("iss", iss);
      });
      const error = await refusalOf(waiting.oauth.finishAuth(url));
      assert(error instanceof AuthorizationError && error.error === undefined, String(error));
      assert(!error.message.includes("evil") && !error.message.includes("access_denied"), error.message);
      await finishes(waiting);
    }
  });

  test("a code beside an error is a refusal: it is exchanged for nothing", async () => {
    const waiting = await wait();
    const before = hitsOf(waiting.world);
    const error = await refusalOf(waiting.oauth.finishAuth(changed(waiting, set("error", "access_denied"))));
    assert(error instanceof AuthorizationError, error.name);
    assertEquals([error.error, hitsOf(waiting.world)], ["access_denied", before]);
    await assertRejects(() => waiting.oauth.finishAuth(waiting.callback), AuthorizationError);
  });

  attack("no URL at all", ["", "/callback?code=a&state=b", "code=a", "https://", "\0"], async (text) => {
    const waiting = await wait();
    await refusalOf(waiting.oauth.finishAuth(text));
    const hits = hitsOf(waiting.world);
    await finishes(waiting);
    return hits;
  });
});

/** A store whose answers take a while: all who ask at once have read before the first writes. */
function slowStore(): Store {
  const memory = createMemoryStore();
  const slow = async <Value>(work: Promise<Value>): Promise<Value> => {
    const value = await work;
    await new Promise<void>((resolve) => void setTimeout(resolve, 20));
    return value;
  };
  return {
    get: (key) => slow(memory.get(key)),
    set: (key, value) => slow(memory.set(key, value)),
    delete: (key) => slow(memory.delete(key)),
    compareAndSet: async (key, from, to) => await slow(Promise.resolve(memory.compareAndSet?.(key, from, to) ?? false)),
  };
}

const strangersOf: Record<string, (waiting: Waiting) => OAuthOptions> = {
  "another subject": () => ({ subject: "eve" }),
  "another tenant": () => ({ tenant: "eve" }),
  "a tenant and a subject that look alike": () => ({ tenant: 'a","pending', subject: "" }),
  "another session": () => ({ session: "eve" }),
  "no session": () => ({ session: undefined }),
  "an empty session": () => ({ session: "" }),
  "another store": () => ({ store: createMemoryStore() }),
};

describe("attacks with a stolen callback", () => {
  attack("of somebody else", strangersOf, async (options) => {
    const waiting = await wait({ tenant: "a", subject: "ada", session: "cookie-1" });
    const stranger = waiting.another(options(waiting));
    const error = await refusalOf(stranger.finishAuth(waiting.callback));
    assert(error.message.includes("nobody waits"), error.message);
    const hits = hitsOf(waiting.world);
    await finishes(waiting);
    return hits;
  });

  const again = { "by the same": false, "by another program with the same store": true };
  attack("again, after success", again, async (byAnother) => {
    const waiting = await wait();
    await finishes(waiting);
    const { world, oauth, callback } = waiting;
    world.log.clear();
    await refusalOf((byAnother ? waiting.another() : oauth).finishAuth(callback));
    assertEquals((await oauth.status(resourceUrl))?.issuer, issuer);
    return hitsOf(world);
  });

  attack("again, after a refusal", again, async (byAnother) => {
    const waiting = await wait();
    const { world, oauth, callback } = waiting;
    const refused = changed(waiting, (query) => {
      query.delete("code");
      query.set("error", "access_denied");
    });
    const error = await refusalOf(oauth.finishAuth(refused));
    assert(error instanceof AuthorizationError && error.error === "access_denied");
    await refusalOf((byAnother ? waiting.another() : oauth).finishAuth(callback));
    return hitsOf(world);
  });

  attack("again, after the token endpoint refused", again, async (byAnother) => {
    const waiting = await wait();
    const { world, oauth, callback } = waiting;
    world.server.issued.codes.clear();
    await refusalOf(oauth.finishAuth(callback));
    assertEquals(world.log.tokens().length, 1);
    world.log.clear();
    await refusalOf((byAnother ? waiting.another() : oauth).finishAuth(callback));
    return hitsOf(world);
  });

  attack("many times at once: one wins", [2, 10, 50], async (count) => {
    const waiting = await wait({ store: slowStore() });
    const parties = Array.from({ length: count }, (_, index) => index % 2 ? waiting.another() : waiting.oauth);
    const ends = await Promise.allSettled(parties.map((party) => party.finishAuth(waiting.callback)));
    assertEquals(ends.filter(({ status }) => status === "fulfilled").length, 1);
    for (const end of ends) if (end.status === "rejected") assert(end.reason instanceof AuthorizationError);
    assertEquals(waiting.world.log.tokens().length, 1);
  });

  attack("too late", [600_000, 600_001, 86_400_000], async (milliseconds) => {
    const waiting = await wait();
    await waiting.world.clock.advance(milliseconds);
    await refusalOf(waiting.oauth.finishAuth(waiting.callback));
    return hitsOf(waiting.world);
  });

  test("just in time is all right", async () => {
    const waiting = await wait();
    // The code of this server is good for a minute, and so is asked for late.
    await waiting.world.clock.advance(599_999);
    for (const code of waiting.world.server.issued.codes.values()) Object.assign(code, { expiresAt: Infinity });
    await finishes(waiting);
  });
});

describe("attacks with another sign-in", () => {
  test("two at once finish in any order, each with its own verifier", async () => {
    const { world, oauth } = await createParty({ authorize: undefined });
    const begun = [await oauth.begin(resourceUrl), await oauth.begin(resourceUrl)];
    const callbacks: string[] = [];
    for (const { authorizationUrl } of begun) callbacks.push(await world.person.follow(authorizationUrl));
    for (const callback of callbacks.toReversed()) await oauth.finishAuth(callback);
    const verifiers = world.log.tokens().map(({ form, status }) => [form.get("code_verifier"), status]);
    assertEquals([verifiers.length, new Set(verifiers.map(([text]) => text)).size], [2, 2]);
    assertEquals(verifiers.map(([, status]) => status), [200, 200]);
  });

  attack("the code of another one", ["same program", "another person's"], async (which) => {
    const { world, oauth, another } = await createParty({ authorize: undefined });
    const own = await oauth.begin(resourceUrl);
    const other = which === "same program" ? oauth : another({ subject: "eve", store: createMemoryStore() });
    const stolen = await world.person.follow((await other.begin(resourceUrl)).authorizationUrl);
    const callback = new URL(await world.person.follow(own.authorizationUrl));
    callback.searchParams.set("code", new URL(stolen).searchParams.get("code") ?? "");
    const error = await refusalOf(oauth.finishAuth(callback));
    assert(error instanceof AuthorizationError && error.error === "invalid_grant", String(error));
    assertEquals(await oauth.status(resourceUrl), undefined);
    return world.server.issued.access.size ? ["a token was given"] : [];
  });

  const elsewhere = "https://other.example.com/mcp";
  attack("its callback in the place of one's own", [resourceUrl, elsewhere], async (server) => {
    const { world, another } = await createParty();
    world.addResource({ url: elsewhere, servers: [world.server] });
    const waits = another({ authorize: undefined });
    const { authorizationUrl } = await waits.begin(server);
    const foreign = await world.person.follow(authorizationUrl);
    const victim = another({ authorize: () => Promise.resolve(foreign) });
    world.log.clear();
    await refusalOf(victim.signIn(resourceUrl));
    const hits = hitsOf(world, new URL(elsewhere).origin);
    assertEquals((await waits.finishAuth(foreign)).server, server);
    return hits;
  });

  test("a callback to another address is judged by its state alone", async () => {
    const waiting = await wait();
    const { search } = new URL(waiting.callback);
    await assertRejects(() => waiting.oauth.finishAuth(`${redirectUri}#${search.slice(1)}`), AuthorizationError);
    await finishes({ ...waiting, callback: `https://elsewhere.example/${search}` });
  });
});
