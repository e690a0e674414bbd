/**
 * A port of this machine that nobody has just now.
 *
 * @module
 */
import { createServer } from "node:net";

/** Below what systems give to whoever asks for any port, or connects: there it would soon be somebody else's again. */
const [first, last] = [20_000, 32_000] as const;

/** Finds one. It stays free but for who takes this very port, or finds it by the same way. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
