/**
 * The official client and that of the AI SDK, as they are installed for the benchmark; nothing here needs their types.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const packages = join(process.cwd(), "bench/node_modules");
const sdk = join(packages, "@modelcontextprotocol/client/dist");
const ai = join(packages, "@ai-sdk/mcp/dist");

/** Why the official client cannot be used; false when it can. */
export const skipSdk: string | false = existsSync(sdk) ? false : "@modelcontextprotocol/client is not installed";
/** Why the AI SDK's client cannot be used; false when it can. */
export const skipAi: string | false = existsSync(ai) ? false : "@ai-sdk/mcp is not installed";

/** A request or a notification, as a client's handler gets it. */
export interface PeerMessage {
  readonly params: Record<string, unknown>;
}

/** A result of a tool. */
export interface PeerResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** Options of a request of the official client. */
export interface SdkOptions {
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

/** The official client, as far as it is used. */
export interface SdkClient {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  getProtocolEra(): string | undefined;
  getNegotiatedProtocolVersion(): string | undefined;
  getServerVersion(): object | undefined;
  getServerCapabilities(): Record<string, unknown> | undefined;
  getInstructions(): string | undefined;
  listTools(): Promise<{ tools: { name: string; title?: string; outputSchema?: object; annotations?: object }[] }>;
  callTool(params: object, options?: SdkOptions): Promise<PeerResult>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: { text?: string; blob?: string; mimeType?: string }[] }>;
  subscribeResource(params: { uri: string }): Promise<object>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: object): Promise<{ messages: unknown[] }>;
  complete(params: object): Promise<{ completion: { values: string[] } }>;
  setLoggingLevel(level: string): Promise<object>;
  ping(): Promise<object>;
  listen(filter: object): Promise<{ honoredFilter: object; closed: Promise<string>; close(): Promise<void> }>;
  setRequestHandler(method: string, handler: (request: PeerMessage) => unknown): void;
  setNotificationHandler(method: string, handler: (notification: PeerMessage) => void): void;
}

/** The official library. */
export interface SdkLibrary {
  readonly Client: new (info: object, options: object) => SdkClient;
  readonly StreamableHTTPClientTransport: new (url: URL) => { terminateSession(): Promise<void>; sessionId?: string };
  readonly StdioClientTransport: new (options: object) => object;
}

/** The AI SDK's client, as far as it is used. */
export interface AiClient {
  readonly serverInfo: object;
  readonly initializeResult: { protocolVersion: string };
  readonly instructions?: string;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(args: object): Promise<PeerResult>;
  tools(): Promise<Record<string, { execute(args: object, options: object): Promise<PeerResult> }>>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(args: { uri: string }): Promise<{ contents: { text?: string; blob?: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(args: object): Promise<{ messages: unknown[] }>;
  complete(args: object): Promise<{ completion: { values: string[] } }>;
  onElicitationRequest(schema: object, handler: (request: PeerMessage) => unknown): void;
  close(): Promise<void>;
}

/** The AI SDK's library. */
export interface AiLibrary {
  createMCPClient(config: object): Promise<AiClient>;
  readonly ElicitationRequestSchema: object;
  readonly Experimental_StdioMCPTransport: new (config: object) => object;
}

/** The official library's host of skills. */
export interface SdkSkills {
  readonly SkillsClient: new (client: SdkClient) => {
    readonly supported: boolean;
    readonly directoryRead: boolean;
    list(): Promise<{ skills: SdkSkill[]; ttlMs?: number }>;
    get(uri: string): Promise<{ skill: SdkSkill }>;
    /** Checks the length and the digest, and of a `SKILL.md` the frontmatter too. */
    read(skill: SdkSkill, path?: string): Promise<{ text?: string; bytes: Uint8Array; verified: boolean }>;
    readDirectory(uri: string): Promise<{ resources: { uri: string; mimeType?: string }[] }>;
  };
}

/** A skill as the official library gives it. */
export interface SdkSkill {
  readonly uri: string;
  readonly frontmatter: Record<string, unknown>;
  readonly resources: unknown;
}

/** Loads the official library's host of skills. */
export async function loadSdkSkills(): Promise<SdkSkills> {
  return await load(join(sdk, "ext/skills/index.mjs")) as SdkSkills;
}

/** Loads the official library. */
export async function loadSdk(): Promise<SdkLibrary> {
  const [main, stdio] = await Promise.all([load(join(sdk, "index.mjs")), load(join(sdk, "stdio.mjs"))]);
  return { ...main, ...stdio } as SdkLibrary;
}

/** Loads the AI SDK's library. */
export async function loadAi(): Promise<AiLibrary> {
  const [main, stdio] = await Promise.all([load(join(ai, "index.js")), load(join(ai, "mcp-stdio/index.js"))]);
  return { ...main, ...stdio } as unknown as AiLibrary;
}

async function load(file: string): Promise<object> {
  return await import(pathToFileURL(file).href);
}
