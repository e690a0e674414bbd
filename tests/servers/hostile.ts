/**
 * A server that is healthy but for one thing. The healthy server behind it counts what was executed.
 *
 * @module
 */
import { type Clock, systemClock } from "../../src/ports.ts";
import type { LedgerView, RecordedRequest } from "./core/ledger.ts";
import { isId, isJsonObject, type JsonObject } from "./core/wire.ts";
import { type ByteFault, byteFaults } from "./faults/bytes.ts";
import type { Fault, FaultContext, Meter } from "./faults/fault.ts";
import { type MessageFault, messageFaults } from "./faults/messages.ts";
import { type StatusFault, statusFaults } from "./faults/statuses.ts";
import { type Quirk, quirks, type StreamFault, streamFaults } from "./faults/streams.ts";
import { createLegacyServer, type LegacyOptions, type LegacyServer } from "./legacy.ts";
import { createModernServer, type ModernOptions, type ModernServer } from "./modern.ts";
import { heldRequest } from "../support/held_request.ts";

/** Every fault by name. Those that begin with `quirk-` are right, and have to be understood. */
export type FaultName = MessageFault | ByteFault | StreamFault | StatusFault | Quirk;

/** What a hostile server lets one choose. */
export interface HostileOptions {
  /** The era of the healthy server behind it (`modern`). */
  era?: "modern" | "legacy";
  /** The method that is spoilt, or `GET`; all else stays healthy. Each fault has its own default: mostly `tools/call`. */
  on?: string;
  /** How often the fault happens before the server is healthy (always). */
  times?: number;
  /** How many bytes, items or messages a large fault makes at most. Each has its own default. */
  size?: number;
  /** True when replies go over a socket: then compressed bodies are really compressed (false). */
  wire?: boolean;
  /** Where redirects to another origin lead (`http://other.invalid`). What arrives there is kept in `foreign`. */
  otherOrigin?: string;
  clock?: Clock;
  /** For the healthy server behind it. */
  modern?: ModernOptions;
  legacy?: LegacyOptions;
}

/** A hostile server, and what a test may see of it. */
export interface HostileServer extends LedgerView {
  fetch(request: Request): Promise<Response>;
  /** The method that is spoilt. */
  readonly on: string;
  /** How often the fault was given. */
  hits(): number;
  /** Bytes that were made for large bodies. */
  produced(): number;
  /** Bodies that their reader cancelled before their end. */
  cancelled(): number;
  /** What arrived at another origin, with all its headers. */
  readonly foreign: readonly RecordedRequest[];
  /** The healthy server. */
  readonly healthy: ModernServer | LegacyServer;
}

const faults: Readonly<Record<FaultName, Fault>> = {
  ...messageFaults,
  ...byteFaults,
  ...streamFaults,
  ...statusFaults,
  ...quirks,
};

/** All names, to walk through the matrix. */
export function faultNames(): FaultName[] {
  return Object.keys(faults).filter(isFaultName);
}

/** True for the name of a fault. */
export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faults, name);
}

/** Makes a server with one fault. */
export function createHostileServer(name: FaultName, options: HostileOptions = {}): HostileServer {
  const fault = faults[name];
  const era = options.era ?? "modern";
  const legacy = era === "legacy" ? createLegacyServer({ reply: "json", ...options.legacy }) : undefined;
  const healthy = legacy ?? createModernServer(options.modern);
  const on = options.on ?? fault.on ?? "tools/call";
  const meter: Meter = { produced: 0, cancelled: 0 };
  const foreign: RecordedRequest[] = [];
  let hits = 0;
  let own: string | undefined;
  return {
    log: healthy.log,
    executions: healthy.executions,
    cancellations: healthy.cancellations,
    violations: healthy.violations,
    calls: (tool) => healthy.calls(tool),
    count: (method) => healthy.count(method),
    on,
    hits: () => hits,
    produced: () => meter.produced,
    cancelled: () => meter.cancelled,
    foreign,
    healthy,
    async fetch(request) {
      const body = request.method === "POST" ? await request.text() : undefined;
      const again = () => copy(request, body);
      const message = parse(body);
      const { origin, searchParams } = new URL(request.url);
      own ??= origin;
      if (origin !== own) foreign.push(recorded(request, message));
      const resumes = fault.resumption === true && request.headers.has("last-event-id");
      const spoilt = request.method === "GET" ? on === "GET" || resumes : message.method === on;
      const moved = origin !== own || searchParams.has("moved");
      if (!spoilt || moved || hits >= (options.times ?? Infinity)) return await healthy.fetch(again());
      hits++;
      const context: FaultContext = {
        request,
        message,
        id: isId(message.id) ? message.id : 0,
        attempt: hits,
        era,
        size: options.size,
        wire: options.wire ?? false,
        otherOrigin: options.otherOrigin ?? "http://other.invalid",
        clock: options.clock ?? systemClock,
        meter,
        answer: async () => await answerOf(await healthy.fetch(again())),
        healthy: () => healthy.fetch(again()),
        forget: () => legacy?.forgetSessions(),
      };
      return await fault.reply(context);
    },
  };
}

function copy(request: Request, body: string | undefined): Request {
  const { method, headers, signal, url } = request;
  return heldRequest(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
}

function parse(body: string | undefined): JsonObject {
  try {
    const value: unknown = JSON.parse(body ?? "");
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function recorded(request: Request, message: JsonObject): RecordedRequest {
  return { httpMethod: request.method, url: request.url, headers: Object.fromEntries(request.headers), message };
}

/** The response in a reply of the healthy server: its body, or the last event of its stream. */
async function answerOf(response: Response): Promise<JsonObject> {
  const text = await response.text();
  const streamed = (response.headers.get("content-type") ?? "").includes("event-stream");
  const last = streamed ? text.split("\n").findLast((line) => line.startsWith("data: {"))?.slice(6) : text;
  return parse(last);
}
