/**
 * From the config of one server to what connects to it.
 *
 * @module
 */
import type { HandlerContext, Handlers } from "../../client/input/seam.ts";
import type { Verdict } from "../../client/negotiate.ts";
import type { Authorizer } from "../../ports.ts";
import type { LogMessage } from "../../protocol/types.ts";
import type { Transport } from "../../transport/transport.ts";
import type {
  AttachedServer,
  CatalogServer,
  ClientSettings,
  ConnectServer,
  LocalServer,
  RemoteServer,
  ServerConfig,
} from "../seam.ts";

/** What `connect` is given. */
export type ConnectArguments = Parameters<ConnectServer>;

/** What a server is reached with. */
export interface Reach {
  readonly name: string;
  readonly config: ServerConfig;
  /** What all clients of the hub are given. */
  readonly shared: ClientSettings;
  /** Its credentials. */
  readonly auth: Authorizer | undefined;
  /** What was known of the server before. */
  readonly known: CatalogServer;
  readonly verdict: Verdict | undefined;
  /** Takes the log messages of the server. */
  log(message: LogMessage): void;
  /** Hears that a stream of changes has broken. */
  ended(reason: unknown): void;
}

/**
 * Whether all requests share one pipe, which can die.
 *
 * @throws {TypeError} When nothing says where the server is.
 */
export function isPipe(name: string, config: ServerConfig): boolean {
  // Null counts as missing: configs of others write it for fields that are not set.
  const { command, url, transport } = (config ?? {}) as Partial<AttachedServer & LocalServer & RemoteServer>;
  const place = transport || url || command;
  if (!place) throw new TypeError(`"${name}.url" is missing`);
  const { kind } = place as Partial<Transport>;
  return kind ? kind === "channel" : typeof transport === "function" || !!command || /^ws/i.test(url as string);
}

/** What to connect to, and how. */
export function argumentsOf({ name, config, shared, known, ...reach }: Reach): ConnectArguments {
  // What only the hub reads goes along: no client knows it.
  const { timeout, logger, handlers, command, transport, url, ...settings }:
    & ClientSettings
    & Partial<AttachedServer & LocalServer & RemoteServer> = { ...shared, ...config };
  const { snapshot } = known;
  const options: ConnectArguments[1] = {
    stream: !!handlers,
    ...settings,
    ...(reach.verdict && { verdict: reach.verdict }),
    handlers: named(name, handlers, reach.log),
    timeouts: { ...(timeout && { start: +timeout }), ...settings.timeouts },
    logger: logger && ((record) => logger({ ...record, fields: { ...record.fields, server: name } })),
    onBreak: reach.ended,
  };
  // A text is what configs of others say of the URL or command beside it: "http", "stdio".
  if (transport && typeof transport !== "string") {
    return [typeof transport === "function" ? transport() : transport, options];
  }
  if (command) return [config as LocalServer, options];
  options.auth = reach.auth;
  // A session is gone on with where it was begun, and nowhere else.
  return [snapshot?.target === `${url}` ? { ...snapshot, tools: [...known.tools] } : `${url}`, options];
}

/** Handlers that are told the name which the server has in the hub. */
function named(server: string, handlers: Handlers = {}, log: Reach["log"]): Handlers {
  const { elicitation, elicitationUrl, sampling, roots, log: ownLog } = handlers;
  const told = <Request, Answer>(handler: ((request: Request, context: HandlerContext) => Answer) | undefined) =>
    handler && ((request: Request, context: HandlerContext) => handler(request, { ...context, server }));
  return {
    ...handlers,
    elicitation: told(elicitation),
    elicitationUrl: told(elicitationUrl),
    sampling: told(sampling),
    roots: typeof roots === "function" ? (context) => roots({ ...context, server }) : roots,
    log: (message) => {
      log(message);
      return ownLog?.(message, { server });
    },
  };
}
