/** Authorization servers that know clients alone which somebody made there: GitHub, Google, Slack, Entra and many more. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { refusal } from "../../auth/world/faults.ts";
import { freePort } from "../../support/free_port.ts";
import { serveWorld } from "./served_world.ts";

describe("causeway login where a client has to be made first", () => {
  test("says how, and what it says works", async () => {
    await using served = await serveWorld();
    const { world, url, issuer, run, login } = served;
    world.server.knobs.registration = false;
    const secret = "(with --client-secret-file <file> where it has a secret)";
    const cannot = `causeway: Cannot register at "${issuer}": it takes no registrations; make a client there`;
    const alone = await run(["login", url, "--no-open"]);
    assertEquals(alone.code, 3);
    const told = "that comes back to http://127.0.0.1:8085/callback, and add --client-id <id> --port 8085";
    assertEquals(alone.err, `${cannot} ${told} ${secret}\n`);
    const port = String(await freePort());
    const redirectUri = `http://127.0.0.1:${port}/callback`;
    const chosen = await run(["login", url, "--no-open", "--port", port]);
    assertEquals(chosen.err, `${cannot} that comes back to ${redirectUri}, and add --client-id <id> ${secret}\n`);
    const device = await run(["login", url, "--device"]);
    assertEquals(device.err, `${cannot}, and add --client-id <id> ${secret}\n`);
    world.server.clients.add({ id: "made-by-hand", redirectUris: [redirectUri] });
    const done = await login("--client-id", "made-by-hand", "--port", port);
    assertEquals([done.code, done.out.includes("client made-by-hand")], [0, true], done.err);
  });

  test("says how too where it refuses to register this one, and not where it is down", async () => {
    await using served = await serveWorld();
    const { world, url, issuer, run } = served;
    const why = "Policy 'Trusted Hosts' rejected request";
    world.fault("/register", refusal("insufficient_scope", 403, why));
    const refused = await run(["login", url, "--device"]);
    const said =
      `Cannot register at "${issuer}": it answered 403 insufficient_scope ${why}; where it registers nobody, `;
    const how =
      "make a client there, and add --client-id <id> (with --client-secret-file <file> where it has a secret)";
    assertEquals([refused.code, refused.err], [3, `causeway: ${said}${how}\n`]);
    world.fault("/register", refusal("server_error", 503));
    const down = await run(["login", url, "--device"]);
    assertEquals(down.err.includes("make a client"), false, down.err);
  });

  test("a client of one name at two of them: says how, and what it says works", async () => {
    await using one = await serveWorld();
    await using two = await serveWorld();
    const port = await freePort();
    const redirectUri = `http://127.0.0.1:${port}/callback`;
    for (const { world } of [one, two]) world.server.clients.add({ id: "my-app", redirectUris: [redirectUri] });
    const options = ["--client-id", "my-app", "--port", String(port)];
    assertEquals((await one.login(...options)).code, 0);
    const env = { CAUSEWAY_HOME: one.folder };
    const refused = await two.run(["login", two.url, "--no-open", ...options], undefined, { env });
    assertEquals(refused.code, 3);
    const why = `Cannot use the client "my-app" at "${two.issuer}": it belongs to "${one.issuer}"`;
    assertEquals(refused.err, `causeway: ${why}; name each with --issuer\n`);
    const file = join(two.folder, "config.json");
    const oauth = { clientId: "my-app", issuer: two.issuer, redirectUri };
    writeFileSync(file, JSON.stringify({ mcpServers: { two: { url: two.url, oauth } } }));
    const page = async (text: string): Promise<void> => {
      const address = /open this page:\n(\S+)\n/.exec(text)?.[1];
      if (address !== undefined) await (await fetch(await two.world.person.follow(address))).text();
    };
    const third = ["login", two.url, "--no-open", ...options, "--issuer", two.issuer];
    assertEquals((await two.run(third, (text) => void page(text), { env })).code, 0);
    assertEquals((await two.run(["logout", two.url], undefined, { env })).code, 0);
    const named = ["two", "--config", file];
    const done = await two.run(["login", ...named, "--no-open"], (text) => void page(text), { env });
    assertEquals(done.code, 0, done.err);
    assertEquals((await two.run(["tools", ...named], undefined, { env })).code, 0);
  });
});

describe("causeway login at an authorization server that names itself otherwise than the resource does", () => {
  test("says how, and what it says works, from then on", async () => {
    await using served = await serveWorld();
    const { world, url, issuer, run, login } = served;
    world.resource.knobs.metadata = { authorization_servers: [`${issuer}/`] };
    const refused = await run(["login", url, "--no-open"]);
    assertEquals(refused.code, 3);
    assertEquals(refused.err.endsWith(`is "${issuer}"; if that is right, name it with --issuer\n`), true, refused.err);
    assertEquals((await login("--issuer", issuer)).code, 0);
    assertEquals((await run(["tools", url])).code, 0);
    assertEquals((await login()).code, 0);
    assertEquals((await run(["login", url, "--issuer", "mine"])).code, 2);
  });

  test("a config names it", async () => {
    await using served = await serveWorld();
    const { world, url, issuer, folder, run } = served;
    world.resource.knobs.metadata = { authorization_servers: [`${issuer}/`] };
    const file = join(folder, "config.json");
    writeFileSync(file, JSON.stringify({ mcpServers: { one: { url, oauth: { issuer } } } }));
    const page = async (text: string): Promise<void> => {
      const address = /open this page:\n(\S+)\n/.exec(text)?.[1];
      if (address !== undefined) await (await fetch(await world.person.follow(address))).text();
    };
    const done = await run(["login", "one", "--config", file, "--no-open"], (text) => void page(text));
    assertEquals(done.code, 0, done.err);
    assertEquals((await run(["tools", "one", "--config", file])).code, 0);
  });

  test("what a config names counts more than what was named before", async () => {
    await using served = await serveWorld();
    const { world, url, issuer, folder, run, login } = served;
    assertEquals((await login("--issuer", "https://old.example.com")).code, 0);
    const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
    world.server.clients.add({ id: "my-app", redirectUris: [redirectUri] });
    const file = join(folder, "config.json");
    const oauth = { clientId: "my-app", issuer, redirectUri };
    writeFileSync(file, JSON.stringify({ mcpServers: { one: { url, oauth } } }));
    const page = async (text: string): Promise<void> => {
      const address = /open this page:\n(\S+)\n/.exec(text)?.[1];
      if (address !== undefined) await (await fetch(await world.person.follow(address))).text();
    };
    const done = await run(["login", "one", "--config", file, "--no-open"], (text) => void page(text));
    assertEquals(done.code, 0, done.err);
  });

  test("but the client of an earlier sign-in stays with the issuer that was named with it", async () => {
    await using one = await serveWorld();
    await using two = await serveWorld();
    const { url, folder, run, login } = one;
    const port = String(await freePort());
    const redirectUris = [`http://127.0.0.1:${port}/callback`];
    for (const { world } of [one, two]) {
      world.server.clients.add({ id: "my-app", secret: "s3cret-of-mine", redirectUris });
    }
    const secret = join(folder, "secret");
    writeFileSync(secret, "s3cret-of-mine\n");
    const options = ["--client-id", "my-app", "--port", port, "--client-secret-file", secret];
    const done = await login(...options, "--issuer", one.issuer);
    assertEquals(done.code, 0, done.err);
    one.world.resource.knobs.metadata = { authorization_servers: [two.issuer] };
    const file = join(folder, "config.json");
    const page = async (text: string): Promise<void> => {
      const address = /open this page:\n(\S+)\n/.exec(text)?.[1];
      if (address !== undefined) await (await fetch(await two.world.person.follow(address))).text();
    };
    const why = `the client is registered with "${one.issuer}"`;
    for (const oauth of [{ issuer: "https://other.example.com" }, { clientId: "other", issuer: two.issuer }]) {
      writeFileSync(file, JSON.stringify({ mcpServers: { one: { url, oauth } } }));
      const words = ["login", "one", "--config", file, "--no-open"];
      const again = await run([...words, ..."clientId" in oauth ? options : []], (text) => void page(text));
      assertEquals([again.code, again.err.includes(why)], [3, true], again.err);
    }
    assertEquals(two.world.log.count("/token"), 0);
  });
});

describe("causeway login at an authorization server that does not say all that it has to", () => {
  test("says how, and what it says works: in all commands, and when the token is over", async () => {
    await using served = await serveWorld();
    const { world, url, issuer, folder, run } = served;
    const port = String(await freePort());
    const redirectUri = `http://127.0.0.1:${port}/callback`;
    Object.assign(world.server.knobs, {
      metadata: { code_challenge_methods_supported: undefined },
      resources: [],
      needsResource: false,
    });
    world.resource.knobs.takesUnbound = true;
    world.server.clients.add({ id: "my-app", redirectUris: [redirectUri] });
    const refused = await run(["login", url, "--no-open", "--client-id", "my-app", "--port", port]);
    const say = '"oauth": { "issuer": …, "metadata": { "code_challenge_methods_supported": ["S256"] } }';
    assertEquals(refused.code, 3);
    assertEquals(
      refused.err.endsWith(`; if it knows PKCE all the same, say so in a config: ${say}\n`),
      true,
      refused.err,
    );
    const file = join(folder, "config.json");
    const said = { issuer, metadata: { code_challenge_methods_supported: ["S256"] }, resource: "" };
    const oauth = { clientId: "my-app", redirectUri, ...said };
    writeFileSync(file, JSON.stringify({ mcpServers: { one: { url, oauth } } }));
    const page = async (text: string): Promise<void> => {
      const address = /open this page:\n(\S+)\n/.exec(text)?.[1];
      if (address !== undefined) await (await fetch(await world.person.follow(address))).text();
    };
    const one = ["one", "--config", file];
    const done = await run(["login", ...one, "--no-open"], (text) => void page(text));
    assertEquals(done.code, 0, done.err);
    assertEquals((await run(["tools", ...one])).code, 0);
    // What was found is kept with the sign-in: its address is enough from then on.
    assertEquals((await run(["tools", url])).code, 0);
  });

  test("a program of a config gets its token there too", async () => {
    await using served = await serveWorld();
    const { world, url, issuer, folder, run } = served;
    Object.assign(world.server.knobs, { resources: [], needsResource: false });
    world.resource.knobs.takesUnbound = true;
    const grantTypes = ["client_credentials"];
    world.server.clients.add({ id: "nightly", secret: "s3cret-of-nightly", grantTypes });
    const file = join(folder, "config.json");
    const auth = { type: "client_credentials", clientId: "nightly", clientSecret: "${NIGHTLY}", issuer };
    const servers = { bare: { url, auth }, known: { url, auth: { ...auth, resource: "" } } };
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    const env = { NIGHTLY: "s3cret-of-nightly" };
    const refused = await run(["tools", "bare", "--config", file], undefined, { env });
    assertEquals([refused.code, refused.err.includes("invalid_target")], [3, true], refused.err);
    const listed = await run(["tools", "known", "--config", file], undefined, { env });
    assertEquals(listed.code, 0, listed.err);
  });
});
