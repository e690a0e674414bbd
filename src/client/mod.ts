/**
 * One MCP server, of whichever revision: `connect`, {@linkcode Client} and what belongs to them. This entry speaks HTTP;
 * WebSocket, processes and HTTP+SSE come in with `bindings`, tasks and output checks with their own options, so that a
 * bundle carries only what it uses. `@causeway/mcp` has them filled in.
 *
 * @module
 */
export { connect } from "./connect.ts";
export type { Bindings, ConnectOptions, Target } from "./connect.ts";
export { Client } from "./client.ts";
export type { ClientOptions, Middleware, RequestHandler } from "./options.ts";
export type { ListOptions } from "./lists.ts";
export type { RequestOptions } from "./session/caller.ts";
export type { ClientRequest, ResumedInput, ServerInfo, SessionRequestOptions } from "./session/session.ts";
export type { Verdict } from "./negotiate.ts";
export type { RetryOptions } from "./retry.ts";
export { isSnapshot } from "./snapshot.ts";
export type { Snapshot } from "./snapshot.ts";
export type { Subscription } from "./listen/subscription.ts";
export { allFeatures, cacheFeature, inputFeature, listenFeature } from "./features.ts";
export type { Features } from "./features.ts";
export type { CacheFeature, ResultCache } from "./cache.ts";
export type { ListenFeature } from "./listen/seam.ts";
export type { InputFeature } from "./input/seam.ts";
export type { HandlerContext, Handlers, PendingInput } from "./input/seam.ts";
export type { ElicitationHandler } from "./input/elicitation.ts";
export type { SamplingHandler } from "./input/sampling.ts";
export type { TaskHandle, TaskHost, TaskOptions, TaskRunner, TaskSupport } from "./task_support.ts";
