/** What of a sign-in is kept, and whom its secret goes to. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { KeptSignIn } from "../../../src/cli/auth/kept.ts";
import { readSignInOptions } from "../../../src/cli/auth/options.ts";
import { openKept, toKeep } from "../../../src/cli/auth/settings.ts";
import type { SignInSettings } from "../../../src/hub/config/sign_in_settings.ts";
import { server, TestWorld } from "./world.ts";

const [one, other] = ["https://one.example", "https://other.example"];

/** What is kept of a sign-in with these options, a config and an earlier sign-in, without what is undefined. */
function kept(
  options: Readonly<Record<string, string>>,
  own: SignInSettings = {},
  earlier?: Partial<KeptSignIn>,
  environment: Readonly<Record<string, string>> = {},
): Partial<KeptSignIn> {
  const given = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, [value]]));
  const { server: _, ...rest } = toKeep(
    { server, own },
    readSignInOptions(given),
    earlier && { server, ...earlier },
    environment,
  );
  return JSON.parse(JSON.stringify(rest));
}

/** The client that a kept sign-in is used as. */
async function clientOf(sign: Partial<KeptSignIn>, own?: SignInSettings, secret?: string) {
  const world = new TestWorld();
  world.environment = { CAUSEWAY_CLIENT_SECRET: secret };
  await openKept(world, world.openStore(), { server, ...sign }, own ? { own } : {});
  return JSON.parse(JSON.stringify(world.settings[0]?.client ?? null));
}

describe("what is kept of a sign-in", () => {
  test("the issuer: of the options, else of the config, which is not kept, else of last time", () => {
    assertEquals(kept({ issuer: other }, { issuers: [one] }, { issuer: one }), { issuer: other });
    assertEquals(kept({}, { issuers: [one] }, { issuer: other }), {});
    assertEquals(kept({}, {}, { issuer: other }), { issuer: other });
    assertEquals(kept({}, { client: { clientId: "a", issuer: one } }, { clientId: "b", issuer: other }), {
      clientId: "a",
      secretInEnvironment: false,
    });
  });

  test("the client of last time stays with its issuer, unless the config names both", () => {
    const earlier = { clientId: "a", issuer: other };
    assertEquals(kept({}, { issuers: [one] }, earlier), earlier);
    assertEquals(kept({ "client-id": "a" }, { client: { clientId: "b", issuer: one } }, earlier), {
      ...earlier,
      secretInEnvironment: false,
    });
    assertEquals(kept({}, { client: { clientId: "a", issuer: one } }, earlier), {
      clientId: "a",
      secretInEnvironment: false,
    });
    assertEquals(kept({ "client-id": "b" }, { issuers: [one] }, earlier), {
      clientId: "b",
      secretInEnvironment: false,
    });
  });

  test("the client: of the options alone, else of the config, else of last time; with it how it is known", () => {
    const url = "https://me.example/client.json";
    const own = { client: { clientId: "a" }, scopes: ["read"] };
    assertEquals(kept({ "client-metadata-url": url }, own), { clientMetadataUrl: url, scopes: ["read"] });
    assertEquals(kept({ scope: "write" }, own, { clientId: "b", clientSecretFile: "/b" }), {
      clientId: "a",
      secretInEnvironment: false,
      scopes: ["write"],
    });
    const earlier = { clientId: "b", clientSecretFile: "/b", legacy: true };
    assertEquals(kept({}, {}, earlier), earlier);
    assertEquals(kept({ "client-id": "c" }, {}, earlier), {
      clientId: "c",
      secretInEnvironment: false,
      legacy: true,
    });
  });
});

describe("a secret", () => {
  const config = { client: { clientId: "a", clientSecret: "of-the-config", issuer: one } };

  test("of a config goes to the issuer of that config, whichever one an earlier sign-in named", async () => {
    assertEquals(await clientOf({ clientId: "a" }, config), config.client);
    assertEquals(await clientOf({ clientId: "a", issuer: other }, config), config.client);
    const { issuer: _, ...unbound } = config.client;
    assertEquals(await clientOf({ clientId: "a", issuer: other }, { client: unbound }), { ...unbound, issuer: other });
    assertEquals(await clientOf({ clientId: "b", issuer: other }, config), { clientId: "b", issuer: other });
    assertEquals(await clientOf({}, config), null);
  });

  test("of the environment is not that of a client whose secret the config has, and so nowhere else", async () => {
    const environment = { CAUSEWAY_CLIENT_SECRET: "of-another" };
    for (const [id, isTheirs] of [["a", true], ["b", false]] as const) {
      const sign = kept({ "client-id": id }, config, undefined, environment);
      assertEquals(sign, { clientId: id, secretInEnvironment: !isTheirs });
      // As by the address of the server, where no config is looked at.
      const secret = isTheirs ? {} : { clientSecret: "of-another" };
      assertEquals(await clientOf(sign, undefined, "of-another"), { clientId: id, ...secret });
    }
  });

  test("of the environment is used for a sign-in that was kept before it was written down whose it is", async () => {
    assertEquals(await clientOf({ clientId: "a" }, undefined, "mine"), { clientId: "a", clientSecret: "mine" });
    // And signing in again, as one is told to, leaves it so.
    const again = kept({}, {}, { clientId: "a" }, { CAUSEWAY_CLIENT_SECRET: "mine" });
    assertEquals(await clientOf(again, undefined, "mine"), { clientId: "a", clientSecret: "mine" });
  });

  test("of a file goes to the issuer that was named with it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-settings-"));
    const clientSecretFile = join(folder, "secret");
    writeFileSync(clientSecretFile, "of-the-file\n");
    try {
      const sign = { clientId: "a", clientSecretFile, issuer: other };
      const client = { clientId: "a", clientSecret: "of-the-file", issuer: other };
      assertEquals([await clientOf(sign), await clientOf(sign, config)], [client, client]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
