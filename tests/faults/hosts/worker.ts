/**
 * The same for workerd: `/measure?base=…&times=…` measures the faults over HTTP, `/warm?url=…` connects, `/bound?url=…` calls
 * a server that offers a gigabyte. Its memory is measured from outside.
 */
import { LimitExceededError, McpError } from "../../../mod.ts";
import { connect } from "../../../src/entry/workers.ts";
import { measureLoopback } from "../support/measure.ts";

const worker: { fetch(request: Request): Promise<Response> } = {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/measure") {
      return Response.json(await measureLoopback(searchParams.get("base") ?? "", Number(searchParams.get("times"))));
    }
    const client = await connect(searchParams.get("url") ?? "");
    await client.listTools();
    if (pathname === "/warm") {
      await client.close();
      return new Response("warm");
    }
    const startedAt = performance.now();
    const end = await client.callTool("echo").then(() => "resolves", (error: unknown) => error);
    const took = performance.now() - startedAt;
    await client.callTool("echo", { text: "next" });
    await client.close();
    const ends = end instanceof McpError ? end.constructor.name : String(end);
    return Response.json({ ends, option: end instanceof LimitExceededError ? end.limit : "", took });
  },
};

export default worker;
