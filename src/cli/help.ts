/**
 * `causeway --help` and `causeway --version`.
 *
 * @module
 */
import { version } from "../version.ts";
import { exitCodes } from "./failure.ts";
import { writeOut } from "./terminal.ts";

const help = `causeway ${version}: call the tools of an MCP server

  causeway tools <target>                          list the tools
  causeway call <target> <tool> [argument …]       call a tool
  causeway login <target>                          sign in to a server; tools and call use it from then on
  causeway logout <target>                         revoke and forget a sign-in
  causeway whoami [target]                         who is signed in: issuer, client, scopes, until when
  causeway serve [config …]                        serve the servers of configs as one: over stdio, or HTTP and WebSocket with --port
  causeway bridge <target>                         serve one server over another binding, with its own names
  causeway servers list                            the servers of the config, and where each is; nothing is started
  causeway servers discover                        what editors and assistants define here, and which file counts

Target
  https://example.com/mcp                          a URL: https:, http:, wss:, ws:
  github                                           a server of the config: --config, ./mcp.json or ./.mcp.json
  "bun server.ts --flag"                           a program, in one argument; no shell runs it
  "API_KEY=… npx -y some-server"                   the same with a variable: others than PATH, HOME and their like are not inherited

Arguments
  key=value                                        read by the tool's schema: text, number, true, false, JSON for lists and objects
  key=value key=other                              a list, where the schema wants one
  key:=json                                        exactly this JSON
  @file.json    '{"key": 1}'    --args '{…}'       a whole object
  -                                                a whole object from the standard input

Options
  --json                                           print exactly the MCP object
  --timeout <time>                                 how long the command may take: 30 (seconds), 500ms, 2m
  --header 'Name: value'                           send a header with each request; may be repeated
  --config <file>                                  where names are looked up: { "mcpServers": { … } } or { "servers": { … } }
  --help, -h    --version, -v

Signing in
  --device                                         with a code that is entered on any device
  --no-open                                        print the address, and open no browser
  --scope <scope>                                  ask for this scope too; may be repeated
  --client-id <id>                                 a client that the server knows
  --client-secret-file <file>                      its secret; or in the variable CAUSEWAY_CLIENT_SECRET
  --client-metadata-url <url>                      the https URL of a client metadata document, as the client's id
  --port <port>                                    where the browser comes back to, on 127.0.0.1: a free one

Serving
  --stdio                                          to the program that started it, over stdin and stdout (the default)
  --port <port>    --hostname <name>               over HTTP and WebSocket at /mcp: 8080, 127.0.0.1; for this machine alone
  --token-file <file>                              callers send this token as their bearer; needed for another hostname
  --servers <name,name>                            only these of the config
  --take-turns                                     one caller at a time at older servers over stdio, so that they can ask
  --timeout <time>                                 how long each server may take until it is connected

Sign-ins are kept in CAUSEWAY_HOME, else in causeway below XDG_CONFIG_HOME, ~/.config or %APPDATA%, for this user alone.
A header "Authorization" of --header or the config wins over them. What a config says of a client ("auth" or "oauth") counts for login
by its name, and "none" for all; serve heeds "tools", "pins" and "idempotent" of its servers.

Results go to the standard output, all else to the standard error.
Exit codes: ${
  [
    `${exitCodes.ok} ok`,
    `${exitCodes.toolFailed} the tool failed`,
    `${exitCodes.usage} wrong use (unknown tool, bad arguments, bad config)`,
    `${exitCodes.authorization} authorization`,
    `${exitCodes.unreachable} unreachable`,
    `${exitCodes.protocol} protocol`,
    `${exitCodes.interrupted} interrupted`,
  ].join(", ")
}
`;

/** Prints how the command is used. */
export async function showHelp(): Promise<number> {
  await writeOut(help);
  return exitCodes.ok;
}

/** Prints the version. */
export async function showVersion(): Promise<number> {
  await writeOut(`causeway ${version}\n`);
  return exitCodes.ok;
}
