/**
 * What the parts of a hub tell each other: the catalog as plain JSON, what happens, and what a hub can do.
 *
 * @module
 */
import type { Client } from "../client/client.ts";
import type { CoreConnectOptions } from "../client/connect.ts";
import type { ClientOptions } from "../client/options.ts";
import type { RequestOptions } from "../client/session/request.ts";
import type { Snapshot } from "../client/snapshot.ts";
import type { Authorizer } from "../ports.ts";
import type { ConstantJson } from "../protocol/json_rpc.ts";
import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  ServerCapabilities,
  Tool,
} from "../protocol/types.ts";
import type { StdioCommand } from "../transport/stdio.ts";
import type { Transport } from "../transport/transport.ts";

/** What every client of a hub, or the client of one server, is given: the options of `connect`. */
export type ClientSettings = Omit<ClientOptions & CoreConnectOptions, "auth" | "fallback" | "onBreak" | "signal">;

/** What connects to one server: the `connect` of an entry. */
export type ConnectServer = (
  target: string | StdioCommand | Transport | Snapshot,
  options: ClientSettings & Pick<ClientOptions & CoreConnectOptions, "auth" | "onBreak" | "signal">,
) => Promise<Client>;

/** Which tools of a server there are, by their names at the server; `*` stands for any characters. */
export interface ToolFilter {
  /** Only these (all). */
  readonly allow?: readonly string[] | undefined;
  /** None of these, whatever `allow` says. */
  readonly deny?: readonly string[] | undefined;
}

/** What holds for one server, however it is reached. */
export interface ServerSettings extends ClientSettings {
  /** Milliseconds until it is connected and has listed what it has (30,000). */
  readonly timeout?: number | undefined;
  /** How often connecting is tried again by itself (3). */
  readonly maxRetries?: number | undefined;
  /** Milliseconds before the first of these tries at most; each one doubles it (1,000). */
  readonly retryDelay?: number | undefined;
  /** Calls under way at most (32; 4 on Workers); 100 more wait. */
  readonly concurrency?: number | undefined;
  /** It is named, and not used. */
  readonly disabled?: boolean | undefined;
  /** Which of its tools there are. */
  readonly tools?: ToolFilter | undefined;
}

/** A server at a URL: `http:`, `https:`, `ws:` or `wss:`. */
export interface RemoteServer extends ServerSettings {
  /** Where it is. */
  readonly url: string | URL;
  /** Puts credentials on its requests; in the place of the hub's. */
  readonly auth?: Authorizer | undefined;
}

/** A server that is a program here. */
export interface LocalServer extends ServerSettings, Readonly<StdioCommand> {}

/** A server that is reached by a transport of one's own; made anew for each client where it is a function. */
export interface AttachedServer extends ServerSettings {
  /** What carries its messages. A value is good for one connection; a function makes another for each. */
  readonly transport: Transport | (() => Transport);
}

/** One server in the config of a hub. */
export type ServerConfig = RemoteServer | LocalServer | AttachedServer;

/** The servers of a hub by their names: alone, or as `mcpServers`. */
export type HubConfig =
  | Readonly<Record<string, ServerConfig>>
  | { readonly mcpServers: Readonly<Record<string, ServerConfig>> };

/** Where a server stands. */
export type ServerState = "disconnected" | "connecting" | "authorizing" | "connected" | "reconnecting" | "failed";

/** What one server has, as it was listed last: plain JSON. */
export interface CatalogServer {
  /** Its name in the config. */
  readonly name: string;
  /** When its tools were listed, in milliseconds since 1970; 0: they never were. */
  readonly listedAt: number;
  /** Its tools. */
  readonly tools: readonly Tool[];
  /** Its resources. */
  readonly resources: readonly Resource[];
  /** Its resource templates. */
  readonly templates: readonly ResourceTemplate[];
  /** Its prompts. */
  readonly prompts: readonly Prompt[];
  /** What it says about its use, for models. */
  readonly instructions?: string | undefined;
  /** What it can do. */
  readonly capabilities?: ServerCapabilities | undefined;
  /** With it another isolate connects without a question. Secret where it holds a session. */
  readonly snapshot?: Snapshot | undefined;
}

/** What all servers have: plain JSON that can be stored, and given to another hub. */
export interface Catalog {
  /** Says what this JSON is. */
  readonly kind: "causeway.catalog";
  /** Says how it is written. */
  readonly version: 1;
  /** In the order of the config. */
  readonly servers: readonly CatalogServer[];
}

/** A tool, and whose it is. */
export interface CatalogTool {
  /** The name of its server in the config. */
  readonly server: string;
  /** Its name at the server. */
  readonly name: string;
  /** Its name for models: `<server>__<tool>`, `[a-zA-Z0-9_-]`, at most 64 characters, unique in the hub. */
  readonly qualifiedName: string;
  /** As the server describes it. */
  readonly tool: Tool;
}

