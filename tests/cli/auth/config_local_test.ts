/** What a config says of signing in, for the commands. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { findSignIn, withAdvice } from "../../../src/cli/auth/use.ts";
import { resolveTarget } from "../../../src/cli/target/target.ts";
import { UnauthorizedError } from "../../../src/protocol/mod.ts";
import { freePort } from "../../support/free_port.ts";
import { runCommand, server, TestWorld } from "./world.ts";

/** A config of these servers, all at the one address. */
async function withFile(
  entries: Readonly<Record<string, object>>,
  use: (config: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-auth-"));
  const config = join(folder, "c.json");
  const servers = Object.entries(entries).map(([name, entry]) => [name, { url: server, ...entry }]);
  writeFileSync(config, JSON.stringify({ servers: Object.fromEntries(servers) }));
  try {
    await use(config);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("a sign-in that a config describes", { concurrency: false }, () => {
  const client = { clientId: "mine", clientSecret: "s3cret-of-the-config", issuer: "https://as.example" };

  test("login, tools and logout are that client, and its secret is kept nowhere", async () => {
    await withFile({ mine: { oauth: { ...client, scopes: ["read"] } } }, async (config) => {
      const world = new TestWorld();
      const run = await runCommand(["login", "mine", "--config", config, "--device"], world);
      assertEquals([run.code, world.asked], [0, [{ server, scopes: ["read"] }]], run.err);
      assertEquals(world.settings[0]?.client, client);
      assertEquals([...world.store.texts.values()].join().includes(client.clientSecret), false);
      world.settings.length = 0;
      const found = await findSignIn(world, await resolveTarget("mine", { config, headers: {} }));
      assertEquals([found?.kept.clientId, world.settings[0]?.client], ["mine", client]);
      // By its address alone nothing of the config is known.
      await findSignIn(world, { target: server, headers: {}, hint: "" });
      assertEquals(world.settings[1]?.client, { clientId: "mine", clientSecret: undefined });
      assertEquals((await runCommand(["logout", "mine", "--config", config], world)).code, 0);
      assertEquals(world.settings[2]?.client, client);
    });
  });

  test("what stands on the command line wins over it", async () => {
    await withFile({ mine: { oauth: { ...client, scopes: ["read"] } } }, async (config) => {
      const world = new TestWorld();
      const words = ["login", "mine", "--config", config, "--device", "--client-id", "other", "--scope", "write"];
      assertEquals((await runCommand(words, world)).code, 0);
      assertEquals(world.settings[0]?.client, { clientId: "other", clientSecret: undefined });
      assertEquals(world.asked, [{ server, scopes: ["write"] }]);
    });
  });

  test("the browser comes back to where the client is registered with, letter by letter", async () => {
    const port = await freePort();
    const redirectUri = `http://localhost:${port}/back`;
    const entries = {
      uri: { oauth: { redirectUri } },
      port: { oauth: { callbackPort: port } },
      far: { oauth: { redirectUri: "https://app.example/back" } },
    };
    await withFile(entries, async (config) => {
      for (const [name, place] of [["uri", redirectUri], ["port", `http://localhost:${port}/callback`]] as const) {
        const world = new TestWorld();
        world.visit = async (address) => {
          await (await fetch(`${address.replace("localhost", "127.0.0.1")}?code=c&state=own-state`)).text();
        };
        const run = await runCommand(["login", name, "--config", config], world);
        assertEquals([run.code, world.settings[0]?.redirectUri], [0, place], run.err);
      }
      const world = new TestWorld();
      const far = await runCommand(["login", "far", "--config", config], world);
      assertEquals([far.code, world.settings], [2, []]);
      assertMatch(
        far.err,
        /Cannot sign in with "redirectUri" "https:\/\/app\.example\/back" of the config: write http/,
      );
    });
  });

  test('"none": nobody signs in, and a sign-in that is kept is not used', async () => {
    await withFile({ off: { auth: "none" }, on: {} }, async (config) => {
      const world = new TestWorld();
      assertEquals((await runCommand(["login", "on", "--config", config, "--device"], world)).code, 0);
      const refused = await runCommand(["login", "off", "--config", config, "--device"], world);
      assertEquals(refused.code, 2);
      assertMatch(refused.err, /Cannot sign in to "off": its config says that nobody does; correct its "auth" first/);
      const find = async (name: string) => await findSignIn(world, await resolveTarget(name, { config, headers: {} }));
      assertEquals([await find("off"), (await find("on")) !== undefined], [undefined, true]);
    });
  });

  test("who has to sign in is told to do it by the name that says as what", async () => {
    await withFile({ mine: { oauth: client }, plain: {} }, async (config) => {
      const advice = async (name: string): Promise<string> => {
        const destination = await resolveTarget(name, { config, headers: {} });
        const error = await withAdvice(
          new UnauthorizedError("no", { status: 401, challenge: "" }),
          destination,
          undefined,
        );
        assert(error instanceof Error);
        return error.message;
      };
      // A folder of Windows has no plain name.
      const words = /^[\w./-]*$/.test(config) ? `mine --config ${config}` : server;
      assert((await advice("mine")).startsWith(`Sign in first: causeway login ${words},`), await advice("mine"));
      assert((await advice("plain")).startsWith(`Sign in first: causeway login ${server},`));
    });
  });
});
