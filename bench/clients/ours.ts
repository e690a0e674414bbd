/** Our client with all its checks on: `connect` of the runtime's own entry, tools listed, so that output schemas are known. */
import { connect } from "../../src/entry/local.ts";
import type { BenchClient, BenchTarget } from "./client.ts";
import { currentRuntime, firstText } from "./client.ts";

type Ours = Awaited<ReturnType<typeof connect>>;

/** Makes our client. */
export function createClient(): BenchClient {
  let client: Ours | undefined;
  function connected(): Ours {
    if (client === undefined) throw new Error("not connected");
    return client;
  }
  return {
    async connect(target) {
      client = await connect(addressOf(target), {
        ...(target.era === "auto" ? {} : { verdict: { era: target.era } }),
        ...(target.kind === "http" ? await fetchOfRuntime() : {}),
      });
    },
    call: async (name, args, options) => firstText(await connected().callTool(name, args, options)),
    list: async () => (await connected().listTools()).tools.length,
    close: async () => await client?.close(),
  };
}

function addressOf(target: BenchTarget): string | { command: string; args: readonly string[] } {
  return target.kind === "http" ? target.url : { command: target.command, args: target.args };
}

/** On Node the Fetch over `node:http` that `./node` is made for. */
async function fetchOfRuntime(): Promise<Pick<NonNullable<Parameters<typeof connect>[1]>, "fetch">> {
  if (currentRuntime() !== "node") return {};
  const { createNodeFetch } = await import("../../src/runtime/node_fetch.ts");
  return { fetch: createNodeFetch().fetch };
}
