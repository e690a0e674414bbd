/** Our own client at our own server, on this runtime: over HTTP, WebSocket and stdio. */
import { whyNoSockets } from "./hosts.ts";
import { ownSuites } from "../../suites/interop/own.ts";

const noSockets = await whyNoSockets(true);

ownSuites("HTTP");
ownSuites("WebSocket", noSockets);
ownSuites("stdio");
