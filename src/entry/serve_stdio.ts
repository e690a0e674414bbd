/**
 * Servers that a client starts: on Bun, Deno and Node alike.
 *
 * @module
 */
import { ownStdio } from "../runtime/own_stdio.ts";
import { serveChannel } from "../server/channel_server.ts";
import type { ChannelServer, ChannelServerOptions, Servable } from "../server/channel_server.ts";
import { createOwnStdioChannel } from "../server/stdio_channel.ts";

export type { ChannelServer, ChannelServerOptions, Servable };

/** Serves over this process's own standard input and output. */
export type ServeStdio = (server: Servable, options?: ChannelServerOptions) => Promise<ChannelServer>;

/** How long requests in work may go on after the input has ended, in milliseconds. */
const drainTimeout = 200;

/**
 * Serves one client over this process's own standard input and output, until the input ends: then requests in work get
 * 200 ms (`drainTimeout`) to finish, tasks are cancelled, and nothing of it keeps the process alive any more. From the start on `console.log` and
 * the like write to the standard error, since the standard output belongs to the protocol.
 *
 * @param server What is served.
 * @returns What serves: `closed` resolves at the end.
 */
export const serveStdio: ServeStdio = (server, options = {}): Promise<ChannelServer> => {
  const channel = createOwnStdioChannel(ownStdio(), options.limits?.messageBytes);
  const served = serveChannel(server, channel, { drainTimeout, ...options });
  // There is nobody left to find them.
  const { tasks } = options;
  if (tasks) void served.closed.then(() => tasks.close());
  return Promise.resolve(served);
};
