/**
 * The files of new projects.
 *
 * @module
 */
import { version } from "../../../version.ts";

type Files = Readonly<Record<string, string>>;

/** An agent with one tool, for `causeway agent`. */
export function agentFiles(name: string): Files {
  return {
    "package.json": manifest(name, {
      dependencies: { "@causeway/mcp": `^${version}` },
      scripts: { start: "causeway agent agent.ts --port 8080" },
    }),
    "agent.ts": `import { McpAgent, unknownTool } from "@causeway/mcp/agent";

/** Greets. */
export default class GreeterAgent extends McpAgent {
  getMcpToolDefinitions() {
    return [{
      name: "greet",
      description: "Greets somebody",
      inputSchema: { type: "object" as const, properties: { name: { type: "string" } }, required: ["name"] },
    }];
  }

  executeMcpTool(name: string, args: Record<string, unknown>) {
    if (name !== "greet") throw unknownTool(name);
    return \`Hello, \${args.name}\`;
  }
}
`,
    ".gitignore": "node_modules\n",
  };
}

/** A Worker that is an MCP server, at \`/mcp\`. */
export function workerFiles(name: string): Files {
  return {
    "package.json": manifest(name, {
      dependencies: { "@causeway/mcp": `^${version}` },
      devDependencies: { wrangler: "4.86.0" },
      scripts: { dev: "wrangler dev", deploy: "causeway deploy" },
    }),
    "wrangler.toml": `name = "${name}"
main = "worker.ts"
compatibility_date = "2026-05-03"
compatibility_flags = ["enable_request_signal"]

[vars]
# The names that it is reached by, with commas between; without them, this machine's alone.
ALLOWED_HOSTS = ""
`,
    "worker.ts": `import { createHandler, McpServer } from "@causeway/mcp/server";

interface Env {
  readonly ALLOWED_HOSTS?: string;
}

const server = new McpServer({ name: "${name}", version: "1.0.0" });
server.tool("greet", {
  description: "Greets somebody",
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
}, ({ name }) => \`Hello, \${name}\`);

let handler: ReturnType<typeof createHandler> | undefined;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const allowedHosts = env.ALLOWED_HOSTS ? env.ALLOWED_HOSTS.split(",").map((host) => host.trim()) : undefined;
    handler ??= createHandler(server, { allowedHosts });
    return new URL(request.url).pathname === "/mcp" ? await handler(request) : new Response(null, { status: 404 });
  },
};
`,
    ".gitignore": "node_modules\n.wrangler\n",
  };
}

function manifest(name: string, more: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  return JSON.stringify({ name, version: "0.0.0", private: true, type: "module", ...more }, undefined, 2) + "\n";
}
