import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { freePort } from "../../support/free_port.ts";
import { assertFailure } from "../support.ts";
import type { Run } from "../support.ts";
import { serveWorld } from "./served_world.ts";
import type { ServedWorld } from "./served_world.ts";

/** No token, code, state or secret that the world ever gave out may be in what the command says. */
function assertNoSecrets({ world }: ServedWorld, runs: readonly Run[]): void {
  const said = runs.map(({ out, err }) => out + err.replace(/^https?:\S+$/gm, "")).join("");
  for (const secret of world.secrets) assertEquals([secret, said.includes(secret)], [secret, false]);
  assert(world.secrets.length > 0);
}

describe("causeway login, tools, call, whoami, logout against a real server", () => {
  test("from a refusal to a call, and back", async () => {
    await using served = await serveWorld();
    const { url, issuer, world, folder, run } = served;
    const before = await run(["tools", url]);
    assertFailure(before, 3, new RegExp(`Sign in first: causeway login ${url}, or send credentials with --header`));
    assertEquals(world.log.all.filter(({ url }) => url.origin === issuer).length, 0);

    const login = await served.login("--scope", "files:read");
    assertEquals(login.code, 0, login.err);
    assertMatch(
      login.out,
      new RegExp(
        `^Signed in to ${url} {2}issuer ${issuer}, client \\S+, scopes files:read offline_access, until 2\\d{3}-.*, prolonged by itself\n$`,
      ),
    );
    const tools = await run(["tools", url]);
    assertEquals([tools.code, tools.err], [0, ""]);
    const call = await run(["call", url, "echo", "text=hello"]);
    assertEquals([call.code, call.out], [0, "echo: hello\n"], call.err);

    const own = await run(["tools", url, "--header", "Authorization: Bearer of-my-own"]);
    assertFailure(own, 3, /401/);
    const whoami = await run(["whoami"]);
    assertMatch(whoami.out, new RegExp(`^${url} {2}issuer ${issuer}, client `));
    assertEquals((await run(["whoami", url])).out, whoami.out);

    const kept = join(folder, "auth");
    if (process.platform !== "win32") {
      for (const name of readdirSync(kept)) assertEquals([name, statSync(join(kept, name)).mode & 0o077], [name, 0]);
    }
    const logout = await run(["logout", url]);
    assertEquals(logout, {
      code: 0,
      out: `Signed out of ${url}: the tokens are forgotten here, and revoked at ${issuer}\n`,
      err: "",
    });
    assertEquals((await run(["logout", url])).out, `Not signed in to ${url}: there was nothing to forget\n`);
    assertFailure(await run(["tools", url]), 3, /Sign in first: causeway login/);
    assertNoSecrets(served, [before, login, tools, call, own, whoami, logout]);
  });

  test("tokens that end are renewed; when they cannot be, the line says what to do", async () => {
    await using served = await serveWorld();
    const { url, world, run } = served;
    world.server.knobs.lifetime = 1;
    assertEquals((await served.login()).code, 0);
    world.server.knobs.lifetime = 300;
    await world.clock.advance(2_000);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const renewed = await run(["call", url, "echo", "text=again"]);
    assertEquals([renewed.code, renewed.out], [0, "echo: again\n"], renewed.err);
    await world.clock.advance(90_000_000);
    const dead = await run(["tools", url]);
    assertFailure(dead, 3, new RegExp(`^causeway: Sign in first: causeway login ${url}\n`));
    const again = await served.login();
    assertEquals([again.code, (await run(["tools", url])).code], [0, 0], again.err);
    assertNoSecrets(served, [renewed, dead, again]);
  });

  test("a client that the server knows: its secret is read anew each time, and renews tokens", async () => {
    await using served = await serveWorld();
    const { url, world, run, folder } = served;
    const file = join(folder, "secret");
    writeFileSync(file, "secret-of-the-client");
    const port = await freePort();
    const redirectUris = [`http://127.0.0.1:${port}/callback`];
    world.server.clients.add({ id: "mine", secret: "secret-of-the-client", redirectUris });
    world.server.knobs.registration = false;
    world.server.knobs.lifetime = 1;
    const login = await served.login("--client-id", "mine", "--client-secret-file", file, "--port", String(port));
    assertEquals(login.code, 0, login.err);
    assertMatch(login.out, /, client mine, /);
    world.server.knobs.lifetime = 300;
    await world.clock.advance(2_000);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const renewed = await run(["tools", url]);
    assertEquals(renewed.code, 0, renewed.err);
    assertEquals((login.out + login.err + renewed.out).includes("secret-of-the-client"), false);
    // The options of the first time count again.
    assertEquals((await served.login()).code, 0);
    rmSync(file);
    assertFailure(
      await run(["tools", url]),
      2,
      /Cannot read the file ".*secret": there is no such file; causeway login/,
    );
    assertMatch((await run(["logout", url])).out, /did not revoke them, so they end by themselves\n$/);
  });

  test("a call that needs more names the scopes to ask for", async () => {
    await using served = await serveWorld();
    const { url, world, run } = served;
    assertEquals((await served.login("--scope", "files:read")).code, 0);
    world.resource.knobs.needs = ({ name }) => name === "write" ? ["files:write"] : [];
    const refused = await run(["call", url, "write", "text=x"]);
    assertFailure(refused, 3, new RegExp(`Sign in first: causeway login ${url} --scope files:write\n`));
    assertEquals((await served.login("--scope", "files:write")).code, 0);
    const done = await run(["call", url, "write", "text=x"]);
    assertEquals(done.code, 0, done.err);
  });

  test("--device, with a code that is entered elsewhere", async () => {
    await using served = await serveWorld();
    const { url, world, run } = served;
    world.server.knobs.device = { interval: 1, lifetime: 600, answers: [], isComplete: true };
    const login = await run(["login", url, "--device"], (text) => {
      const code = /enter the code: (\S+)/.exec(text)?.[1];
      if (code === undefined) return;
      world.server.devices.decide(code, "approved");
      void world.clock.advance(20_000);
    });
    assertEquals(login.code, 0, login.err);
    assertMatch(
      login.err,
      /^To sign in to .*, open http:\S+ on any device and enter the code: \S+\nThe same with the code/,
    );
    assertEquals((await run(["tools", url])).code, 0);
    assertNoSecrets(served, [login]);
    await world.clock.advance(90_000_000);
    assertFailure(
      await run(["tools", url]),
      3,
      new RegExp(`^causeway: Sign in first: causeway login ${url} --device\n`),
    );
  });

  test("an answer that is of no sign-in is told once, and the person may still come back", async () => {
    await using served = await serveWorld();
    const { world, url, run } = served;
    const done = await run(["login", url, "--no-open"], async (text) => {
      const page = /open this page:\n(\S+)\n/.exec(text)?.[1];
      if (page === undefined) return;
      const redirectUri = new URL(page).searchParams.get("redirect_uri") ?? "";
      for (const more of ["", "&state=of-another"]) {
        const query = `error=invalid_request&error_description=AADSTS50011:%1b[31m+no+redirect+URI${more}`;
        await (await fetch(`${redirectUri}?${query}`)).text();
      }
      await (await fetch(await world.person.follow(page))).text();
    });
    assertEquals(done.code, 0, done.err);
    const told = done.err.split("\n").filter((line) => line.startsWith("causeway: "));
    assertEquals(told.length, 1, done.err);
    assertMatch(
      told[0] ?? "",
      /^causeway: an answer with no state came back, and was left aside: invalid_request: AADSTS/,
    );
    assertEquals(done.err.includes("\u001b"), false);
  });

  test("a server that refuses the tokens of its own authorization server is told with its words", async () => {
    await using served = await serveWorld();
    const { world, url, run } = served;
    assertEquals((await served.login()).code, 0);
    const challenge = 'Bearer error="invalid_token", error_description="The audience is not this server"';
    Object.assign(world.resource.knobs, { challenges: [challenge], metadata: { resource: url }, resource: "none" });
    const refused = await run(["tools", url]);
    const why = 'it refused the token: "The audience is not this server"';
    assertEquals([refused.code, refused.err], [3, `causeway: Sign in first: causeway login ${url}; ${why}\n`]);
    assertNoSecrets(served, [refused]);
  });

  test("what the provider refuses is one line; a registration that is refused too", async () => {
    await using served = await serveWorld();
    const { world, url } = served;
    world.server.knobs.authorizationError = { error: "access_denied", error_description: "not\u001b[31m you" };
    const denied = await served.login();
    assertEquals([denied.code, denied.out], [3, ""]);
    assertMatch(denied.err, /\ncauseway: .*access_denied: not [^\p{Cc}]{0,5}you\n$/u);
    assertEquals(denied.err.includes("\u001b"), false);
    world.server.knobs.registration = false;
    assertFailure(await served.run(["login", url, "--no-open"]), 3, /takes no registrations/);
  });

  test("the browser is opened with the address alone, and Ctrl-C ends the wait", {
    skip: process.platform !== "linux" && "no xdg-open",
  }, async () => {
    await using served = await serveWorld();
    const { folder, url, run, world } = served;
    const seen = join(folder, "seen");
    const opener = join(folder, "xdg-open");
    writeFileSync(
      opener,
      `#!/bin/sh\nfor a in "$#" "$@"; do printf '%s\\n' "$a"; done > '${seen}.part'\nmv '${seen}.part' '${seen}'\n`,
    );
    chmodSync(opener, 0o755);
    const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
    let port = 0;
    const stopped = await run(["login", url], (text, child) => {
      const page = /open this page:\n(\S+)\n/.exec(text)?.[1];
      if (page === undefined) return;
      port = Number(new URL(new URL(page).searchParams.get("redirect_uri") ?? "").port);
      const look = setInterval(() => {
        try {
          assertEquals(readFileSync(seen, "utf8"), `1\n${page}\n`);
          clearInterval(look);
          process.kill(child.pid ?? 0, "SIGINT");
        } catch {
          // Not yet: the command is ended by its time-out when it never comes.
        }
      }, 20);
      child.on("exit", () => clearInterval(look));
    }, { env });
    assertEquals([stopped.code, stopped.out], [130, ""], stopped.err);
    assertMatch(stopped.err, /\ncauseway: interrupted\n$/);
    assert(port > 0);
    assertEquals(await fetch(`http://127.0.0.1:${port}/callback`).then(() => "answered", () => "closed"), "closed");
    assertEquals(world.server.issued.secrets, []);
  });

  test("a callback address that is pasted finishes it, as in a remote shell", async () => {
    await using served = await serveWorld();
    const { url, run, world } = served;
    const pasted = await run(["login", url, "--no-open"], (text, child) => {
      const page = /open this page:\n(\S+)\n/.exec(text)?.[1];
      if (page !== undefined) void world.person.follow(page).then((callback) => child.stdin?.end(`${callback}\n`));
    }, { keepsInput: true });
    assertEquals(pasted.code, 0, pasted.err);
    assertMatch(pasted.out, /^Signed in to /);
  });
});
