/**
 * The official client, @modelcontextprotocol/client. Its packages are named by constants of the build, so that the checks
 * of this repository need none of them.
 */
import type { BenchCallOptions, BenchClient, BenchEra, BenchTarget } from "./client.ts";
import { firstText } from "./client.ts";

/** Replaced by the build. */
declare const SDK_PACKAGE: string;
declare const SDK_STDIO_PACKAGE: string;

interface SdkOptions {
  readonly onprogress?: () => void;
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

interface SdkClient {
  connect(transport: object, options?: object): Promise<void>;
  callTool(params: object, options?: SdkOptions): Promise<unknown>;
  listTools(): Promise<{ tools: unknown[] }>;
  close(): Promise<void>;
}

interface SdkLibrary {
  readonly Client: new (info: object, options: object) => SdkClient;
  readonly StreamableHTTPClientTransport: new (url: URL) => object;
}

interface SdkStdioLibrary {
  readonly StdioClientTransport: new (options: object) => object;
}

/** Makes the official client. */
export function createClient(): BenchClient {
  let client: SdkClient | undefined;
  function connected(): SdkClient {
    if (client === undefined) throw new Error("not connected");
    return client;
  }
  return {
    async connect(target) {
      const { Client, StreamableHTTPClientTransport }: SdkLibrary = await import(SDK_PACKAGE);
      const versionNegotiation = { mode: modeOf(target.era) };
      client = new Client(
        { name: "bench", version: "1.0.0" },
        {
          versionNegotiation,
        },
      );
      const transport = target.kind === "http"
        ? new StreamableHTTPClientTransport(new URL(target.url))
        : await stdioTransport(target);
      await client.connect(transport);
    },
    call: async (name, args, options) =>
      firstText(await connected().callTool({ name, arguments: args }, requestOptions(options))),
    list: async () => (await connected().listTools()).tools.length,
    close: async () => await client?.close(),
  };
}

function modeOf(era: BenchEra): string | { pin: string } {
  return era === "modern" ? { pin: "2026-07-28" } : era;
}

async function stdioTransport(target: BenchTarget & { kind: "stdio" }): Promise<object> {
  const { StdioClientTransport }: SdkStdioLibrary = await import(SDK_STDIO_PACKAGE);
  // Its own default of 10 MB closes the connection at the cell of 10 MiB.
  return new StdioClientTransport({
    command: target.command,
    args: target.args,
    maxBufferSize: 2 ** 26,
  });
}

function requestOptions(options: BenchCallOptions | undefined): SdkOptions | undefined {
  if (options === undefined) return undefined;
  const { onProgress, timeout, signal } = options;
  return {
    ...(onProgress && { onprogress: onProgress }),
    ...(timeout && { timeout }),
    ...(signal && { signal }),
  };
}
