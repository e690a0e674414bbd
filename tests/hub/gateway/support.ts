/**
 * What the tests of the gateway share: a client in front of a gateway, in front of a hub, in front of servers; all in memory.
 *
 * @module
 */
import { ChannelTransport, connect, createMemoryPair } from "../../../mod.ts";
import type { Client, ClientOptions, ElicitRequest, Era } from "../../../mod.ts";
import { createGateway, createRelay } from "../../../src/hub/gateway/mod.ts";
import type { Gateway, GatewayHub, GatewayOptions } from "../../../src/hub/gateway/mod.ts";
import type { Hub } from "../../../src/hub/hub.ts";
import type { HubOptions } from "../../../src/hub/options.ts";
import type { HubConfig } from "../../../src/hub/seam.ts";
import { McpServer, serveChannel } from "../../../src/server/mod.ts";
import type { TaskSupport } from "../../../src/server/mod.ts";
import { inMemory, openHub } from "../support.ts";

export { inMemory, textOf } from "../support.ts";

/** A gateway, its hub, and a way to join clients to it. */
export interface Scene extends AsyncDisposable {
  readonly hub: Hub;
  readonly gateway: Gateway;
  /** One more client in front. `heard` gets each text that the gateway sends it. */
  join(era: Era, options?: ClientOptions & { readonly heard?: string[] }): Promise<Client>;
}

/** What stands around the hub of a scene. */
export interface SceneOptions {
  /** Puts something around the hub. */
  readonly around?: (hub: Hub) => GatewayHub;
  /** The tasks that are served in front. */
  readonly serves?: TaskSupport;
}

/** Puts a gateway in front of servers. */
export async function open(
  config: HubConfig,
  options: GatewayOptions = {},
  { around = (hub) => hub, serves, ...hubOptions }: HubOptions & SceneOptions = {},
): Promise<Scene> {
  const relay = createRelay();
  const { handlers, features, middleware, tasks } = relay;
  const hub = await openHub(config, { handlers, features, middleware, tasks, ...hubOptions });
  const gateway = createGateway(around(hub), { relay, ...options });
  const clients: Client[] = [];
  return {
    hub,
    gateway,
    async join(era, { heard, ...more } = {}) {
      const transport = new ChannelTransport(() => {
        const [near, far] = createMemoryPair();
        const write = far.write.bind(far);
        far.write = (texts) => {
          heard?.push(...texts);
          return write(texts);
        };
        void serveChannel(gateway, far, { eras: [era], tasks: serves });
        return near;
      });
      const client = await connect(transport, more);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      gateway.close();
      await hub.close();
    },
  };
}

/** Both eras in front, both behind. */
export const pairs: readonly (readonly [front: Era, back: Era])[] = [
  ["modern", "modern"],
  ["modern", "legacy"],
  ["legacy", "modern"],
  ["legacy", "legacy"],
];

/** A server that does all that can go through a gateway. `runs` counts what its asking tool did before it asked. */
export function createAll(name = "all"): { readonly server: McpServer; readonly runs: { count: number } } {
  const server = new McpServer({ name, version: "1.0.0" }, { instructions: `How to use ${name}` });
  const runs = { count: 0 };
  server.tool("sum", {
    title: "Sum",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
    annotations: { readOnlyHint: true },
  }, ({ a, b }) => ({ sum: Number(a) + Number(b) }));
  server.tool("who", {}, (_, { meta, auth }) => JSON.stringify({ meta, auth }));
  server.tool("fails", {}, () => ({ error: "it failed" }));
  server.tool("asks", {}, async (_, context) => {
    runs.count++;
    const form: ElicitRequest["requestedSchema"] = {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    };
    const first = await context.elicit({ message: "Who are you?", requestedSchema: form });
    const second = await context.elicit({ message: `Really ${first.content?.name}?`, requestedSchema: form });
    return `${first.content?.name}, ${second.content?.name}`;
  });
  server.tool("samples", {}, async (_, context) => {
    const { content } = await context.sample({
      messages: [{ role: "user", content: { type: "text", text: "Hello" } }],
      maxTokens: 10,
    });
    const [block] = [content].flat();
    return block?.type === "text" ? block.text : "no text";
  });
  server.tool("looks", {}, async (_, context) => (await context.roots()).map(({ uri }) => uri).join());
  server.tool("tells", {}, async (_, context) => {
    for (let progress = 1; progress <= 3; progress++) context.progress({ progress, total: 3, message: `${progress}` });
    context.log("warning", `a word of ${name}`);
    // What is told on its way has to arrive before the answer.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return "told";
  });
  server.tool("links", {}, () => ({
    content: [{ type: "resource_link", uri: `made://${name}/1`, name: "made" }],
  }));
  server.tool("hangs", {}, (_, { signal }) =>
    new Promise((resolve) =>
      signal.addEventListener("abort", () => {
        runs.count--;
        resolve("stopped");
      })
    ));
  server.resource("note://shared", { name: "shared" }, () => `shared, of ${name}`);
  server.resource(`note://${name}/own`, { name: "own", cache: { ttlMs: 60_000, cacheScope: "public" } }, () => name);
  server.template(`day://${name}/{day}`, { complete: { day: (value) => [`${value}day`] } }, (_, { day }) => `${day}`);
  server.template(`made://${name}/{id}`, {}, (_, { id }) => `made ${id}`);
  server.prompt(
    "greet",
    { arguments: { who: { required: true, complete: (value) => [`${value}!`] } } },
    ({ who }) => `hello ${who}, I am ${name}`,
  );
  return { server, runs };
}

/** A server of {@linkcode createAll} behind a pipe. */
export function all(name: string, era: Era): ReturnType<typeof createAll> & ReturnType<typeof inMemory> {
  const made = createAll(name);
  const memory = inMemory(made.server, { eras: [era] });
  return Object.assign(memory, made);
}