/** A resource, and whose it is. */
export interface CatalogResource {
  /** The name of its server in the config. */
  readonly server: string;
  /** As the server describes it. */
  readonly resource: Resource;
}

/** A resource template, and whose it is. */
export interface CatalogTemplate {
  /** The name of its server in the config. */
  readonly server: string;
  /** As the server describes it. */
  readonly template: ResourceTemplate;
}

/** A prompt, and whose it is. */
export interface CatalogPrompt {
  /** The name of its server in the config. */
  readonly server: string;
  /** Its name at the server. */
  readonly name: string;
  /** Its name in the hub, made as those of tools. */
  readonly qualifiedName: string;
  /** As the server describes it. */
  readonly prompt: Prompt;
}

/** How one server does. */
export interface ServerStatus {
  /** Its name in the config. */
  readonly name: string;
  /** Where it stands. */
  readonly state: ServerState;
  /** Tools that were listed. */
  readonly tools: number;
  /** Resources that were listed. */
  readonly resources: number;
  /** Prompts that were listed. */
  readonly prompts: number;
  /** Attempts to connect since it was connected last. */
  readonly retries: number;
  /** Calls under way. */
  readonly active: number;
  /** Calls that wait. */
  readonly queued: number;
  /** Whether calls are refused for a while, since too many failed. */
  readonly isOpen: boolean;
  /** What went wrong last: its class and its message, without secrets. */
  readonly lastError?:
    | { readonly name: string; readonly code?: string | undefined; readonly message: string }
    | undefined;
  /** `authorizing`: where a person has to go. Secret. */
  readonly authorizationUrl?: string | undefined;
}

/** One thing that happened in a hub. */
export type HubEvent =
  | { readonly type: "state"; readonly server: string; readonly from: ServerState; readonly to: ServerState }
  | { readonly type: "error"; readonly server: string; readonly error: Error }
  | { readonly type: "catalog"; readonly server: string; readonly changed: readonly CatalogPart[] }
  | { readonly type: "authorization"; readonly server: string; readonly authorizationUrl: string }
  | { readonly type: "resource"; readonly server: string; readonly uri: string }
  | { readonly type: "log"; readonly server: string; readonly level: string; readonly data: unknown }
  | { readonly type: "added" | "removed"; readonly server: string };

/** A part of what a server has. */
export type CatalogPart = "tools" | "resources" | "templates" | "prompts";

/** Names a tool or prompt: by its qualified name, as `server.tool`, or in two parts. */
export type QualifiedName = string | { readonly server: string; readonly name: string };

/** Names a resource: by its URI alone where only one server has it, or with its server. */
export type ResourceName = string | { readonly server: string; readonly uri: string };

/** What a hub can do: what adapters for models and the gateway need of it. */
export interface HubLike {
  /** The tools of all servers, in a stable order. */
  tools(): readonly CatalogTool[];
  /** The resources of all servers, in a stable order. */
  resources(): readonly CatalogResource[];
  /** The resource templates of all servers, in a stable order. */
  templates(): readonly CatalogTemplate[];
  /** The prompts of all servers, in a stable order. */
  prompts(): readonly CatalogPrompt[];
  /** Finds a tool by its qualified name, as `server.tool`, or in two parts. */
  findTool(name: QualifiedName): CatalogTool | undefined;
  /** Calls a tool. A server that is down or unknown is a result with `isError` that names it. */
  callTool(name: QualifiedName, args?: ConstantJson, options?: RequestOptions): Promise<CallToolResult>;
  /** Reads a resource. */
  readResource(name: ResourceName, options?: RequestOptions): Promise<ReadResourceResult>;
  /** A prompt with its arguments filled in. */
  getPrompt(name: QualifiedName, args?: Record<string, string>, options?: RequestOptions): Promise<GetPromptResult>;
  /** Completes an argument of a prompt or of a resource template. */
  complete(
    reference:
      | { readonly type: "ref/prompt"; readonly name: QualifiedName }
      | { readonly type: "ref/resource"; readonly server: string; readonly uri: string },
    argument: { readonly name: string; readonly value: string },
    options?: RequestOptions & { readonly context?: Readonly<Record<string, string>> },
  ): Promise<CompleteResult>;
  /** How each server does. */
  status(): readonly ServerStatus[];
  /** What happens from now on; several can listen. It ends with the hub, or when the loop is left. */
  events(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<HubEvent>;
  /** All that was listed, as plain JSON. */
  catalog(): Catalog;
  /** Tries to connect a server now, or lists what changed where it is connected; resolves when that has come to something. */
  retry?(server: string): Promise<void>;
}
