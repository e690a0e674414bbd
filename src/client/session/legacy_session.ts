/**
 * A session of the handshake era: `initialize`, a session id over HTTP, and requests in both directions
 * (specification 2024-11-05 to 2025-11-25: lifecycle).
 *
 * @module
 */
import { McpError, SessionLostError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { checked } from "../../protocol/modern.ts";
import { legacyRevisions, nothingInCommon } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { InitializeResult } from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { Call } from "./call.ts";
import { Caller } from "./caller.ts";
import type { PublicRequest } from "./caller.ts";
import type { ServerInfo, SessionParts, SessionRequestOptions } from "./session.ts";

/** Speaks the handshake revisions over any transport. {@linkcode open} it, or {@linkcode agree} on what is known of it. */
export class LegacySession extends Caller {
  readonly era = "legacy";
  revision: Revision = legacyRevisions[0] as Revision;
  #agreed: Record<string, string> | undefined;
  #opening: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    super(parts);
    const send = (): SendOptions => this.dress();
    this.input = parts.inputs?.legacy(parts, send);
    this.stream = parts.listening?.legacy(parts, this, send);
  }

  /**
   * Opens the session: `initialize`, then `notifications/initialized`. Always offers the newest handshake revision
   * (specification: lifecycle, Version Negotiation).
   *
   * @throws {UnsupportedVersionError} When there is no revision in common.
   * @throws {McpError} Whatever the transport met with.
   */
  async open(): Promise<this> {
    const { capabilities, clientInfo, timeouts, logger } = this.parts;
    this.#agreed = undefined;
    const method = "initialize";
    const params: JsonObject = {
      protocolVersion: legacyRevisions[0],
      capabilities: capabilities as JsonObject,
      clientInfo: clientInfo as unknown as JsonObject,
    };
    const clock = this.startClock({ timeout: timeouts.start, named: "start" });
    const result: unknown = checked(method, await this.send(method, params, clock).result);
    const { protocolVersion, serverInfo: server, capabilities: offered, instructions } = result as InitializeResult;
    const revision = legacyRevisions.find((known) => known === protocolVersion);
    if (!revision) throw nothingInCommon([protocolVersion]);
    this.agree(revision, { server, capabilities: offered, instructions });
    await this.notify("notifications/initialized", {}).catch((error) => {
      // Some servers answer the notice with an error and work all the same; what is really wrong shows in the next request.
      logger?.({ level: "debug", message: String(error) });
    });
    await this.stream?.ready();
    return this;
  }

  /** Goes on as agreed, here or in another process. No request is made. */
  agree(revision: Revision, info: ServerInfo): void {
    this.revision = revision;
    this.info = info;
    this.parts.transport.batches = revision === "2025-03-26";
    this.#agreed = { "MCP-Protocol-Version": revision };
  }

  async request(method: string, params: JsonObject, options: SessionRequestOptions): Promise<JsonObject> {
    const clock = this.startClock(options);
    for (let round = 1;; round++) {
      try {
        const { info } = this;
        let result: JsonObject;
        try {
          result = await this.send(method, params, clock).result;
        } catch (error) {
          result = await this.resend(error, info, { method, params, clock });
        }
        // What was asked for as a task is answered by a task: who asked looks at its shape.
        return params.task === undefined ? checked(method, result) : result;
      } catch (error) {
        if (!this.input) throw error;
        await this.input.satisfy(error, round, (work) => this.wait(work, clock));
      }
    }
  }

  requested(request: JsonRpcRequest, call?: Call): void {
    const { id, method } = request;
    if (method !== "ping" && this.input) {
      return void this.timers.hold(this.input.requested(request, call?.result));
    }
    const body = method === "ping"
      ? { result: {} }
      : { error: { code: -32601, message: `"${method}" is not supported` } };
    this.parts.transport.send({ jsonrpc: "2.0", id, ...body }, undefined, this.dress());
  }

  protected dress(): SendOptions & { headers: Record<string, string> } {
    return { legacy: true, headers: { ...this.#agreed } };
  }

  protected meta(): undefined {}

  /** A session that the server has forgotten is opened anew, once, and the request repeated: it was not run. */
  protected async mend(error: unknown, info: ServerInfo, clock: PublicRequest): Promise<void> {
    if (!(error instanceof SessionLostError)) throw error;
    // Once, however many requests found the session lost.
    if (info !== this.info) return;
    await this.wait(this.#opening ??= this.#reopen().finally(() => this.#opening = undefined), clock);
  }

  async #reopen(): Promise<void> {
    const { transport } = this.parts;
    try {
      await transport.restart?.();
      await this.open();
    } catch (cause) {
      if (!(cause instanceof McpError)) throw cause;
      throw new SessionLostError("Cannot open the session again", { cause });
    }
    await this.parts.reopened(this);
  }
}
