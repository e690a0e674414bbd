/**
 * What pinning takes and gives.
 *
 * @module
 */
import type { Store } from "../../ports.ts";
import type { CatalogTool, HubLike, QualifiedName } from "../seam.ts";
import type { ToolChange } from "./changes.ts";
import type { HiddenIn, ServerIdentity } from "./definition.ts";

/**
 * How a tool stands: `approved`; `new` (nobody has approved it); `changed` (it is not what was approved); `unknown` (it cannot
 * be told: the store fails, or nobody says where the server is). Only approved ones are shown and called.
 */
export type PinStatus = "approved" | "new" | "changed" | "unknown";

/** How one tool stands, for people. */
export interface PinReport {
  /** The server's name in the config. */
  readonly server: string;
  /** The tool's name at the server. */
  readonly name: string;
  /** Its name for models. */
  readonly qualifiedName: string;
  /** How it stands. */
  readonly status: PinStatus;
  /** SHA-256 of where it comes from and of what a model sees of it: what `approve` is given. */
  readonly fingerprint?: string | undefined;
  /** SHA-256 of what a model sees of it, wherever it comes from: what `pins` of a config has. Missing where it is no JSON. */
  readonly digest?: string | undefined;
  /** Where the server is, as it may be shown. */
  readonly from?: string | undefined;
  /** What has changed since it was approved. `formatChanges` makes lines of it. */
  readonly changes: readonly ToolChange[];
  /** The texts of it that hold characters which no screen shows. */
  readonly hidden: readonly HiddenIn[];
  /** All that a model sees of it, as JSON with hidden characters written out. `restore` gives back exactly that. */
  readonly shown: string;
  /** `unknown`: why. */
  readonly reason?: string | undefined;
}

/** Options of `withPins`. */
export interface PinOptions {
  /**
   * Where approvals are kept: a row for each server. Who can write there can approve: seal it where others can
   * (`createSealedStore`). Without `compareAndSet` the later of two that write at once wins: what the other one approved is
   * asked for again.
   */
  store: Store;
  /**
   * Where each server is, by its name in the config: `config.mcpServers` will do. Tools of a server that is missing here are
   * never called, since nobody could tell when it becomes another one.
   */
  identities:
    | Readonly<Record<string, ServerIdentity | undefined>>
    | ((server: string) => ServerIdentity | undefined);
  /**
   * What becomes of a tool that was never seen: `trust` approves it, unless other tools of the server were approved at
   * another place; `ask` leaves it to `approve`. A tool that has changed is never approved by itself.
   */
  onFirstSight: "trust" | "ask";
  /**
   * Asks a person. True approves exactly what was shown. What is refused is not asked for again until it changes. Without it
   * such tools stay blocked until {@linkcode PinnedHub.approve}.
   */
  approve?:
    | ((tool: PinReport, options: { signal?: AbortSignal | undefined }) => boolean | Promise<boolean>)
    | undefined;
  /** Whose tools are pinned (all); those of other servers go through as they are. */
  servers?: ((server: string) => boolean) | undefined;
  /** What the keys in the store begin with (`pins/`). */
  prefix?: string | undefined;
}

/** A hub that shows and calls only what was approved. */
export interface PinnedHub extends HubLike {
  /**
   * Looks at the tools that are listed now: reads the store, approves what is trusted, asks for the rest. Call it when the
   * catalog has changed; whoever iterates over `events()` has it done before each `catalog` event.
   *
   * It never rejects for the store: then nothing that was not approved before is.
   */
  check(options?: { signal?: AbortSignal | undefined }): Promise<void>;
  /** How each tool stands, as of the last check. Asks nobody, writes nothing. */
  report(): Promise<readonly PinReport[]>;
  /**
   * Approves a tool.
   *
   * @param fingerprint That of the report that a person has seen.
   * @throws {TypeError} When there is no such tool, or it is not that any more.
   */
  approve(name: QualifiedName, fingerprint: string): Promise<void>;
  /** The approved tools, in the hub's order. */
  tools(): readonly CatalogTool[];
}
