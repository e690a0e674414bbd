/**
 * One revision asked of a server, on a wire of its own.
 *
 * @module
 */
import { encodeHeaderValue, modernHeaders } from "../../../protocol/headers.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonRpcMessage, JsonRpcRequest } from "../../../protocol/json_rpc.ts";
import { ConnectError, legacyRevisions, McpError, modernRevisions, SpawnError } from "../../../protocol/mod.ts";
import { AuthorizationError, AuthorizationRequiredError, UnauthorizedError } from "../../../protocol/mod.ts";
import { metaPrefix } from "../../../protocol/modern.ts";
import type { StdioCommand } from "../../../transport/stdio.ts";
import type { Transport } from "../../../transport/transport.ts";
import { version } from "../../../version.ts";
import type { MadeTransport } from "../../wire/transports.ts";

/** What is asked. */
export interface Probe {
  /** `2025-11-25`, or `2024-11-05 (HTTP+SSE)`. */
  readonly name: string;
  readonly revision: string;
  readonly isModern: boolean;
  /** The two-endpoint binding of 2024-11-05. */
  readonly isOldBinding: boolean;
}

/** What came of it. */
export interface Probed {
  readonly name: string;
  readonly spoken: boolean;
  readonly milliseconds: number;
  /** What the server said in its place, or why there was no answer. */
  readonly says?: string | undefined;
  /** Who it says it is. */
  readonly server?: string | undefined;
  /** What makes it vain to ask for more. */
  readonly failure?: McpError | undefined;
}

/** All revisions that are known here, newest first. */
export function probes(target: string | StdioCommand): Probe[] {
  const ask = (revision: string, isModern: boolean): Probe => ({
    name: revision,
    revision,
    isModern,
    isOldBinding: false,
  });
  const old = { name: "2024-11-05 (HTTP+SSE)", revision: "2024-11-05", isModern: false, isOldBinding: true };
  return [
    ...modernRevisions.map((revision) => ask(revision, true)),
    ...legacyRevisions.map((revision) => ask(revision, false)),
    ...(typeof target === "string" && /^http/i.test(target) ? [old] : []),
  ];
}

/** Asks for one. It never rejects. */
export async function probeRevision(
  probe: Probe,
  made: MadeTransport,
  { signal, longest }: { signal: AbortSignal; longest: number },
): Promise<Probed> {
  const transport = probe.isOldBinding ? made.fallback?.() ?? made.transport : made.transport;
  const begin = performance.now();
  const asked = await ask(transport, probe, { signal, longest });
  const milliseconds = Math.round(performance.now() - begin);
  const agreed = "result" in asked && asked.result?.protocolVersion;
  // Said with the end of the session, too: strict servers refuse it otherwise, and keep the session.
  if (typeof agreed === "string") transport.legacy = { legacy: true, headers: { "mcp-protocol-version": agreed } };
  await transport.close().catch(() => {});
  const { name } = probe;
  if (asked instanceof McpError) {
    return { name, spoken: false, milliseconds, says: asked.message, ...(isFinal(asked) && { failure: asked }) };
  }
  return { name, milliseconds, ...judge(asked, probe) };
}

/** The answer, or why there is none. */
function ask(
  transport: Transport,
  probe: Probe,
  { signal, longest }: { signal: AbortSignal; longest: number },
): Promise<JsonRpcMessage | McpError> {
  return new Promise((resolve) => {
    const message = requestOf(probe);
    const headers = probe.isModern
      ? modernHeaders(message.method, message.params, probe.revision, encodeHeaderValue)
      : {};
    const settle = (answer: JsonRpcMessage | McpError): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      resolve(answer);
    };
    const giveUp = (): void => {
      cancel("given up");
      settle(new McpError(signal.aborted ? "interrupted" : `no answer within ${longest} ms`));
    };
    const timer = setTimeout(giveUp, longest);
    signal.addEventListener("abort", giveUp);
    const cancel = transport.send(message, {
      message: (answer) => {
        if (!("method" in answer)) settle(answer);
      },
      end: (reason) => settle(reason ?? new McpError("it ended without an answer")),
    }, { legacy: !probe.isModern, headers });
  });
}

function requestOf({ revision, isModern }: Probe): JsonRpcRequest {
  const clientInfo = { name: "causeway-probe", version };
  const params: JsonObject = isModern
    ? {
      _meta: {
        [`${metaPrefix}protocolVersion`]: revision,
        [`${metaPrefix}clientCapabilities`]: {},
        [`${metaPrefix}clientInfo`]: clientInfo,
      },
    }
    : { protocolVersion: revision, capabilities: {}, clientInfo };
  return { jsonrpc: "2.0", id: "probe", method: isModern ? "server/discover" : "initialize", params };
}

function judge(answer: JsonRpcMessage, { revision, isModern }: Probe): Pick<Probed, "spoken" | "says" | "server"> {
  if ("error" in answer) return { spoken: false, says: `${answer.error.code}: ${answer.error.message}` };
  const result: unknown = "result" in answer ? answer.result : undefined;
  if (!isObject(result)) return { spoken: false, says: "it answered with no result" };
  const meta = isObject(result._meta) ? result._meta : {};
  const info = isModern ? meta[`${metaPrefix}serverInfo`] : result.serverInfo;
  const server = isObject(info) ? { server: `${info.name ?? ""} ${info.version ?? ""}`.trim() } : {};
  if (isModern) {
    const spoken = Array.isArray(result.supportedVersions) ? result.supportedVersions : [];
    return spoken.includes(revision)
      ? { spoken: true, ...server }
      : { spoken: false, says: `it speaks ${spoken}`, ...server };
  }
  const agreed = result.protocolVersion;
  return agreed === revision
    ? { spoken: true, ...server }
    : { spoken: false, says: `it answers with ${agreed}`, ...server };
}

function isFinal(error: McpError): boolean {
  return [ConnectError, SpawnError, UnauthorizedError, AuthorizationError, AuthorizationRequiredError].some((Class) =>
    error instanceof Class
  );
}
