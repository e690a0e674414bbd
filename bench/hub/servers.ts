/** Many servers with many tools, the same in every run: words that meet often, and schemas of a usual size. */
import type { CatalogServer } from "../../src/hub/seam.ts";
import type { Tool } from "../../src/protocol/types.ts";

const verbs =
  "create list get update delete search find open close merge run start stop send read write export import copy"
    .split(" ");
const nouns =
  "issue repository pull request branch file folder message channel user team project task event calendar invoice payment customer order product dashboard alert metric log database table query"
    .split(" ");
const small = "the a of in for with and to by from".split(" ");

/** So many servers with so many tools each. */
export function makeServers(servers: number, tools: number): CatalogServer[] {
  const pick = picker();
  return Array.from({ length: servers }, (_, at) => ({
    name: `${pick(nouns)}-${at}`,
    listedAt: 0,
    tools: Array.from({ length: tools }, (_, number) => makeTool(number, pick)),
    resources: [],
    templates: [],
    prompts: [],
  }));
}

type Pick = (words: readonly string[]) => string;

function makeTool(number: number, pick: Pick): Tool {
  const noun = pick(nouns);
  const sentence = (words: number): string =>
    Array.from({ length: words }, (_, at) => pick(at % 2 ? small : at % 4 ? verbs : nouns)).join(" ");
  const property = (): [string, { type: string; description: string }] => [
    `${pick(nouns)}_${pick(["id", "name", "count", "filter"])}`,
    { type: "string", description: sentence(6) },
  ];
  return {
    name: `${pick(verbs)}_${noun}_${number}`,
    title: `${pick(verbs)} ${pick(small)} ${noun}`,
    description: `${sentence(30)}.`,
    inputSchema: { type: "object", properties: Object.fromEntries([1, 2, 3, 4, 5].map(property)), required: [] },
    annotations: { readOnlyHint: number % 2 === 0 },
  };
}

/** Picks as chance would, and always the same. */
function picker(): Pick {
  let state = 1;
  return (words) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return words[(state >>> 8) % words.length] ?? "";
  };
}
