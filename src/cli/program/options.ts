/**
 * All options of the command, in one table: what a name means is the same wherever it stands.
 *
 * @module
 */

/** One option. */
export interface OptionSpec {
  /** What stands behind it, in `<…>`; undefined for one that stands alone. */
  readonly value?: string;
  readonly short?: string;
  /** What it does, for people. */
  readonly about: string;
}

/** What any command may be given, in any place. */
export const commonOptions: Readonly<Record<string, OptionSpec>> = {
  json: { about: "print exactly the MCP object" },
  timeout: { value: "time", about: "how long the command may take: 30 (seconds), 500ms, 2m" },
  header: { value: "Name: value", about: "send a header with each request; may be repeated" },
  config: { value: "file", about: "the config where names are looked up, instead of the usual ones" },
  verbose: { about: "show what goes over the wire, without secrets" },
  help: { short: "h", about: "show how it is written" },
  version: { short: "v", about: "show the version" },
};

/** What only some commands take. */
export const ownOptions: Readonly<Record<string, OptionSpec>> = {
  args: { value: "json", about: "the arguments of the call as one JSON object" },
  output: { value: "file", about: "write it to this file" },
  from: { value: "module", about: "where the types of the client come from (@causeway/mcp)" },
  signatures: { about: "as signatures in TypeScript" },
  templates: { about: "list templates of resources only" },
  here: { about: "change ./causeway.json, not your own" },
  replace: { about: "put it in the place of one of the same name" },
  unchecked: { about: "save it without asking the server anything" },
  all: { about: "all that were found" },
  limit: { value: "count", about: "so many at most (10)" },
  model: { value: "name", about: "the model that thinks; or in the variable CAUSEWAY_MODEL" },
  "model-url": {
    value: "url",
    about: "where its API begins (OpenAI's form); or in CAUSEWAY_MODEL_URL; its key in CAUSEWAY_MODEL_KEY",
  },
  instructions: { value: "text", about: "what it is to do, and how" },
  yes: { about: "make every call without asking" },
  steps: { value: "count", about: "how often the model is asked at most (20)" },
  runs: { value: "file", about: "keep runs in this database, so that they can go on" },
  resume: { value: "id", about: "go on with this run of --runs" },
  store: { value: "folder", about: "where sign-ins, added servers, approvals and runs are kept (in memory)" },
  key: { about: "print an API key for programs, good until it ends" },
  "dry-run": { about: "check, and deploy nothing" },
  device: { about: "with a code that is entered on any device" },
  "no-open": { about: "print the address, and open no browser" },
  scope: { value: "scope", about: "ask for this scope too; may be repeated" },
  "client-id": { value: "id", about: "a client that the server knows" },
  "client-secret-file": { value: "file", about: "its secret; or in the variable CAUSEWAY_CLIENT_SECRET" },
  "client-metadata-url": { value: "url", about: "the https URL of a client metadata document, as the client's id" },
  issuer: { value: "url", about: "how its authorization server names itself, where the server names it otherwise" },
  legacy: { about: "a server of 2025-03-26, which names no authorization server: take it for its own" },
  port: {
    value: "port",
    about:
      "login: where the browser comes back to (any that is free); else: serve HTTP and WebSocket here (8080; start: 8790)",
  },
  stdio: { about: "to the program that started it, over stdin and stdout (the default)" },
  hostname: { value: "name", about: "where it listens (127.0.0.1)" },
  servers: { value: "name,name", about: "only these of the config" },
  "take-turns": { about: "one caller at a time at older servers over stdio, so that they can ask" },
  "token-file": { value: "file", about: "callers send this token as their bearer; needed for another hostname" },
};

/** All of them. */
export const allOptions: Readonly<Record<string, OptionSpec>> = { ...commonOptions, ...ownOptions };

/** Whether what stands behind this word, as it was written, is its value. */
export function takesValue(word: string | undefined): boolean {
  return word?.startsWith("--") === true && allOptions[word.slice(2)]?.value !== undefined;
}

/** An option as help writes it: its flags, and what it does. */
export function writtenOption(name: string): [flags: string, about: string] {
  const { value, short, about } = allOptions[name] ?? { about: "" };
  return [`${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` <${value}>`}`, about];
}
