/** A legacy session with everything around it in the hands of the test. */
import type { LogRecord } from "../../../src/ports.ts";
import { systemRandom } from "../../../src/ports.ts";
import type { JsonObject, JsonRpcNotification, JsonRpcRequest } from "../../../src/protocol/json_rpc.ts";
import { defaultLimits, type Limits } from "../../../src/protocol/limits.ts";
import type { AuthInfo, RequestContext } from "../../../src/server/definitions.ts";
import { createLegacySession } from "../../../src/server/legacy/mod.ts";
import type { LegacySessionOptions } from "../../../src/server/legacy/mod.ts";
import type { Answer, Incoming, LegacyServing, ServerParts } from "../../../src/server/seam.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { said, type StandIn, standIn } from "../stand_in.ts";

/** A session, and what came out of it. */
export interface Bench {
  readonly session: LegacyServing;
  readonly clock: VirtualClock;
  /** What the session sent outside of answers, with the id of the request that it was about. */
  readonly sent: { message: JsonRpcRequest | JsonRpcNotification; about: unknown }[];
  /** What was told in the course of requests. */
  readonly notices: JsonRpcNotification[];
  readonly log: LogRecord[];
  /** Sends a request; gives its answer. */
  request(method: string, params?: JsonObject, more?: Partial<Incoming> & { id?: string | number }): Promise<
    Answer | undefined
  >;
  /** Sends a request; gives its result. */
  result(method: string, params?: JsonObject): Promise<JsonObject>;
  /** Sends a request; gives the code and the data of its error. */
  failure(method: string, params?: JsonObject): Promise<unknown[]>;
  notify(method: string, params?: JsonObject): void;
}

/** Makes a session on a stand-in. */
export function bench(server: StandIn, options: LegacySessionOptions & { limits?: Limits } = {}): Bench {
  const clock = new VirtualClock();
  const sent: Bench["sent"] = [];
  const notices: JsonRpcNotification[] = [];
  const log: LogRecord[] = [];
  const parts: ServerParts = {
    methods: server.methods,
    clock,
    random: systemRandom,
    limits: options.limits ?? defaultLimits,
    logger: (record) => void log.push(record),
    state: () => ({ seal: () => Promise.resolve(""), open: () => Promise.resolve(undefined) }),
  };
  const session = createLegacySession(parts, {
    send: (message, about) => void sent.push({ message, about: about?.message.id }),
  }, options);
  let count = 0;
  const request: Bench["request"] = async (method, params, { id = ++count, ...more } = {}) =>
    await session.answer({
      message: { jsonrpc: "2.0", id, method, ...(params && { params }) },
      signal: new AbortController().signal,
      auth: undefined as AuthInfo | undefined,
      notify: (notice) => void notices.push(notice),
      ...more,
    });
  return {
    ...{ session, clock, sent, notices, log, request },
    async result(method, params) {
      const answer = await request(method, params);
      if (!answer?.response.result) throw new Error(`no result: ${JSON.stringify(answer)}`);
      return answer.response.result;
    },
    async failure(method, params) {
      const { code, data } = (await request(method, params))?.response.error ?? {};
      return data === undefined ? [code] : [code, data];
    },
    notify: (method, params) => session.notified({ jsonrpc: "2.0", method, ...(params && { params }) }),
  };
}

/** What `initialize` says. */
export function hello(protocolVersion = "2025-11-25", capabilities: JsonObject = {}): JsonObject {
  return { protocolVersion, capabilities, clientInfo: { name: "tester", version: "1" } };
}

/** A session whose handshake is done. */
export async function opened(
  server: StandIn,
  revision = "2025-11-25",
  capabilities: JsonObject = {},
  options: LegacySessionOptions & { limits?: Limits } = {},
): Promise<Bench> {
  const made = bench(server, options);
  await made.result("initialize", hello(revision, capabilities));
  made.notify("notifications/initialized");
  return made;
}

/** A session with a call whose handler the test is: it ends when the test says so. */
export async function held(
  { revision, capabilities, ...options }: LegacySessionOptions & {
    revision?: string | undefined;
    capabilities?: JsonObject;
  },
  params: JsonObject,
  id?: string,
): Promise<Bench & { answer: Promise<Answer | undefined>; context: RequestContext; finish: () => void }> {
  let finish: () => void = () => {};
  let context: RequestContext | undefined;
  const server = standIn({
    "tools/call": async (_, given) => {
      context = given;
      await new Promise<void>((resolve) => finish = resolve);
      return said("done");
    },
  });
  const session = await opened(server, revision, capabilities, options);
  const answer = session.request("tools/call", params, id === undefined ? {} : { id });
  return { ...session, answer, context: context as unknown as RequestContext, finish: () => finish() };
}
