/** The client of the AI SDK, @ai-sdk/mcp. It has no hook for progress. Its packages are named by constants of the build. */
import type { BenchClient, BenchTarget } from "./client.ts";
import { firstText } from "./client.ts";

/** Replaced by the build. */
declare const AI_PACKAGE: string;
declare const AI_STDIO_PACKAGE: string;

interface AiClient {
  callTool(request: { name: string; arguments: object; options?: object }): Promise<unknown>;
  listTools(): Promise<{ tools: unknown[] }>;
  close(): Promise<void>;
}

interface AiLibrary {
  readonly createMCPClient: (config: object) => Promise<AiClient>;
}

interface AiStdioLibrary {
  readonly StdioMCPTransport: new (config: object) => object;
}

/** Makes the AI SDK's client. */
export function createClient(): BenchClient {
  let client: AiClient | undefined;
  function connected(): AiClient {
    if (client === undefined) throw new Error("not connected");
    return client;
  }
  return {
    async connect(target) {
      const { createMCPClient }: AiLibrary = await import(AI_PACKAGE);
      client = await createMCPClient({
        transport: target.kind === "http" ? { type: "http", url: target.url } : await stdioTransport(target),
        protocolVersionDiscovery: target.era !== "legacy",
      });
    },
    call: async (name, args, options) => {
      const { timeout, signal } = options ?? {};
      const request = options && { options: { ...(timeout && { timeout }), ...(signal && { signal }) } };
      return firstText(await connected().callTool({ name, arguments: args, ...request }));
    },
    list: async () => (await connected().listTools()).tools.length,
    close: async () => await client?.close(),
  };
}

async function stdioTransport(target: BenchTarget & { kind: "stdio" }): Promise<object> {
  const { StdioMCPTransport }: AiStdioLibrary = await import(AI_STDIO_PACKAGE);
  return new StdioMCPTransport({ command: target.command, args: target.args });
}
