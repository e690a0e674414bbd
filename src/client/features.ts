/**
 * The parts of a client that a small bundle may leave out. `@causeway/mcp` has them all; `./client` takes those that are
 * passed.
 *
 * @module
 */
import type { ListenFilter } from "../protocol/types.ts";
import { ResultCache } from "./cache.ts";
import type { CacheFeature } from "./cache.ts";
import { HeaderMirror } from "./extras/mirror.ts";
import { Inputs } from "./input/input.ts";
import type { InputFeature } from "./input/seam.ts";
import { listTools } from "./lists.ts";
import { LegacyStream } from "./listen/legacy_stream.ts";
import { modernListen } from "./listen/modern_listen.ts";
import type { ListenFeature } from "./listen/seam.ts";
import { ChangeSubscription } from "./listen/subscription.ts";
import { probePipe } from "./probe_pipe.ts";
import type { PipeFeature } from "./negotiate.ts";
import type { ListFeature, MirrorFeature } from "./tools.ts";

/** The parts that can be passed to a client. */
export interface Features {
  /** `listTools` of a client that is no `Client`. */
  lists?: ListFeature | undefined;
  /** Answers what servers ask for: without it no `handlers` can be given. */
  inputs?: InputFeature | undefined;
  /** `client.listen`, and the GET stream of legacy HTTP. */
  listen?: ListenFeature | undefined;
  /** Finds the era out on pipes as the specification asks: silence and exit mean legacy there. */
  pipes?: PipeFeature | undefined;
  /**
   * Modern HTTP: sends the arguments as headers that tools mark with `x-mcp-header`. Without it such tools cannot be called:
   * their servers refuse with a `HeaderMismatchError`; nor can those whose names are not visible ASCII. Needs `lists`.
   */
  mirror?: MirrorFeature | undefined;
  /** Keeps results as long as the server's `ttlMs` allows, and lets requests for the same thing share one answer. */
  cache?: CacheFeature | undefined;
}

/** Lists of tools. */
export const listFeature: ListFeature = listTools;

/** Answers to what servers ask for. */
export const inputFeature: InputFeature = (options): Inputs => new Inputs(options);

/** Streams of changes. */
export const listenFeature: ListenFeature = {
  subscribe: (parts, filter: ListenFilter, signal) => new ChangeSubscription(parts, filter, signal),
  modern: modernListen,
  legacy: (session) => new LegacyStream(session),
};

/** Arguments of tools as headers. */
export const mirrorFeature: MirrorFeature = (): HeaderMirror => new HeaderMirror();

/** The result cache. */
export const cacheFeature: CacheFeature = (clock): ResultCache => new ResultCache(clock);

/** All of them. */
export const allFeatures: Features = {
  lists: listFeature,
  inputs: inputFeature,
  listen: listenFeature,
  cache: cacheFeature,
  mirror: mirrorFeature,
  pipes: probePipe,
};
