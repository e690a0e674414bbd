/** Mistakes in the words and options of the command. */
import type { Mistake } from "../mistake.ts";

export const words: readonly Mistake[] = [
  {
    number: 1,
    title: "nothing at all",
    typed: "causeway",
    code: 2,
    says:
      "A command is missing: use causeway tools <target> or causeway call <target> <tool>; causeway --help shows more",
  },
  {
    number: 2,
    title: "a command with a letter too few",
    typed: 'causeway tool "$PEER"',
    code: 2,
    says:
      'Unknown command "tool" (did you mean "tools"?): use causeway tools <target> or causeway call <target> <tool>; causeway --help shows more',
  },
  {
    number: 3,
    title: "a command of another program",
    typed: 'causeway list-tools "$PEER"',
    code: 2,
    says:
      'Unknown command "list-tools" (did you mean "tools"?): use causeway tools <target> or causeway call <target> <tool>; causeway --help shows more',
  },
  {
    number: 4,
    title: "an option with a typo",
    typed: 'causeway tools "$PEER" --jsno',
    code: 2,
    says: 'Unknown option "--jsno" (did you mean "--json"?): causeway help tools lists those that there are',
  },
  {
    number: 5,
    title: "an option that is nobody's",
    typed: "causeway servers list --frobnicate",
    code: 2,
    says: 'Unknown option "--frobnicate": causeway help servers list lists those that there are',
  },
  {
    number: 6,
    title: "an option of another command",
    typed: 'causeway tools "$PEER" --output tools.json',
    code: 2,
    says: "--output belongs to causeway read and types: leave it out",
  },
  {
    number: 7,
    title: "an option without its value",
    typed: 'causeway tools "$PEER" --config',
    code: 2,
    says: 'The option "--config" needs a value: write --config <file>',
  },
  {
    number: 8,
    title: "an option whose value was forgotten before the next",
    typed: 'causeway tools "$PEER" --timeout --json',
    code: 2,
    says: 'The option "--timeout" needs a value: write --timeout <time>',
  },
  {
    number: 9,
    title: "a value for an option that takes none",
    typed: 'causeway tools "$PEER" --json=yes',
    code: 2,
    says: 'The option "--json" takes no value: write it alone',
  },
  {
    number: 10,
    title: "a time that is none",
    typed: 'causeway tools "$PEER" --timeout soon',
    code: 2,
    says: 'Cannot read --timeout "soon": write seconds, or a unit, as in 30, 500ms, 2m',
  },
  {
    number: 11,
    title: "a time that is longer than a timer can wait",
    typed: 'causeway tools "$PEER" --timeout 99999m',
    code: 2,
    says: 'Cannot wait as long as --timeout "99999m": write at most 24 days, or leave it out to wait without end',
  },
  {
    number: 12,
    title: "an argument of the tool as an option",
    typed: 'causeway call "$PEER" echo --al=hello',
    code: 2,
    says: 'Unknown option "--al": an argument is written without dashes, as in al=hello',
  },
  {
    number: 13,
    title: "an option before its command",
    typed: "causeway --args '{}' call \"$PEER\" echo",
    code: 2,
    says: 'The option "--args" stands before its command: write it behind "call"',
  },
  {
    number: 14,
    title: "a header without a colon",
    typed: "causeway tools $HTTP/page --header 'Authorization Bearer t0p-s3cret'",
    code: 2,
    says: "Cannot read a --header: write it like 'Name: value', in plain characters",
  },
  {
    number: 15,
    title: "a header for a program",
    typed: "causeway tools \"$PEER\" --header 'A: b'",
    code: 2,
    says: 'Cannot send --header to "…": a program has no headers; give it variables instead',
  },
  {
    number: 16,
    title: "quotes of a word processor",
    typed: "causeway tools “https://example.com/mcp”",
    code: 2,
    says:
      'Cannot read "“https://example.com/mcp”": it begins with a typographic quote, which no shell knows; type " or \'',
  },
  {
    number: 17,
    title: "help of a command that is not there",
    typed: "causeway help cal",
    code: 2,
    says: 'Unknown command "cal" (did you mean "call"?): causeway --help lists them',
  },
  {
    number: 18,
    title: "a second word too many",
    typed: "causeway servers list all",
    code: 2,
    says: 'Unexpected "all" after "list": leave it out',
  },
];
