/**
 * Requests that were made by a grammar of the API, and then bent: none of them is answered by 500. 2,000 of them; 100,000 with
 * `CAUSEWAY_FUZZ=full` in the environment:
 *
 *     CAUSEWAY_FUZZ=full bun tools/run.ts test --filter tests/runner/fuzz --only bun
 */
import { assert } from "@std/assert";
import { describe, it } from "node:test";
import type { JsonValue } from "../../src/protocol/json_rpc.ts";
import type { Route } from "../../src/runner/mod.ts";
import { createSessions } from "../../src/runner/mod.ts";
import { isFull, Seeded } from "./support/seeded.ts";
import { createWorld, problemOf } from "./support/world.ts";
import type { AskOptions, World } from "./support/world.ts";

const count = isFull("CAUSEWAY_FUZZ") ? 100_000 : 2_000;
const seed = 4_9_13;
const texts = [
  ...["", "a", "alpha", "alpha__echo", "alpha.send", "alpha__greet", "helper", "note://alpha/echo", "q-1", "call-1"],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "..",
    "%",
    "%2F",
    "%00",
    "%E0%A4",
    "\0",
    "\uD800",
    "🧶",
    "<script>",
    "' OR 1=1",
  ],
  ...[
    "https://tools.example.com/mcp",
    "http://127.0.0.1/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "x".repeat(300),
  ],
  ...["null", "0", "-1", "1e999", "9007199254740993", "hang", "ask", "accept", "decline", "cancel"],
];
const numbers = [0, -0, 1, -1, 1.5, 1e21, -1e308, 2 ** 31, Number.MAX_SAFE_INTEGER, 50, 200, 201];
/** What there is, by the names of fields: so that more than the first check is reached. */
const sound: ReadonlyMap<string, readonly string[]> = new Map(Object.entries({
  agent: ["helper"],
  input: ["hello", "ask", "hang", "fail"],
  model: ["helper"],
  uri: ["note://alpha/echo", "note://alpha/send"],
  server: ["alpha"],
  question: ["q-1"],
  url: ["https://tools.example.com/mcp"],
  name: ["alpha", "alpha__echo", "alpha__send", "alpha__greet"],
  after: ["0", "3"],
}));
const methods = ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"];

/** Makes requests. */
class Grammar {
  readonly #random: Seeded;
  readonly #routes: readonly Route[];
  /** Ids of things that there are. */
  readonly known: string[] = [];

  constructor(random: Seeded, routes: readonly Route[]) {
    this.#random = random;
    this.#routes = routes;
  }

  request(): readonly [string, AskOptions] {
    const route = this.#random.pick(this.#routes);
    const own = route.method === "ALL" ? "POST" : route.method;
    const method = this.#chance(0.9) ? own : this.#random.pick(methods);
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => this.#segment(name));
    const query = this.#query(route);
    const hasBody = method !== "GET" && method !== "HEAD" && (route.body !== undefined || this.#chance(0.3));
    const body = hasBody ? this.#body(route) : undefined;
    const options: AskOptions = {
      as: this.#chance(0.95) ? "ada" : this.#chance(0.5) ? "none" : undefined,
      method,
      headers: this.#headers(),
      ...(body !== undefined && { body }),
    };
    return [path + query, options];
  }

  #chance(share: number): boolean {
    return this.#random.fraction() < share;
  }

