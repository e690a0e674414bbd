/**
 * What an object lends to the Worker in front of it, so that it calls tools by itself: quotas, and the tools of servers that need nothing
 * which only the object has.
 *
 * @module
 */
import type { OAuth } from "../../src/auth/oauth.ts";
import { resultsPrefix } from "../../src/hub/budget/kept_results.ts";
import type { Hub } from "../../src/hub/hub.ts";
import type { CatalogServer } from "../../src/hub/seam.ts";
import type { Store } from "../../src/ports.ts";
import { sha256 } from "../../src/protocol/web_crypto.ts";
import type { Runner } from "../../src/runner/mod.ts";
import { loanTime, nothingLent } from "../direct/loan.ts";
import type { DirectRequest, DirectTools, Loan } from "../direct/loan.ts";
import type { TenantSettings } from "../operator/config.ts";

/** What a {@linkcode Lender} is made of. */
export interface LenderParts {
  readonly tenant: string;
  readonly settings: TenantSettings;
  readonly hub: Hub;
  /** Knows the quotas. */
  readonly runner: Runner;
  /** Where large results are kept. */
  readonly results: Store;
  /** Signs in to a server of the config; undefined where that is not done. */
  auth(server: string): OAuth | undefined;
}

/** Lends, and keeps results. */
export class Lender {
  readonly #parts: LenderParts;
  /** What was lent last: of ten thousand tools it is not written anew each time. */
  #last: { readonly listed: unknown; readonly servers: string; readonly version: string } | undefined;

  constructor(parts: LenderParts) {
    this.#parts = parts;
  }

  /** Answers one request of the Worker's, which has proved that it is its own. */
  async answer(request: Request): Promise<Response> {
    const asked: DirectRequest = await request.json();
    if (asked.ask === "lend") return Response.json(await this.#lend(asked));
    const { results } = this.#parts;
    // Nothing else that is in this store is asked for there.
    if (!asked.key.startsWith(resultsPrefix)) return new Response(null, { status: 404 });
    if (asked.ask === "set") await results.set(asked.key, asked.value);
    else if (asked.ask === "delete") await results.delete(asked.key);
    return Response.json(asked.ask === "get" ? await results.get(asked.key) ?? null : null);
  }

  async #lend({ wanted, left, known }: DirectRequest & { readonly ask: "lend" }): Promise<Loan> {
    const { runner, tenant, settings } = this.#parts;
    const tools = await this.#tools();
    const version = await this.#versionOf(tools);
    runner.takeBack(tenant, left);
    return {
      allowance: tools.servers.length ? runner.lend(tenant, wanted, loanTime) : nothingLent,
      settings: await sha256(settings.text),
      version,
      ...(known !== version && { tools }),
    };
  }

  /** The same list of tools of the same servers is the same state. */
  async #versionOf(tools: DirectTools): Promise<string> {
    const listed = this.#parts.hub.tools();
    const servers = JSON.stringify(tools.servers.map(({ name, snapshot }) => [name, snapshot]));
    if (this.#last?.listed === listed && this.#last.servers === servers) return this.#last.version;
    const version = await sha256(JSON.stringify(tools));
    this.#last = { listed, servers, version };
    return version;
  }

  async #tools(): Promise<DirectTools> {
    const { hub } = this.#parts;
    const servers: CatalogServer[] = [];
    for (const { name, listedAt, tools, snapshot } of hub.catalog().servers) {
      if (!snapshot || !await this.#isDirect(name, snapshot)) continue;
      const none = { resources: [], templates: [], prompts: [] };
      servers.push({ name, listedAt, tools, ...none, snapshot: { ...snapshot, tools: [] } });
    }
    const direct = new Set(servers.map(({ name }) => name));
    const names = hub.tools().filter(({ server }) => direct.has(server))
      .map(({ qualifiedName, server, name }) => [qualifiedName, server, name] as const);
    return { servers, names };
  }

  /** Requests that stand for themselves, to where the config says, and without a token: those are kept in the object alone. */
  async #isDirect(name: string, { target, verdict }: NonNullable<CatalogServer["snapshot"]>): Promise<boolean> {
    const { settings: { servers }, auth } = this.#parts;
    if (servers[name]?.url !== target || verdict?.era !== "modern" || !/^https?:/.test(target)) return false;
    // It lists without a token, and will want one for a call.
    if (typeof servers[name].oauth === "object") return false;
    return !(await auth(name)?.status(target));
  }
}
