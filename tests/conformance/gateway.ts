/**
 * The conformance server behind a gateway: as `tests/conformance/server.ts`, with a hub in between. The variable `BACK` says which
 * era the server behind speaks (`modern` or `legacy`; both without it).
 */
import process from "node:process";
import { createHandler, createTasks } from "../../src/server/mod.ts";
import { inMemory } from "../hub/support.ts";
import { open } from "../hub/gateway/support.ts";
import { erasOf } from "../interop/server/eras.ts";
import { listen } from "./host/listen.ts";
import { createEverything } from "./server/everything.ts";

const pollInterval = 100;
const eras = erasOf(process.env["BACK"] ?? "both");
const behind = inMemory(createEverything(), { eras, serves: createTasks({ pollInterval }) });
// All callers are the suite: what a server asks on no request of its own may go to it.
const options = { name: "causeway-conformance", names: "own", caller: () => "the suite" } as const;
const { gateway } = await open({ everything: behind.config }, options);
const serve = createHandler(gateway, {
  tasks: createTasks({ pollInterval }),
  sessions: { hold: 200, retry: 50 },
  logger: ({ level, message, fields }) => console.error(level, message, fields ?? ""),
});
const answer = async (request: Request): Promise<Response> =>
  new URL(request.url).pathname === "/mcp" ? await serve(request) : new Response(null, { status: 404 });
const { port } = await listen(answer, Number(process.env["PORT"] ?? 3001));
console.log(`The conformance server listens on http://localhost:${port}/mcp`);
