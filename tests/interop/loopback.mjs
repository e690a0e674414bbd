// `node --import ./loopback.mjs`: a server that listens on every address listens on 127.0.0.1 instead, and its port is the
// first line "LISTENING <port>" of the standard error. Some of the official servers can do neither by themselves.
import { Server } from "node:net";

const { listen } = Server.prototype;

Server.prototype.listen = function (port, ...rest) {
  // Node closes a kept connection after five seconds of silence, which a busy machine makes: a call on it would break off.
  if ("keepAliveTimeout" in this) this.keepAliveTimeout = 120_000;
  const isPort = typeof port === "number" || /^\d+$/.test(port);
  this.once("listening", () => process.stderr.write(`LISTENING ${this.address().port}\n`));
  return isPort && typeof rest[0] !== "string"
    ? listen.call(this, Number(port), "127.0.0.1", ...rest)
    : listen.call(this, port, ...rest);
};
