/** The suite's server as one function of a request, for every host. */
import { createHandler, createTasks, withSkills } from "../../../src/server/mod.ts";
import { createEverything } from "../server/everything.ts";
import { skills } from "../server/skills.ts";

/** How long a call's stream is held before a 2025-11-25 client has to come back for the rest (SEP-1699), in milliseconds. */
const hold = 200;

/** Answers `/mcp`; any other path is 404. */
export function createAnswer(): (request: Request) => Promise<Response> {
  const serve = createHandler(withSkills(createEverything(), skills), {
    tasks: createTasks({ pollInterval: 100 }),
    sessions: { hold, retry: 50 },
    logger: ({ level, message, fields }) => console.error(level, message, fields ?? ""),
  });
  return async (request) => {
    return new URL(request.url).pathname === "/mcp" ? await serve(request) : new Response(null, { status: 404 });
  };
}
