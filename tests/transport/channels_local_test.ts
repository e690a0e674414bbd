import { fileURLToPath } from "node:url";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { ChannelTransport, createStdioChannel } from "../../mod.ts";
import { connect } from "../../src/entry/local.ts";
import { scriptCommand } from "../../tools/programs.ts";
import type { Spawn } from "../../src/ports.ts";
import { baseEnvironment as bunEnvironment, bunSpawn } from "../../src/runtime/bun.ts";
import { baseEnvironment as denoEnvironment, denoSpawn } from "../../src/runtime/deno.ts";
import { baseEnvironment as nodeEnvironment, nodeSpawn } from "../../src/runtime/node.ts";
import { textOf } from "../support/clients.ts";
import { transportSuite } from "../suites/transport.ts";

const [spawn, baseEnvironment]: [Spawn, typeof bunEnvironment] = "Bun" in globalThis
  ? [bunSpawn, bunEnvironment]
  : "Deno" in globalThis
  ? [denoSpawn, denoEnvironment]
  : [nodeSpawn, nodeEnvironment];

const program = scriptCommand();
const skip = program === undefined ? "there is neither Bun nor Deno to run the server with" : false;
const file = fileURLToPath(new URL("../servers/stdio_server.ts", import.meta.url));

function command(mode: string): { command: string; args: string[] } {
  const [first = "", ...rest] = program ?? [];
  return { command: first, args: [...rest, file, mode] };
}

transportSuite("stdio", () => {
  const transport = new ChannelTransport(() => createStdioChannel(command("modern"), { spawn, baseEnvironment }));
  return { transport, era: "modern" };
}, { skip });

describe("connect({ command })", () => {
  for (const mode of ["modern", "legacy", "both", "exit-on-probe"]) {
    test(`finds the era of a real process: ${mode}`, { skip }, async () => {
      // One that has not heard the question within it, and then ends because of it, counts as one that ended for good.
      await using client = await connect(command(mode), { timeouts: { probe: 20_000 } });
      const legacy = mode === "legacy" || mode === "exit-on-probe";
      assertEquals(client.era, legacy ? "legacy" : "modern");
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
    });
  }

  test("a process that is silent to the question is initialized after `timeouts.probe`", { skip }, async () => {
    await using client = await connect(command("silent-probe"), { timeouts: { probe: 200 } });
    assertEquals(client.era, "legacy");
    assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
  });
});
