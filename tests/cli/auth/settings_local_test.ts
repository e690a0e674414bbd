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
): Partial<KeptSignIn> {
  const given = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, [value]]));
  const { server: _, ...rest } = toKeep(
    { server, own },
    readSignInOptions(given),
    earlier && { server, ...earlier },
    {},
  );
  return JSON.parse(JSON.stringify(rest));
}

/** The client that a kept sign-in is used as. */
async function clientOf(sign: Partial<KeptSignIn>, own?: SignInSettings) {
  const world = new TestWorld();
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
    });
  });

  test("the client of last time stays with its issuer, unless the config names both", () => {
    const earlier = { clientId: "a", issuer: other };
    assertEquals(kept({}, { issuers: [one] }, earlier), earlier);
    assertEquals(kept({ "client-id": "a" }, { client: { clientId: "b", issuer: one } }, earlier), earlier);
    assertEquals(kept({}, { client: { clientId: "a", issuer: one } }, earlier), { clientId: "a" });
    assertEquals(kept({ "client-id": "b" }, { issuers: [one] }, earlier), { clientId: "b" });
  });

  test("the client: of the options alone, else of the config, else of last time; with it how it is known", () => {
    const url = "https://me.example/client.json";
    const own = { client: { clientId: "a" }, scopes: ["read"] };
    assertEquals(kept({ "client-metadata-url": url }, own), { clientMetadataUrl: url, scopes: ["read"] });
    assertEquals(kept({ scope: "write" }, own, { clientId: "b", clientSecretFile: "/b" }), {
      clientId: "a",
      scopes: ["write"],
    });
    const earlier = { clientId: "b", clientSecretFile: "/b", legacy: true };
    assertEquals(kept({}, {}, earlier), earlier);
    assertEquals(kept({ "client-id": "c" }, {}, earlier), { clientId: "c", legacy: true });
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
