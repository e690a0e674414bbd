/**
 * Approvals of calls: somebody who may `answer` says yes to one call of one principal, with these arguments, of this very tool, once.
 *
 * @module
 */
import { canonicalJson } from "../../hub/pins/canonical.ts";
import { definitionOf } from "../../hub/pins/definition.ts";
import type { CatalogTool } from "../../hub/seam.ts";
import { randomHex } from "../../ports.ts";
import type { Clock, Logger, Random, Store } from "../../ports.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { sha256 } from "../../protocol/web_crypto.ts";
import { Refusal } from "../rest/problem.ts";
import { TenantList } from "../tenants/tenant_list.ts";
import { hashOf } from "./access.ts";
import { nameIn } from "./types.ts";
import type { Principal } from "./types.ts";

const patience = 600_000;
/** How many calls of a tenant wait at most: the oldest of who has most of them goes first. */
const most = 50;
/** The most characters of arguments that a person can be shown. */
const longestArguments = 65_536;

/** A call that waits for somebody's yes, as it is kept. */
export interface ApprovalRecord {
  readonly id: string;
  /** Whose call it is. */
  readonly principal: string;
  readonly server: string;
  readonly tool: string;
  /** Exactly what would be sent. */
  readonly arguments: JsonObject;
  readonly argumentsHash: string;
  /** SHA-256 of the tool's definition. */
  readonly toolHash: string;
  readonly state: "waiting" | "approved";
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** What approvals need. */
export interface ApprovalParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger | undefined;
}

/** A call that was proposed. */
export interface Proposal {
  readonly tenant: string;
  readonly principal: Principal;
  readonly tool: CatalogTool;
  readonly arguments: JsonObject;
}

/** Calls that wait for somebody's yes. */
export class Approvals {
  readonly #parts: ApprovalParts;
  readonly #list: TenantList<ApprovalRecord>;

  constructor(parts: ApprovalParts) {
    this.#parts = parts;
    const { store, clock, logger } = parts;
    const isSound = ({ id, principal, server, tool, arguments: given }: Readonly<Record<string, unknown>>): boolean =>
      isTexts([id, principal, server, tool]) && isObject(given);
    this.#list = new TenantList({ store, clock, name: "approvals", logger, isSound });
  }

  /** Keeps a call, and gives the refusal that tells how to go on. */
  async request(proposal: Proposal): Promise<Refusal> {
    const { tenant, principal, tool, arguments: given } = proposal;
    if (JSON.stringify(given).length > longestArguments) {
      throw new Refusal(413, "too_large", `An approval takes arguments of at most ${longestArguments} characters`);
    }
    const record: ApprovalRecord = {
      id: randomHex(this.#parts.random, 16),
      principal: nameIn(principal, tenant),
      server: tool.server,
      tool: tool.name,
      arguments: given,
      argumentsHash: await hashOf(given),
      toolHash: await hashOfTool(tool),
      state: "waiting",
      expiresAt: this.#parts.clock.now() + patience,
    };
    await this.#list.change(tenant, (records) => withinMost([...this.#alive(records), record]));
    const { state: _, ...approval } = record;
    return new Refusal(
      428,
      "approval_required",
      `Calling "${tool.qualifiedName}" wants an approval: have it answered, then call again with the header "Causeway-Approval: ${record.id}"`,
      { more: { approval } },
    );
  }

  /**
   * Uses an approval up for one call.
   *
   * @returns Gives it back, for a call that was not made after all.
   * @throws {Refusal} 403 when it is not for this very call, was not given, was used, or has ended.
   */
  async use(id: string, { tenant, principal, tool, arguments: given }: Proposal): Promise<() => Promise<void>> {
    const argumentsHash = await hashOf(given);
    const toolHash = await hashOfTool(tool);
    const used: ApprovalRecord[] = [];
    const isUsed = await this.#list.change(tenant, (records) => {
      const record = this.#alive(records).find((record) => record.id === id);
      const isItsOwn = record?.principal === nameIn(principal, tenant) && record.server === tool.server &&
        record.tool === tool.name && record.argumentsHash === argumentsHash && record.toolHash === toolHash;
      if (!isItsOwn || record.state !== "approved") return undefined;
      used[0] = record;
      return records.filter((other) => other.id !== id);
    });
    if (isUsed) return async () => void await this.#list.change(tenant, (records) => withinMost([...used, ...records]));
    throw new Refusal(
      403,
      "approval_refused",
      "The approval is not good for this call: it is for another one, was not given, was used or has ended",
    );
  }

  /** Calls that wait, oldest first. */
  async waiting(tenant: string): Promise<readonly ApprovalRecord[]> {
    return this.#alive(await this.#list.read(tenant)).filter(({ state }) => state === "waiting");
  }

  /** One call that waits, or was approved and not made yet. */
  async find(tenant: string, id: string): Promise<ApprovalRecord | undefined> {
    return this.#alive(await this.#list.read(tenant)).find((record) => record.id === id);
  }

  /** Takes somebody's answer; false when it was answered already. */
  async answer(tenant: string, id: string, isApproved: boolean): Promise<boolean> {
    return await this.#list.change(tenant, (records) => {
      const record = this.#alive(records).find((record) => record.id === id);
      if (record?.state !== "waiting") return undefined;
      if (!isApproved) return records.filter((other) => other.id !== id);
      return records.map((other) => other.id === id ? { ...other, state: "approved" } : other);
    });
  }

  /** Forgets all calls of a tenant. */
  async clear(tenant: string): Promise<void> {
    await this.#list.clear(tenant);
  }

  #alive(records: readonly ApprovalRecord[]): readonly ApprovalRecord[] {
    const now = this.#parts.clock.now();
    return records.filter(({ expiresAt }) => expiresAt > now);
  }
}

/** Without the oldest of the principal that has most of them, where they are too many: nobody is put out by others. */
function withinMost(records: readonly ApprovalRecord[]): readonly ApprovalRecord[] {
  if (records.length <= most) return records;
  const counts = new Map<string, number>();
  for (const { principal } of records) counts.set(principal, (counts.get(principal) ?? 0) + 1);
  const largest = Math.max(...counts.values());
  const gone = records.find(({ principal }) => counts.get(principal) === largest);
  return withinMost(records.filter((record) => record !== gone));
}

/** The SHA-256 of a tool as a model sees it. */
async function hashOfTool({ server, tool }: CatalogTool): Promise<string> {
  return await sha256(canonicalJson([server, definitionOf(tool)]));
}
