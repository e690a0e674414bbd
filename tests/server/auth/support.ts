/**
 * A protected server over HTTP, and tokens for it.
 *
 * @module
 */
import type { LogRecord, TokenClaims } from "../../../src/ports.ts";
import { createHandler, McpServer, protectResource } from "../../../src/server/mod.ts";
import type { Handler, ProtectedResource, ProtectOptions } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { modernPost } from "../http/support.ts";

export const resourceUrl = "http://localhost:3000/mcp";
export const issuer = "https://auth.example.com";
export const metadataUrl = "http://localhost:3000/.well-known/oauth-protected-resource/mcp";
/** The token that the tests send: what it says, each test decides. */
export const token = "s3cr3t-header.s3cr3t-payload.s3cr3t-signature";

/** What a sound token says. */
export const sound: TokenClaims = { subject: "ada", issuer, audience: resourceUrl, scopes: [], clientId: "editor" };

/** A protected server under test. */
export interface Protected {
  readonly handler: Handler;
  readonly resource: ProtectedResource;
  readonly server: McpServer;
  readonly clock: VirtualClock;
  readonly logs: LogRecord[];
  /** The tokens that `verify` was asked about. */
  readonly asked: string[];
}

/** What a test chooses. `claims` is what `verify` gives for every token. */
export type Choices = Partial<ProtectOptions> & { claims?: unknown };

/** Makes a guard whose `verify` gives sound claims unless the test says otherwise. */
export function guard(choices: Choices = {}): Pick<Protected, "resource" | "clock" | "logs" | "asked"> {
  const clock = new VirtualClock();
  const logs: LogRecord[] = [];
  const asked: string[] = [];
  const { claims, ...options } = choices;
  const given = "claims" in choices ? claims : sound;
  const resource = protectResource({
    resource: resourceUrl,
    authorizationServers: [issuer],
    verify: (token) => {
      asked.push(token);
      return given as TokenClaims;
    },
    clock,
    logger: (record) => void logs.push(record),
    ...options,
  });
  return { resource, clock, logs, asked };
}

/** Protects a server with a tool that says who calls it. */
export function protect(choices: Choices = {}): Protected {
  const guarded = guard(choices);
  const { resource, clock, logs } = guarded;
  const server = new McpServer({ name: "private", version: "1.0.0" });
  server.tool("whoami", {}, (_args, { auth }) => JSON.stringify(auth));
  const handler = createHandler(server, { auth: resource, clock, logger: (record) => void logs.push(record) });
  return { ...guarded, server, handler };
}

/** A call of a tool, with a token unless the test sends another header. */
export function call(name: string, headers: Record<string, string | undefined> = {}): Request {
  return modernPost("tools/call", { name, arguments: {} }, { authorization: `Bearer ${token}`, ...headers });
}

/** The fields of a challenge. */
export function challengeOf(response: Response): Record<string, string> {
  const header = response.headers.get("www-authenticate") ?? "";
  if (!/^Bearer [a-z_]+="[^"\\]*"(, [a-z_]+="[^"\\]*")*$/.test(header)) {
    throw new Error(`it is no challenge: ${header}`);
  }
  return Object.fromEntries([...header.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
}

/** Who a tool was told that the caller is. */
export async function whoami(response: Response): Promise<Record<string, unknown>> {
  const { result } = await response.json();
  return JSON.parse(result.content[0].text);
}
