/**
 * All commands, in one table: what each is called, what it takes, and where its code is. The code is loaded when it is wanted.
 *
 * @module
 */
import type { AuthWorld } from "../auth/oauth.ts";
import type { CommandLine } from "../command_line.ts";

/** What a command does: it answers the exit code. */
export type RunCommand = (line: CommandLine, signal: AbortSignal, world: AuthWorld) => Promise<number>;

/** One command. */
export interface CommandSpec {
  /** `tools`, or `servers list`. */
  readonly name: string;
  /** What stands behind its name, for people. */
  readonly words: string;
  readonly about: string;
  /** Under which heading it stands. */
  readonly group: string;
  /** The options that only some commands have: names of `ownOptions`. */
  readonly options?: readonly string[];
  /** Whether it talks to one server that it is given, so that `--header` means something. */
  readonly connects?: boolean;
  readonly load: () => Promise<RunCommand>;
}

const [use, look, keep, serve] = ["Use a server", "See what there is", "Sign in", "Serve"] as const;
const projects = "Projects";
const serving = ["stdio", "port", "hostname", "take-turns", "token-file"] as const;

/** The commands, in the order in which help has them. */
export const commandTable: readonly CommandSpec[] = [
  {
    ...{ name: "tools", words: "<target>", about: "list the tools", group: use, connects: true },
    options: ["signatures"],
    load: async () => (await import("../commands/talk/tools.ts")).listTools,
  },
  {
    ...{ name: "call", words: "<target> <tool> [argument …]", about: "call a tool", group: use, connects: true },
    options: ["args"],
    load: async () => (await import("../commands/talk/call.ts")).callTool,
  },
  {
    ...{ name: "resources", words: "<target>", about: "list the resources, and templates", group: use, connects: true },
    options: ["templates"],
    load: async () => (await import("../commands/talk/resources.ts")).listResources,
  },
  {
    ...{ name: "read", words: "<target> <uri>", about: "read a resource", group: use, connects: true },
    options: ["output"],
    load: async () => (await import("../commands/talk/read.ts")).readResource,
  },
  {
    ...{ name: "prompts", words: "<target>", about: "list the prompts", group: use, connects: true },
    load: async () => (await import("../commands/talk/prompts.ts")).listPrompts,
  },
  {
    name: "prompt",
    ...{ words: "<target> <prompt> [key=value …]", about: "fill a prompt in", group: use, connects: true },
    options: ["args"],
    load: async () => (await import("../commands/talk/prompts.ts")).getPrompt,
  },
  {
    name: "watch",
    ...{ words: "<target> [uri …]", about: "tell of changes, until Ctrl-C or --timeout", group: use, connects: true },
    load: async () => (await import("../commands/talk/watch.ts")).watch,
  },
  {
    name: "tasks list",
    ...{
      words: "[target]",
      about: "the tasks that were started here, or those of a server",
      group: use,
      connects: true,
    },
    load: async () => (await import("../commands/tasks/tasks.ts")).listTasks,
  },
  {
    ...{ name: "tasks get", words: "[target] <id>", about: "how a task stands", group: use, connects: true },
    load: async () => (await import("../commands/tasks/tasks.ts")).getTask,
  },
  {
    ...{
      name: "tasks wait",
      words: "[target] <id>",
      about: "wait for the result of a task",
      group: use,
      connects: true,
    },
    load: async () => (await import("../commands/tasks/tasks.ts")).waitForTask,
  },
  {
    ...{
      name: "tasks cancel",
      words: "[target] <id>",
      about: "ask the server to stop a task",
      group: use,
      connects: true,
    },
    load: async () => (await import("../commands/tasks/tasks.ts")).cancelTask,
  },
  {
    name: "tasks detach",
    ...{
      words: "<target> <tool> [argument …]",
      about: "start a tool as a task, and leave it",
      group: use,
      connects: true,
    },
    options: ["args"],
    load: async () => (await import("../commands/tasks/detach.ts")).detachTask,
  },
  {
    ...{ name: "search", words: "<words …>", about: "find tools over all servers of the config", group: look },
    options: ["limit", "servers"],
    load: async () => (await import("../commands/talk/search.ts")).search,
  },
  {
    name: "servers list",
    ...{ words: "", about: "the servers of the config, and where each is; nothing is started", group: look },
    load: async () => (await import("../commands/servers/list.ts")).listServers,
  },
  {
    name: "servers discover",
    ...{ words: "", about: "what editors and assistants define here, and which file counts", group: look },
    load: async () => (await import("../commands/servers/discover.ts")).discoverServers,
  },
  {
    ...{
      name: "servers add",
      words: "<name> <target>",
      about: "keep a server that answers",
      group: look,
      connects: true,
    },
    options: ["here", "replace", "unchecked"],
    load: async () => (await import("../commands/servers/add.ts")).addServer,
  },
  {
    ...{ name: "servers remove", words: "<name>", about: "forget a server", group: look },
    options: ["here"],
    load: async () => (await import("../commands/servers/change.ts")).removeServer,
  },
  {
    ...{ name: "servers enable", words: "<name>", about: "use a server again", group: look },
    options: ["here"],
    load: async () => (await import("../commands/servers/change.ts")).enableServer,
  },
  {
    ...{ name: "servers disable", words: "<name>", about: "keep a server, unused", group: look },
    options: ["here"],
    load: async () => (await import("../commands/servers/change.ts")).disableServer,
  },
  {
    ...{ name: "servers doctor", words: "[name …]", about: "ask each server whether it works", group: look },
    load: async () => (await import("../commands/inspect/doctor.ts")).serversDoctor,
  },
  {
    name: "servers import",
    ...{ words: "[name …]", about: "copy what editors and assistants define here into our own config", group: look },
    options: ["here", "replace", "all"],
    load: async () => (await import("../commands/servers/import.ts")).importServers,
  },
  {
    name: "probe",
    ...{ words: "<target>", about: "what it speaks, revision by revision, with times", group: look, connects: true },
    load: async () => (await import("../commands/inspect/probe.ts")).probe,
  },
  {
    name: "doctor",
    ...{ words: "[name …]", about: "look at the runtime, configs, sign-ins and each server", group: look },
    load: async () => (await import("../commands/inspect/doctor.ts")).doctor,
  },
  {
    ...{
      name: "types",
      words: "<target>",
      about: "a typed client of its tools, in TypeScript",
      group: look,
      connects: true,
    },
    options: ["output", "from"],
    load: async () => (await import("../commands/inspect/types.ts")).writeTypes,
  },
  {
    name: "completion",
    ...{ words: "<bash|zsh|fish>", about: "a script that completes words in your shell", group: look },
    load: async () => (await import("../commands/inspect/completion.ts")).completion,
  },
  {
    name: "record",
    ...{ words: "<file> <command …>", about: "run a command, and keep what goes over the wire", group: look },
    load: async () => (await import("../commands/wire/record.ts")).record,
  },
  {
    name: "replay",
    ...{ words: "<file> [server]", about: "serve what was recorded, over stdin and stdout", group: serve },
    load: async () => (await import("../commands/wire/replay.ts")).replay,
  },
  {
    name: "run",
    ...{ words: "<prompt …>", about: "let an agent do it, with the servers of the config", group: use },
    options: ["model", "model-url", "instructions", "servers", "steps", "yes", "runs", "resume"],
    load: async () => (await import("../commands/agents/run.ts")).runAgent,
  },
  {
    ...{ name: "login", words: "<target>", about: "sign in to a server; others use it from then on", group: keep },
    options: [
      "device",
      "no-open",
      "scope",
      "client-id",
      "client-secret-file",
      "client-metadata-url",
      "issuer",
      "legacy",
      "port",
    ],
    load: async () => (await import("../auth/login.ts")).login,
  },
  {
    ...{ name: "logout", words: "<target>", about: "revoke and forget a sign-in", group: keep },
    load: async () => (await import("../auth/logout.ts")).logout,
  },
  {
    ...{
      name: "whoami",
      words: "[target]",
      about: "who is signed in: issuer, client, scopes, until when",
      group: keep,
    },
    load: async () => (await import("../auth/whoami.ts")).whoami,
  },
  {
    ...{ name: "serve", words: "[config …]", about: "serve the servers of configs as one", group: serve },
    options: [...serving, "servers"],
    load: async () => (await import("../serve/serve.ts")).serve,
  },
  {
    ...{ name: "bridge", words: "<target>", about: "serve one server over another binding", group: serve },
    connects: true,
    options: serving,
    load: async () => (await import("../serve/serve.ts")).bridge,
  },
  {
    name: "agent",
    ...{ words: "<file>", about: "serve the agent that a module exports", group: serve },
    options: serving.filter((name) => name !== "take-turns"),
    load: async () => (await import("../commands/agents/agent.ts")).serveAgent,
  },
  {
    name: "start",
    ...{ words: "", about: "the runner on this machine, with the servers of the config", group: serve },
    options: ["port", "store", "runs", "model", "model-url", "key"],
    load: async () => (await import("../commands/agents/start.ts")).start,
  },
  {
    name: "init",
    ...{ words: "<agent|worker> [folder]", about: "a new project that runs", group: projects },
    load: async () => (await import("../commands/projects/init.ts")).init,
  },
  {
    name: "deploy",
    ...{ words: "[folder]", about: "check a Worker, and deploy it with wrangler", group: projects },
    options: ["dry-run"],
    load: async () => (await import("../commands/projects/deploy.ts")).deploy,
  },
];

/** The command of this name; undefined when there is none. */
export function findCommand(name: string): CommandSpec | undefined {
  return commandTable.find((spec) => spec.name === name);
}

/** The second words of a command that has some: `list` and `discover` of `servers`. */
export function verbsOf(name: string): string[] {
  return commandTable.flatMap((spec) => spec.name.startsWith(`${name} `) ? [spec.name.slice(name.length + 1)] : []);
}

/** Whether `--header` may stand behind a command, or behind one of its second words; of what is recorded, that command says it. */
export function takesHeader(name: string): boolean {
  const specs = commandTable.filter((spec) => spec.name === name || spec.name.startsWith(`${name} `));
  return name === "record" || specs.some(({ connects }) => connects);
}

/** The first words of all commands. */
export function commandNames(): string[] {
  return [...new Set(commandTable.map(({ name }) => name.split(" ", 1)[0] ?? name))];
}
