/** A program that signs in by itself, as the config of a server says: in all commands. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { connect } from "../../../src/entry/local.ts";
import { createSigner } from "../../auth/world/jwt.ts";
import { assertFailure } from "../support.ts";
import { serveWorld } from "./served_world.ts";

const secret = "s3cret-of-the-program";

/** A protected server that knows two programs, and a config that names them. */
async function serve() {
  const served = await serveWorld();
  const key = await createSigner();
  const { url, issuer, folder, world } = served;
  const grantTypes = ["client_credentials"];
  world.server.clients.add({ id: "nightly", secret, grantTypes });
  world.server.clients.add({ id: "signer", keys: [key.jwk], grantTypes });
  const program = (fields: object) => ({ url, auth: { type: "client_credentials", issuer, ...fields } });
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", key.privateKey));
  const base64 = btoa(String.fromCharCode(...pkcs8));
  const config = join(folder, "mcp.json");
  writeFileSync(
    config,
    JSON.stringify({
      mcpServers: {
        secret: program({ clientId: "nightly", clientSecret: "${PROGRAM_SECRET}" }),
        pem: program({ clientId: "signer", privateKey: "${PROGRAM_PEM}", algorithm: "ES256" }),
        jwk: program({ clientId: "signer", privateKey: "${PROGRAM_JWK}" }),
        unsaid: program({ clientId: "signer", privateKey: "${PROGRAM_PEM}" }),
        plain: program({ clientId: "nightly", clientSecret: secret }),
      },
    }),
  );
  const env = {
    PROGRAM_SECRET: secret,
    PROGRAM_PEM: `-----BEGIN PRIVATE KEY-----\\n${base64}\\n-----END PRIVATE KEY-----`,
    PROGRAM_JWK: JSON.stringify(await crypto.subtle.exportKey("jwk", key.privateKey)),
  };
  return { ...served, env, config, dispose: () => served[Symbol.asyncDispose]() };
}

describe("a program of a config", { concurrency: false }, () => {
  test("signs in by its secret or its key, without anybody and without a home, and keeps nothing", async () => {
    const { run, env, config, dispose } = await serve();
    try {
      for (const name of ["secret", "pem", "jwk"]) {
        const listed = await run(["tools", name, "--config", config], undefined, {
          env: { ...env, CAUSEWAY_HOME: "" },
        });
        assertEquals([listed.code, listed.err], [0, ""], name);
        assert(listed.out.length > 0);
      }
      const searched = await run(["search", "a", "--servers", "secret,pem", "--config", config], undefined, { env });
      assertEquals([searched.code, searched.err.includes("not searched")], [0, false], searched.err);
    } finally {
      await dispose();
    }
  });

  test("what cannot be is told in one line, without secrets: a wrong secret, one in the file, a key without its algorithm", async () => {
    const { run, env, config, dispose } = await serve();
    const tools = (name: string, more: Record<string, string> = {}) =>
      run(["tools", name, "--config", config], undefined, { env: { ...env, ...more } });
    try {
      const wrong = await tools("secret", { PROGRAM_SECRET: "wr0ng-secret" });
      assertFailure(wrong, 3, /invalid_client.*; the config signs in as the program "nightly": correct its "auth"/);
      assertFailure(await tools("secret", { PROGRAM_SECRET: "" }), 2, /PROGRAM_SECRET/);
      assertFailure(await tools("plain"), 2, /auth\.clientSecret.*it stands in the file: put it into a variable/);
      assertFailure(await tools("unsaid"), 2, /expected "algorithm" beside a PEM text/);
      assertFailure(await tools("jwk", { PROGRAM_JWK: "{ no key" }), 2, /begins as a JWK does, and is no JSON/);
      const words = ["search", "a", "--servers", "secret,unsaid", "--config", config];
      const rest = await run(words, undefined, { env });
      assertEquals(rest.code, 0, "one that cannot be used does not keep the others away");
      assertMatch(rest.err, /^causeway: warning: Cannot sign in to "unsaid" as its config says: .*"algorithm"/);
      for (const command of ["login", "whoami", "logout"]) {
        const refused = await run([command, "secret", "--config", config], undefined, { env });
        assertFailure(refused, 2, /Nobody signs in to "secret": by its config the program "nightly" does/);
      }
      assertEquals([wrong.err.includes("wr0ng"), (await tools("plain")).err.includes(secret)], [false, false]);
    } finally {
      await dispose();
    }
  });

  test("serve and bridge are that program, too", async () => {
    const { run, env, config, dispose } = await serve();
    try {
      for (const words of [["bridge", "pem"], ["serve", "--servers", "pem"]]) {
        let child: { kill(signal: "SIGINT"): boolean } | undefined;
        let told = (_: string): void => {};
        const listening = new Promise<string>((resolve) => told = resolve);
        const ended = run([...words, "--config", config, "--port", "0"], (text, started) => {
          child = started;
          const [place] = /http:\/\/\S+\/mcp/.exec(text) ?? [];
          if (place !== undefined) told(place);
        }, { env });
        const place = await Promise.race([listening, ended]);
        assert(typeof place === "string", JSON.stringify(place));
        const client = await connect(place);
        assert((await client.listTools()).tools.length > 0);
        await client.close();
        child?.kill("SIGINT");
        assertStringIncludes((await ended).err, "interrupted");
      }
    } finally {
      await dispose();
    }
  });
});
