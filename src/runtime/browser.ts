/**
 * The ports filled with what browsers have: no processes, no name resolution, no headers on a WebSocket.
 *
 * @module
 */
export { openWebSocketPlain as openWebSocket } from "./sockets/web_socket.ts";
