/** Our client with all its checks on: `connect` of the runtime's own entry, tools listed, so that output schemas are known. */
import { connect } from "../../src/entry/local.ts";
import type { BenchClient, BenchTarget } from "./client.ts";
import { firstText } from "./client.ts";

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
