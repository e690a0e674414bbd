/**
 * Starts of runs that may be sent twice: the same key is the same run.
 *
 * @module
 */
import { canonicalJson } from "../../hub/pins/canonical.ts";
import type { Clock, Logger, Store } from "../../ports.ts";
import { isTexts } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import type { Principal } from "../access/types.ts";
import { hashOf } from "../access/access.ts";
import { Refusal } from "../rest/problem.ts";
import { TenantList } from "./tenant_list.ts";

/** How many starts of a tenant are remembered. */
const most = 200;

interface Start {
  readonly id: string;
  /** SHA-256 of the body. */
  readonly hash: string;
}

/** What was started with which key. */
export class Starts {
  readonly #list: TenantList<Start>;

  constructor(options: { readonly store: Store; readonly clock: Clock; readonly logger: Logger | undefined }) {
    this.#list = new TenantList({ ...options, name: "starts", isSound: ({ id, hash }) => isTexts([id, hash]) });
  }

  /** Forgets all starts of a tenant. */
  async clear(tenant: string): Promise<void> {
    await this.#list.clear(tenant);
  }

  /**
   * The id of the run that a key stands for: the same for the same principal and key, and nobody else's.
   *
   * @throws {Refusal} 422 when the key was used for another body, 400 when JSON cannot hold it.
   */
  async idOf(
    { tenant, principal, key, body, isLate }: {
      readonly tenant: string;
      readonly principal: Principal;
      readonly key: string;
      readonly body: JsonObject;
      /** It cannot be started any more: its key is not remembered. */
      readonly isLate: boolean;
    },
  ): Promise<string> {
    const id = (await sha256(canonicalJson(["run", tenant, principal.tenant, principal.id, key]))).slice(0, 48);
    const hash = await hashOf(body);
    let isOther = false;
    await this.#list.change(tenant, (starts) => {
      const known = starts.find((start) => start.id === id);
      isOther = known !== undefined && known.hash !== hash;
      return known || isLate ? undefined : [...starts, { id, hash }].slice(-most);
    });
    if (!isOther) return id;
    throw new Refusal(422, "key_reused", 'The "Idempotency-Key" was used for another body: send another key');
  }
}
