/** How each HTTP server of the serving bench listens: `Bun.serve`, on a free port of the loopback. */
import process from "node:process";

declare const Bun: {
  serve(options: { hostname: string; port: number; idleTimeout: number; fetch: Answer }): { readonly port: number };
};

type Answer = (request: Request) => Response | Promise<Response>;

/** Listens, and prints the port. It ends with who started it: a bench that is killed leaves no server behind. */
export function listen(fetch: Answer): void {
  // A function with one parameter: what else the host hands over is no part of the measurement.
  const answer = (request: Request) => fetch(request);
  const { port } = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: answer });
  console.log(port);
  process.stdin.on("end", () => process.exit()).resume();
}
