/** What a program writes beside its messages: how its output began says why it is no server, and nothing of one that is connected. */
import { join } from "node:path";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { ConnectionClosedError, OutcomeUnknownError, PeerExitedError, RpcError, TimeoutError } from "../../../mod.ts";
import { type Served, serversOfConfigs } from "../../../src/cli/serve/servers.ts";
import { TestWorld } from "../auth/world.ts";
import { inPlace } from "../support.ts";

test("a program that is connected stays so when a call of it fails, and is another one once it has ended", async () => {
  await inPlace({ "app/mcp.json": '{ "mcpServers": { "a": { "command": "sh" } } }' }, async ({ root }) => {
    const wanted = { names: undefined, timeout: undefined, world: new TestWorld() };
    const found = await serversOfConfigs([join(root, "app", "mcp.json")], wanted);
    const { advise, onConnected, logger } = found.get("a") as Required<Served>;
    const say = (line: string): void => logger?.({ level: "warning", message: "no message", fields: { line } });
    const told = async (error: Error): Promise<boolean> => String(await advise(error)).includes("its output began");
    const ended = new PeerExitedError('"sh" ended with the exit code 3');
    onConnected();
    for (const error of [new TimeoutError("call", 1_000), new RpcError("no database", { rpcCode: -32603 })]) {
      assertEquals(await told(error), false);
      say("Goodbye");
      assertEquals(await told(ended), false, error.name);
      onConnected();
    }
    const broken = new ConnectionClosedError("it broke");
    for (const error of [ended, broken, new OutcomeUnknownError("who knows", { cause: broken })]) {
      onConnected();
      await told(error);
      say("Usage: sh");
      assertEquals(await told(ended), true, error.name);
    }
  });
});
