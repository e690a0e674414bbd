/**
 * A session of the handshake era: `initialize`, a session id over HTTP, and requests in both directions
 * (specification 2024-11-05 to 2025-11-25: lifecycle).
 *
 * @module
 */
import { type McpError, type RpcError, SessionLostError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { agreedRevision, commonRevision, legacyRevisions } from "../../protocol/revisions.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { InitializeResult } from "../../protocol/types.ts";
import type { SendOptions } from "../../transport/transport.ts";
import type { Call } from "./call.ts";
import { Caller } from "./caller.ts";
import type { SessionParts } from "./session.ts";

/** Speaks the handshake revisions over any transport. {@linkcode open} it, or {@linkcode agree} on what is known of it. */
export class LegacySession extends Caller {
  readonly era = "legacy";
  revision: Revision = legacyRevisions[0] as Revision;
  /** Whether the server has forgotten it, and it could not be opened anew yet: until then nothing else is sent. */
  #lost: boolean | undefined;
  #opening: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    super(parts);
    this.input = parts.inputs?.legacy(this);
    this.stream = parts.listen?.legacy(this);
  }

  /**
   * Opens the session: `initialize`, then `notifications/initialized`. Offers the newest handshake revision, and once more an
   * older one that a refusal names (specification: lifecycle, Version Negotiation).
   *
   * @throws {UnsupportedVersionError} When there is no revision in common.
   * @throws {McpError} Whatever the transport met with.
   */
  async open(): Promise<this> {
    const { capabilities, clientInfo } = this.parts;
    const { protocolVersion, serverInfo: server, capabilities: offered, instructions } = await this.request({
      method: "initialize",
      params: {
        protocolVersion: legacyRevisions[0],
        capabilities: capabilities as JsonObject,
        clientInfo: clientInfo as unknown as JsonObject,
      },
      options: { timeout: this.parts.timeouts.start, named: "start" },
    }) as unknown as InitializeResult;
    this.agree(agreedRevision(legacyRevisions, [protocolVersion]), { server, capabilities: offered, instructions });
    // Some servers answer the notice with an error and work all the same; what is really wrong shows in the next request. Others
    // refuse them all until they have heard it: what may have been lost on its way is sent again.
    const tell = (): Promise<unknown> => this.notify("notifications/initialized", {});
    await tell().catch((cause: McpError) => cause.retryable && tell().catch(() => {}));
    await this.stream?.ready();
    return this;
  }

  /** What was asked for as a task may be answered by one: its shape is for those to judge who know tasks. */
  accept(result: JsonObject, { request }: Call): JsonObject {
    this.parts.client().accepted(request, result, request.params.task ? "" : request.method);
    return result;
  }

  /**
   * A session that the server has forgotten is opened anew, once, and the request repeated: it was not run. A refused revision is
   * offered again, older.
   */
  recover(error: unknown, call: Call): Promise<JsonObject> | undefined {
    const { request: { method, params }, repeats } = call;
    if (!repeats && error instanceof SessionLostError) return this.#mended(error, call);
    // Some refuse what is newer than they are, and name what they speak.
    if (!repeats && method === "initialize") {
      params.protocolVersion = commonRevision(legacyRevisions.slice(1), JSON.stringify((error as RpcError).data));
      if (params.protocolVersion) return this.next(call, { repeats: true });
    }
    return this.input?.satisfy(error, call, (work) => this.wait(work, call))
      .then(() => this.next(call, { round: call.round + 1 }));
  }

  protected requested(request: JsonRpcRequest, call?: Call): void {
    const { id, method } = request;
    let body: JsonObject = { result: {} };
    if (method !== "ping") {
      if (this.input) return void this.input.requested(request, call);
      body = { error: { code: -32601, message: `"${method}" is not supported` } };
    }
    this.parts.transport.send({ jsonrpc: "2.0", id, ...body }, undefined, this.dress());
  }

  dress(method?: string): SendOptions & { headers: Record<string, string> } {
    if (this.#lost && method && !method.includes("initialize")) throw new SessionLostError("The session is lost");
    return { legacy: true, headers: method === "initialize" ? {} : { "mcp-protocol-version": this.revision } };
  }

  override meta(): undefined {}

  async #mended(error: unknown, call: Call): Promise<JsonObject> {
    // Once, however many requests found the session lost.
    if (call.known === this.info) {
      // What a new session begins with does not wait for its own end.
      if (this.#opening && !this.#lost) throw error;
      await this.wait(this.#opening ??= this.#reopen().finally(() => this.#opening = undefined), call);
    }
    // Where it is being opened by now, it waits for that, and may be repeated then.
    return this.next(call, { repeats: !this.#lost });
  }

  async #reopen(): Promise<void> {
    this.#lost = true;
    // What the old one asked for has the ids of the new one's questions.
    this.input?.stop();
    await this.open().catch((cause: McpError) => {
      // What met it was not run: it is sent again where opening may be tried again.
      throw new SessionLostError("The session is lost", { cause, retryable: cause.retryable });
    });
    this.#lost = false;
    await this.parts.client().opened?.(this);
  }
}
