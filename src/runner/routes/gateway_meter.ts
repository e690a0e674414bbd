/**
 * What a connection to the gateway brings beside the request that began it: what its further messages have a server behind list,
 * call or read counts as requests of their own, and what goes over a WebSocket as bytes.
 *
 * @module
 */
import type { WebSocketLike } from "../../ports.ts";
import { RpcError } from "../../protocol/errors.ts";
import { withRun } from "../../server/common/other_run.ts";
import type { AuthInfo } from "../../server/definitions.ts";
import type { Servable } from "../../server/seam.ts";
import { Refusal } from "../rest/problem.ts";
import type { Quotas } from "../tenants/quotas.ts";
import { isPromise } from "../../protocol/promise.ts";

const internal = -32603;

interface Payer {
  readonly tenant: string;
  /** Told what the first message has begun. */
  readonly holds: (running: Promise<unknown>) => void;
  hasBegun: boolean;
}

/** Holds what comes with one proof of who sends it against the quotas of who pays. */
export class GatewayMeter {
  readonly #quotas: Quotas;
  /** Who pays for what comes with this proof. One that is not there has brought nothing yet. */
  readonly #payers = new WeakMap<AuthInfo, Payer>();

  constructor(quotas: Quotas) {
    this.#quotas = quotas;
  }

  /**
   * Says who pays. The request that brought the proof was counted: the first message is free.
   *
   * @param holds Told what that one has begun: it may go on where nobody reads the reply any more.
   */
  isPaidBy(auth: AuthInfo, tenant: string, holds: Payer["holds"]): void {
    this.#payers.set(auth, { tenant, holds, hasBegun: false });
  }

  /** The same server, whose further requests are counted. */
  metered({ methods }: Servable): Servable {
    const run: Servable["methods"]["run"] = (method, params, context) => {
      const payer = context.auth && this.#payers.get(context.auth);
      if (!payer?.hasBegun) {
        if (payer) payer.hasBegun = true;
        const running = methods.run(method, params, context);
        if (isPromise(running)) payer?.holds(running);
        return running;
      }
      const leave = this.#enter(payer.tenant);
      const running = methods.run(method, params, context);
      if (isPromise(running)) running.then(leave, leave);
      else leave();
      return running;
    };
    return { methods: withRun(methods, run) };
  }

  /** The same socket, with what goes over it counted. */
  counted(socket: WebSocketLike, tenant: string): WebSocketLike {
    const count = (text: unknown): void => {
      if (typeof text === "string") this.#quotas.count(tenant, text.length);
    };
    return {
      get readyState() {
        return socket.readyState;
      },
      get bufferedAmount() {
        return socket.bufferedAmount ?? 0;
      },
      protocol: socket.protocol,
      send(text) {
        count(text);
        socket.send(text);
      },
      close: (code, reason) => socket.close(code, reason),
      addEventListener: (type, listener) =>
        socket.addEventListener(type, (event) => {
          listener(event);
          // As with a request: what it is too much for is the next one.
          if (type === "message") count(event.data);
        }),
    };
  }

  /** @throws {RpcError} When it is too much. */
  #enter(tenant: string): () => void {
    try {
      return this.#quotas.enter(tenant);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, headers } = error;
      const data = { code, retryAfter: Number(headers["retry-after"]) };
      throw new RpcError(message, { rpcCode: internal, data });
    }
  }
}
