/**
 * A function at the edge, on Deno: it answers requests with what a remote MCP server says, and gives up after two seconds.
 * It may open connections to one host and nothing else: no files, no environment, no processes.
 *
 * `deno run --allow-net=127.0.0.1 examples/edge_function.ts`
 */
import { connect, McpError, type Verdict } from "@causeway/mcp";
import { createHandler, McpServer } from "@causeway/mcp/server";

/**
 * Makes the function: what `Deno.serve` takes, and with `export default { fetch }` also `deno serve`.
 *
 * @param limit How long a forecast is waited for, in milliseconds.
 */
export function createEdgeFunction(mcpUrl: string, limit: number = 2_000): (request: Request) => Promise<Response> {
  // What was found out about the server is plain JSON: the next request does not ask for it again.
  let verdict: Verdict | undefined;
  return async (request) => {
    const city = new URL(request.url).searchParams.get("city") ?? "";
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(limit)]);
    try {
      await using client = await connect(mcpUrl, { verdict, signal });
      verdict = client.verdict;
      const { structuredContent, isError } = await client.callTool("forecast", { city }, { signal });
      return isError ? new Response("no such city\n", { status: 404 }) : Response.json(structuredContent);
    } catch (error) {
      if (error instanceof McpError || signal.aborted) return new Response("no forecast now\n", { status: 502 });
      throw error;
    }
  };
}

/** In the place of a server somewhere else. */
function createWeather(): McpServer {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  const properties = { degrees: { type: "number" } };
  server.tool("forecast", {
    description: "The temperature in a city tomorrow",
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    output: { type: "object", properties, required: ["degrees"] },
  }, async ({ city }) => {
    if (city === "Atlantis") await new Promise((resolve) => setTimeout(resolve, 3_000));
    return city === "Bern" ? { degrees: 21 } : { error: `There is no forecast for ${city}` };
  });
  return server;
}

if (import.meta.main) {
  const listen = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const weather = Deno.serve(listen, createHandler(createWeather()));
  const mcpUrl = `http://127.0.0.1:${weather.addr.port}/mcp`;
  // Where there is a forecast it is seen in any case, also on a machine that stands still for a moment.
  const [patient, hasty] = [createEdgeFunction(mcpUrl, 30_000), createEdgeFunction(mcpUrl)];
  const edge = Deno.serve(listen, (request) => (request.url.endsWith("Atlantis") ? hasty : patient)(request));
  const seen: string[] = [];
  for (const city of ["Bern", "Bern", "Nowhere", "Atlantis"]) {
    const response = await fetch(`http://127.0.0.1:${edge.addr.port}/?city=${city}`);
    seen.push(`${city}: ${response.status} ${(await response.text()).trim()}`);
    console.log(seen.at(-1));
  }
  await Promise.all([edge.shutdown(), weather.shutdown()]);
  const degrees = 'Bern: 200 {"degrees":21}';
  const expected = [degrees, degrees, "Nowhere: 404 no such city", "Atlantis: 502 no forecast now"];
  if (seen.join() !== expected.join()) throw new Error(`It should be ${expected.join(", ")}`);
}
