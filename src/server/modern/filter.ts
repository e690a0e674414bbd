/**
 * What a stream of changes is to tell (specification 2026-07-28: subscriptions).
 *
 * @module
 */
import { InvalidParamsError } from "../../protocol/errors.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { ServerCapabilities } from "../../protocol/types.ts";
import type { ServerChange } from "../seam.ts";

const lists = ["tools", "prompts", "resources"] as const;

/** The part of a request for changes that is honoured. */
export class ChangeFilter {
  readonly #lists: ReadonlySet<ServerChange["type"]>;
  /** The resources. */
  readonly uris: ReadonlySet<string>;

  private constructor(wanted: ReadonlySet<ServerChange["type"]>, uris: ReadonlySet<string>) {
    this.#lists = wanted;
    this.uris = uris;
  }

  /**
   * Reads what a client wants, and leaves out what this server does not have.
   *
   * @param most How many resources one stream may watch.
   * @throws {InvalidParamsError} When it cannot be read.
   */
  static read({ notifications }: JsonObject, capabilities: ServerCapabilities, most: number): ChangeFilter {
    if (!isObject(notifications)) throw invalid("params.notifications", "an object");
    const wanted = new Set<ServerChange["type"]>();
    for (const list of lists) {
      const asked = notifications[list + "ListChanged"];
      if (asked !== undefined && typeof asked !== "boolean") {
        throw invalid(`params.notifications.${list}ListChanged`, "a boolean");
      }
      if (asked && capabilities[list]) wanted.add(list);
    }
    const uris = notifications.resourceSubscriptions ?? [];
    if (!isTexts(uris) || uris.length > most) {
      throw invalid("params.notifications.resourceSubscriptions", `an array of at most ${most} strings`);
    }
    return new ChangeFilter(wanted, new Set<string>(capabilities.resources ? uris : []));
  }

  /** Whether a change is to be told. */
  covers(change: ServerChange): boolean {
    return change.type === "resource" ? this.uris.has(change.uri) : this.#lists.has(change.type);
  }

  /** How it is said on the wire. */
  toWire(): JsonObject {
    const wire: JsonObject = {};
    for (const list of this.#lists) wire[list + "ListChanged"] = true;
    if (this.uris.size > 0) wire.resourceSubscriptions = [...this.uris];
    return wire;
  }
}

function invalid(where: string, expected: string): InvalidParamsError {
  return new InvalidParamsError(`"${where}" is missing or malformed: expected ${expected}`, { rpcCode: -32602 });
}
