/** WebSockets as the runtime of the test opens them: by its own class, or by the package `ws` on a Node that has none. */
import type { OpenWebSocket } from "../../src/ports.ts";
import { openWebSocket as openPlain } from "../../src/runtime/browser.ts";

// In a variable, so that no bundle for a Worker holds it.
const nodePorts = "../../src/runtime/node.ts";

/** Opens a WebSocket, without headers. */
export const openWebSocket: OpenWebSocket = async (url, options) => {
  if (typeof WebSocket !== "undefined") return await openPlain(url, options);
  const node: typeof import("../../src/runtime/node.ts") = await import(nodePorts);
  return await node.openWebSocket(url, options);
};
