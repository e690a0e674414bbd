import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { InterruptedError } from "../../../src/cli/failure.ts";
import { AuthorizationError } from "../../../src/protocol/mod.ts";
import { freePort } from "../../support/free_port.ts";
import { runCommand, secretToken, server, TestWorld } from "./world.ts";

/** Comes back as the browser does. */
const comeBack = (query: string) => async (redirectUri: string): Promise<void> => {
  await (await fetch(`${redirectUri}?${query}`)).text();
};

/** Whether nobody listens there any more. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().on("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

const portOf = (world: TestWorld): number => Number(new URL(world.settings[0]?.redirectUri ?? "").port);

// They share the standard output of this process.
describe("causeway login", { concurrency: false }, () => {
  test("opens the page, takes the answer, and says whom, which issuer, which scopes, until when", async () => {
    const world = new TestWorld();
    world.visit = comeBack("code=c&state=own-state");
    const { code, out, err } = await runCommand(["login", server, "--scope", "read write", "--scope", "read"], world);
    assertEquals(code, 0, err);
    assertEquals(
      out,
      `Signed in to ${server}  issuer https://as.example, client c1, scopes read write, ` +
        "until 2030-01-02T03:04:05Z, prolonged by itself\n",
    );
    assertEquals(world.opened.length, 1);
    assertStringIncludes(err, `open this page:\n${world.opened[0]}\n`);
    assertEquals(world.asked, [{ server, scopes: ["read", "write"] }]);
    assertMatch(world.settings[0]?.redirectUri ?? "", /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    assertEquals(world.finished, [`${world.settings[0]?.redirectUri}?code=c&state=own-state`]);
    assertEquals([world.reading, await isFree(portOf(world))], [false, true]);
    assertEquals((out + err).includes(secretToken), false);
  });

  test("--json is an object without secrets; --no-open only prints the address", async () => {
    const world = new TestWorld();
    const run = await runCommand(["login", server, "--json", "--no-open"], world, {
      seen: (text) => {
        const url = /https:\/\/as\.example\S+/.exec(text)?.[0];
        if (url) void comeBack("code=c&state=own-state")(new URL(url).searchParams.get("redirect_uri") ?? "");
      },
    });
    assertEquals(JSON.parse(run.out), {
      server,
      issuer: "https://as.example",
      resource: server,
      clientId: "c1",
      scopes: ["read", "write"],
      expiresAt: "2030-01-02T03:04:05Z",
      refreshable: true,
    });
    assertEquals([run.code, world.opened], [0, []]);
  });

  test("a foreign state, a replay and other paths change nothing", async () => {
    const world = new TestWorld();
    world.visit = async (redirectUri) => {
      const foreign = ["", "state=", "code=x&state=other", "error=access_denied&state=other", "error=access_denied"];
      await Promise.all(foreign.map((query) => comeBack(query)(redirectUri)));
      const answers = Array.from({ length: 50 }, (_, index) => comeBack(`code=${index}&state=own-state`)(redirectUri));
      await Promise.allSettled(answers);
    };
    const { code, err } = await runCommand(["login", server], world);
    assertEquals([code, world.finished.length], [0, 1], err);
  });

  test("where the state cannot be seen in the address, what is refused changes nothing either", async () => {
    const world = new TestWorld();
    world.authorizationUrl = "https://as.example/authorize?request_uri=urn:x&redirect_uri=REDIRECT";
    world.visit = async (redirectUri) => {
      for (const state of ["a", "b", "own-state"]) await comeBack(`code=c&state=${state}`)(redirectUri);
    };
    const { code, err } = await runCommand(["login", server], world);
    assertEquals([code, world.finished.length], [0, 3], err);
  });

  test("what the provider says is one plain line, with 3", async () => {
    const world = new TestWorld();
    world.refusal = new AuthorizationError(
      '"https://as.example" answered \u001b]0;x\u0007access\r\n_denied\u202e\u0000',
    );
    world.visit = comeBack("error=access_denied&state=own-state");
    const { code, out, err } = await runCommand(["login", server], world);
    assertEquals([code, out], [3, ""]);
    assertMatch(err, /\ncauseway: "https:\/\/as\.example" answered access _denied\n$/);
    assertEquals(await isFree(portOf(world)), true);
  });

  test("a pasted address finishes it; other lines are told apart", async () => {
    const world = new TestWorld();
    const seen: string[] = [];
    world.visit = async (redirectUri) => {
      world.typed?.("");
      world.typed?.("yes");
      world.typed?.("http://127.0.0.1:1/callback?code=c&state=own-state");
      world.typed?.(`${redirectUri}?code=c&state=other`);
      await Promise.resolve();
      assertEquals(world.finished, []);
      world.typed?.(`  ${redirectUri}?code=c&state=own-state `);
    };
    const { code } = await runCommand(["login", server], world, { seen: (text) => seen.push(text) });
    assertEquals([code, world.finished.length], [0, 1]);
    const told = seen.filter((text) => text.startsWith("causeway: that is not"));
    assertEquals(told.length, 3);
    assertMatch(told.join(""), /paste the whole address; it begins with http.*paste.*another sign-in/s);
  });

  test("Ctrl-C ends it with 130, the time-out with a clear line; nothing listens afterwards", async () => {
    const world = new TestWorld();
    const stop = new AbortController();
    world.visit = () => stop.abort(new InterruptedError(130));
    const stopped = await runCommand(["login", server], world, { signal: stop.signal });
    assertEquals([stopped.code, stopped.out, world.reading, await isFree(portOf(world))], [130, "", false, true]);
    assertMatch(stopped.err, /causeway: interrupted\n$/);

    const late = new TestWorld();
    const run = await runCommand(["login", server, "--timeout", "1500ms"], late);
    assertEquals([run.code, run.out, late.reading, await isFree(portOf(late))], [3, "", false, true]);
    assertMatch(
      run.err,
      /causeway: Cannot sign in: nobody came back within 1\.5 s; run it again, or raise --timeout\n$/,
    );
  });

  test("--port is the one that is listened on; a taken one is told, with 2", async () => {
    const taken = createServer();
    // One that nobody else gets of the system once it is let go.
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve));
    const words = ["login", server, "--port", String(port)];
    const world = new TestWorld();
    world.visit = comeBack("code=c&state=own-state");
    const refused = await runCommand(words, world);
    assertEquals([refused.code, world.settings.length], [2, 0]);
    assertMatch(
      refused.err,
      /^causeway: Cannot listen on port \d+ of 127\.0\.0\.1: it is taken; choose another with --p/,
    );
    await new Promise((resolve) => taken.close(resolve));
    assertEquals((await runCommand(words, world)).code, 0);
    assertEquals(portOf(world), port);
  });

  test("again: on the port of last time where it is free, else on another", async () => {
    const world = new TestWorld();
    world.visit = comeBack("code=c&state=own-state");
    const first = await freePort();
    await runCommand(["login", server, "--port", String(first)], world);
    assertEquals(portOf(world), first);
    world.settings.length = 0;
    assertEquals((await runCommand(["login", server], world)).code, 0);
    assertEquals(portOf(world), first);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(first, "127.0.0.1", resolve));
    world.settings.length = 0;
    assertEquals((await runCommand(["login", server], world)).code, 0);
    assert(portOf(world) !== first);
    await new Promise((resolve) => taken.close(resolve));
  });

  test("a page that is none is neither opened nor shown", async () => {
    const pages = [
      "javascript:alert(1)//",
      "file:///etc/passwd?",
      "http://as.example/?",
      "https://u:p@as.example/?",
      "--x?",
    ];
    for (const page of pages) {
      const world = new TestWorld();
      world.authorizationUrl = `${page}state=STATE`;
      const { code, err } = await runCommand(["login", server], world);
      assertEquals([code, world.opened, err.includes(page)], [3, [], false]);
      assertMatch(
        err,
        /^causeway: Cannot sign in to "https:\/\/mcp\.example\/mcp": its authorization server names a page/,
      );
      assertEquals(await isFree(portOf(world)), true);
    }
  });

  test("--device shows a code in plain characters, and neither listens nor opens", async () => {
    const world = new TestWorld();
    const { code, out, err } = await runCommand(["login", server, "--device"], world);
    assertEquals([code, world.opened, world.settings[0]?.redirectUri, world.reading], [0, [], undefined, false]);
    assertEquals(
      err,
      `To sign in to ${server}, open https://as.example/device on any device and enter the code: ABCD-EFGH\n`,
    );
    assertMatch(out, /^Signed in to /);
    for (
      const [whole, shown] of [
        ["https://as.example/device?code=ABCD", "https://as.example/device?code=ABCD"],
        ["https://as.example/`id`", undefined],
        ["javascript:alert(1)", undefined],
      ] as const
    ) {
      world.verificationUriComplete = whole;
      const told = await runCommand(["login", server, "--device"], world);
      assertEquals([told.code, told.err.split("\n")[1]], [0, shown ? `The same with the code in it: ${shown}` : ""]);
    }
    world.verificationUri = "javascript:alert(1)";
    const refused = await runCommand(["login", server, "--device"], world);
    assertEquals([refused.code, refused.err.includes("javascript")], [3, false]);
  });

  test("again without options: as the client of last time, until logout forgets it", async () => {
    const world = new TestWorld();
    const url = "https://me.example/client.json";
    await runCommand(["login", server, "--device", "--client-metadata-url", url], world);
    await runCommand(["login", server, "--device"], world);
    assertEquals(world.settings.at(-1)?.clientMetadataUrl, url);
    await runCommand(["login", server, "--device", "--client-id", "mine"], world);
    await runCommand(["login", server, "--device"], world);
    const { client, clientMetadataUrl } = world.settings.at(-1) ?? {};
    assertEquals([client?.clientId, clientMetadataUrl], ["mine", undefined]);
    await runCommand(["logout", server], world);
    await runCommand(["login", server, "--device"], world);
    assertEquals(world.settings.at(-1)?.client, undefined);
  });

  test("a client of one's own: the secret comes from a file or the environment, and is never shown or kept", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-auth-"));
    const file = join(folder, "secret");
    const words = ["login", server, "--device", "--client-id", "mine"];
    try {
      writeFileSync(file, "s3cret-of-mine\n");
      const world = new TestWorld();
      const kept = await runCommand([...words, "--client-secret-file", file], world);
      assertEquals(world.settings[0]?.client, { clientId: "mine", clientSecret: "s3cret-of-mine" });
      assertEquals(JSON.stringify([...world.store.texts, kept]).includes("s3cret"), false);
      world.environment = { CAUSEWAY_CLIENT_SECRET: "from-there" };
      await runCommand(words, world);
      assertEquals(world.settings.at(-1)?.client, { clientId: "mine", clientSecret: "from-there" });
      writeFileSync(file, "s3cret\nand more");
      const bad = await runCommand([...words, "--client-secret-file", file], world);
      assertEquals([bad.code, bad.err.includes("s3cret")], [2, false]);
      const none = await runCommand([...words, "--client-secret-file", join(folder, "none")], world);
      assertMatch(
        none.err,
        /Cannot read the file ".*none": there is no such file; causeway login --client-secret-file/,
      );
      assertEquals(none.code, 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
