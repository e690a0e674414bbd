/** Mistakes in targets that are programs. */
import type { Mistake } from "../mistake.ts";

export const programs: readonly Mistake[] = [
  {
    number: 46,
    title: "no target",
    typed: "causeway tools",
    code: 2,
    says: "The target is missing: write causeway tools <target>",
  },
  {
    number: 47,
    title: "an empty variable for a target",
    typed: 'causeway tools "$UNSET"',
    code: 2,
    says: 'The target is empty: give a URL, a name from a config, or a command such as "bun server.ts"',
  },
  {
    number: 48,
    title: "a command without quotes",
    typed: "causeway tools bun server.ts",
    code: 2,
    says: 'Unexpected "server.ts" after the target: put a command with spaces into quotes',
  },
  {
    number: 49,
    title: "a quote that is not closed",
    typed: 'causeway tools "sh -c \'exit"',
    code: 2,
    says: "Cannot read the command \"sh -c 'exit\": it ends in an open '; close the quotes",
  },
  {
    number: 50,
    title: "a program that is not installed",
    typed: "causeway tools causeway-no-such-program",
    code: 4,
    says:
      'Cannot start "causeway-no-such-program": there is no such program on the PATH; install it, or give its full path; nor is there a config ./mcp.json with a server of this name',
  },
  {
    number: 51,
    title: "a script that is not there",
    typed: "causeway tools ./server.ts",
    code: 4,
    says: 'Cannot start "./server.ts": …; a script is started with its interpreter, as in "bun ./server.ts"',
  },
  {
    number: 52,
    title: "a file that may not be executed",
    typed: "causeway tools ./server.sh",
    code: 4,
    says:
      'Cannot start "./server.sh": it may not be executed; make the file executable, or start its interpreter with the file as argument; a script is started with its interpreter, as in "sh ./server.sh"',
    files: { "server.sh": "exit 0\n" },
  },
  {
    number: 53,
    title: "a folder",
    typed: "causeway tools ./here",
    code: 4,
    says: 'Cannot start "./here": it is a folder; name a program in it',
    files: { "here/": "" },
  },
  {
    number: 54,
    title: "a program that ends at once, and says why",
    typed: "causeway tools \"sh -c 'echo no API key >&2; exit 3'\"",
    code: 4,
    says: '"sh" ended with exit code 3 before it answered anything; its standard error ends with: no API key',
  },
  {
    number: 55,
    title: "a program that is no server",
    typed: 'causeway tools "echo hello"',
    code: 4,
    says:
      '"echo" ended with exit code 0 before it answered anything; it wrote nothing to its standard error; its output began with "hello", which is no MCP message',
  },
  {
    number: 56,
    title: "a server that logs to its output, and never answers",
    // Longer than a machine stands still: the program has to have its say.
    typed: "causeway tools \"sh -c 'echo listening; sleep 60'\" --timeout 6",
    code: 4,
    says:
      'Not done within 6000 ms: check that the server answers, or raise --timeout; its output began with "listening", which is no MCP message',
  },
  {
    number: 57,
    title: "a program that never answers",
    typed: "causeway tools 'sleep 60' --timeout 300ms",
    code: 4,
    says: "Not done within 300 ms: check that the server answers, or raise --timeout",
  },
  {
    number: 58,
    title: "a tool that takes too long",
    typed: 'causeway call "$PEER" slow --timeout 3',
    code: 4,
    says: "…check that the server answers, or raise --timeout",
  },
];