  #segment(name = ""): string {
    const there = name === "id" && this.known.length ? this.known : sound.get(name);
    if (there && this.#chance(0.6)) return encodeURIComponent(this.#random.pick(there));
    const text = this.#chance(0.4) && this.known.length ? this.#random.pick(this.known) : this.#random.pick(texts);
    const isRaw = this.#chance(0.3) && /^[\x21-\x7e]*$/.test(text);
    return isRaw ? text.replace(/[?#]/g, "") : encodeURIComponent(text.toWellFormed());
  }

  #query({ query }: Route): string {
    if (this.#chance(0.6)) return "";
    const names = Object.keys(query ?? {});
    const pairs = Array.from({ length: this.#random.below(3) + 1 }, () => {
      const name = names.length && this.#chance(0.8) ? this.#random.pick(names) : this.#random.pick(texts);
      return `${encodeURIComponent(name.toWellFormed())}=${this.#segment(name)}`;
    });
    return `?${pairs.join("&")}`;
  }

  #headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    const names = [
      "idempotency-key",
      "last-event-id",
      "causeway-tenant",
      "causeway-approval",
      "x-request-id",
      "accept",
    ];
    for (const name of [...names, "origin", "cookie", "content-type", "mcp-session-id", "authorization"]) {
      if (!this.#chance(0.04)) continue;
      const value = this.#chance(0.3) ? "text/event-stream" : this.#random.pick(texts);
      headers[name] = value.replace(/[^\x20-\x7e]/g, "").trim();
    }
    return headers;
  }

  #body({ body }: Route): JsonValue | string {
    if (this.#chance(0.06)) {
      return this.#random.pick(["", "{", "[]", "null", '"x"', "{}{}", '{"a":1,"a":2}', "[".repeat(999)]);
    }
    if (this.#chance(0.05)) return this.#any(0);
    const made = this.#fitting(body, 0);
    return this.#chance(0.7) ? made : this.#bent(made);
  }

  /** A value that fits a schema, mostly. */
  #fitting(schema: unknown, depth: number): JsonValue {
    if (typeof schema !== "object" || schema === null || depth > 4) return this.#any(depth);
    const { type, properties, required, anyOf, items, enum: choices } = schema as Record<string, never>;
    if (choices) return this.#random.pick(choices as JsonValue[]);
    if (anyOf) return this.#fitting(this.#random.pick(anyOf as JsonValue[]), depth);
    if (type === "string") return this.#random.pick(texts);
    if (type === "integer") return this.#random.pick(numbers);
    if (type === "boolean") return this.#chance(0.5);
    if (type === "array") return Array.from({ length: this.#random.below(3) }, () => this.#fitting(items, depth + 1));
    if (type !== "object") return this.#any(depth);
    const made: Record<string, JsonValue> = {};
    for (const [name, inner] of Object.entries(properties ?? {})) {
      const isNeeded = ((required ?? []) as string[]).includes(name);
      const there = sound.get(name);
      if (!isNeeded && !this.#chance(0.3)) continue;
      made[name] = there && this.#chance(0.7) ? this.#random.pick(there) : this.#fitting(inner, depth + 1);
    }
    return made;
  }

  /** The same with one thing changed. */
  #bent(value: JsonValue): JsonValue {
    if (Array.isArray(value)) {
      return [...value.map((item) => this.#chance(0.5) ? this.#bent(item) : item), this.#any(2)];
    }
    if (typeof value !== "object" || value === null) return this.#any(1);
    const names = Object.keys(value);
    const made = { ...value };
    if (names.length && this.#chance(0.7)) {
      const name = this.#random.pick(names);
      if (this.#chance(0.3)) delete made[name];
      else made[name] = this.#bent(made[name] ?? null);
    } else {
      Object.defineProperty(made, this.#random.pick(texts), {
        value: this.#any(1),
        enumerable: true,
        configurable: true,
      });
    }
    return made;
  }

  #any(depth: number): JsonValue {
    const kind = this.#random.below(depth > 3 ? 4 : 6);
    if (kind === 0) return this.#random.pick(texts);
    if (kind === 1) return this.#random.pick(numbers);
    if (kind === 2) return this.#chance(0.5);
    if (kind === 3) return null;
    if (kind === 4) return Array.from({ length: this.#random.below(4) }, () => this.#any(depth + 1));
    return Object.fromEntries(
      Array.from({ length: this.#random.below(4) }, () => [this.#random.pick(texts), this.#any(depth + 1)]),
    );
  }
}

describe("the API under requests that nobody would send", () => {
  it(`never answers with 500 (${count} requests)`, async () => {
    const failures: unknown[] = [];
    await using world = await createWorld({
      quotas: { requestsPerMinute: 1e9, bytesPerMinute: 1e12, runs: 1e9, concurrent: 1e9 },
      access: { sessions: createSessions() },
      egress: { fetch: () => Promise.reject(new TypeError("there is nothing")) },
      policy: [{ tenants: ["*"], effect: "allow" }, { tools: ["send"], actions: ["call"], effect: "ask" }],
      pool: { most: 20 },
      logger: (record) => {
        if (record.message === "A request could not be answered") failures.push(record.fields?.error);
      },
    });
    const grammar = new Grammar(new Seeded(seed), world.runner.routes);
    const statuses = new Map<number, number>();
    for (let at = 0; at < count; at++) {
      const [path, options] = grammar.request();
      const shown = `request ${at}: ${options.method} ${path} ${JSON.stringify(options)}`;
      const status = await judged(world, { path, options, grammar, shown });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      assert(
        status !== 500 && failures.length === 0,
        `${shown}\n${failures.map((error) => (error as Error).stack).join()}`,
      );
    }
    for (const wanted of [200, 202, 204, 400, 401, 404, 405, 415, 428]) {
      assert(statuses.has(wanted), `no ${wanted} among ${JSON.stringify([...statuses])}`);
    }
  });
});

async function judged(
  world: World,
  { path, options, grammar, shown }: {
    readonly path: string;
    readonly options: AskOptions;
    readonly grammar: Grammar;
    readonly shown: string;
  },
): Promise<number> {
  const response = await world.ask(path, options);
  const { status } = response;
  if (options.method === "HEAD") {
    await response.body?.cancel();
    return status;
  }
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    // Runs that hang never end.
    await response.body?.cancel();
    return status;
  }
  if (status < 400) {
    const text = await response.text();
    const { id } = text.startsWith("{") ? JSON.parse(text) : { id: undefined };
    if (typeof id === "string") grammar.known.push(id);
    if (grammar.known.length > 50) grammar.known.shift();
    return status;
  }
  // MCP has errors of its own.
  if (path.startsWith("/mcp") && response.headers.get("content-type") !== "application/problem+json") {
    await response.text();
    return status;
  }
  const problem = await problemOf(response).catch((error: Error) => {
    throw new Error(`${shown}\n${error.message}`);
  });
  const approval = problem.approval as { id: string } | undefined;
  if (approval) grammar.known.push(approval.id);
  return status;
}
