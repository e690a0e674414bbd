import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { InterruptedError } from "../../../src/cli/failure.ts";
import { forgetSignIn, keepSignIn, readKept } from "../../../src/cli/auth/kept.ts";
import { findSignIn } from "../../../src/cli/auth/use.ts";
import { TestStore } from "../../support/test_store.ts";
import { runCommand, secretToken, server, TestWorld } from "./world.ts";

const signedIn = `${server}  issuer https://as.example, client c1, scopes read write, ` +
  "until 2030-01-02T03:04:05Z, prolonged by itself\n";

// They share the standard output of this process.
describe("causeway whoami and logout", { concurrency: false }, () => {
  test("from nothing to signed in and back", async () => {
    const world = new TestWorld();
    const none = await runCommand(["whoami"], world);
    assertEquals(none, { code: 0, out: "", err: "causeway: not signed in anywhere\n" });
    assertEquals((await runCommand(["whoami", "--json"], world)).out, "[]\n");
    const not = await runCommand(["whoami", server], world);
    assertEquals(not, { code: 3, out: "", err: `causeway: Not signed in to "${server}": causeway login ${server}\n` });

    await runCommand(["login", server, "--device", "--scope", "read"], world);
    assertEquals(await runCommand(["whoami"], world), { code: 0, out: signedIn, err: "" });
    assertEquals(await runCommand(["whoami", server], world), { code: 0, out: signedIn, err: "" });
    const { out } = await runCommand(["whoami", "--json"], world);
    assertEquals(JSON.parse(out), [JSON.parse((await runCommand(["whoami", server, "--json"], world)).out)]);
    assertEquals(out.includes(secretToken), false);
    assertEquals(world.settings.at(-1)?.scopes, ["read"]);

    assertEquals(await runCommand(["logout", server], world), {
      code: 0,
      out: `Signed out of ${server}: the tokens are forgotten here, and revoked at https://as.example\n`,
      err: "",
    });
    assertEquals([...world.store.texts], []);
    assertEquals(await runCommand(["logout", server], world), {
      code: 0,
      out: `Not signed in to ${server}: there was nothing to forget\n`,
      err: "",
    });
  });

  test("logout says when nothing was revoked, also for programs", async () => {
    const world = new TestWorld();
    world.revoked = false;
    await runCommand(["login", server, "--device"], world);
    assertMatch(
      (await runCommand(["logout", server], world)).out,
      /forgotten here; https:\/\/as\.example did not revoke/,
    );
    await runCommand(["login", server, "--device"], world);
    const json = await runCommand(["logout", server, "--json"], world);
    assertEquals(JSON.parse(json.out), { server, signedOut: true, revoked: false });
  });

  test("a revocation that is never answered ends with --timeout, and with Ctrl-C: it is forgotten here", async () => {
    const world = new TestWorld();
    world.hangs = () => {};
    await runCommand(["login", server, "--device"], world);
    assertEquals(await runCommand(["logout", server, "--timeout", "20ms"], world), {
      code: 4,
      out: "",
      err: `causeway: Signed out of ${server} without an answer of https://as.example within 20 ms: ` +
        "the tokens are forgotten here, and may not be revoked\n",
    });
    assertEquals([...world.store.texts], []);
    await runCommand(["login", server, "--device"], world);
    const stop = new AbortController();
    world.hangs = () => stop.abort(new InterruptedError(130));
    assertEquals(await runCommand(["logout", server], world, { signal: stop.signal }), {
      code: 130,
      out: "",
      err: "causeway: interrupted\n",
    });
  });

  test("a secret whose file is gone keeps nobody signed in", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-auth-"));
    const file = join(folder, "secret");
    writeFileSync(file, "s3cret");
    const world = new TestWorld();
    await runCommand(["login", server, "--device", "--client-id", "mine", "--client-secret-file", file], world);
    rmSync(folder, { recursive: true });
    assertEquals((await runCommand(["whoami", server], world)).out, signedIn);
    assertMatch((await runCommand(["logout", server], world)).out, /^Signed out of /);
  });

  test("a secret in the environment is that of the client that was named with it, and of no other one", async () => {
    const world = new TestWorld();
    const login = (...words: string[]) => runCommand(["login", server, "--device", ...words], world);
    const client = () => world.settings.at(-1)?.client;
    assertEquals((await login("--client-id", "open")).code, 0);
    world.environment = { CAUSEWAY_CLIENT_SECRET: "of-another" };
    // As the commands that use it do, and when one signs in as the same client again.
    for (const use of [() => findSignIn(world, { target: server, headers: {}, hint: "" }), () => login()]) {
      await use();
      assertEquals(client(), { clientId: "open", clientSecret: undefined });
    }
    await login("--client-id", "mine");
    await findSignIn(world, { target: server, headers: {}, hint: "" });
    assertEquals(client(), { clientId: "mine", clientSecret: "of-another" });
    world.environment = { CAUSEWAY_CLIENT_SECRET: "no\nsecret" };
    assertEquals((await runCommand(["whoami", server], world)).out, signedIn);
    assertMatch((await runCommand(["logout", server], world)).out, /^Signed out of /);
  });

  test("names of a config; a query is not shown", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-auth-"));
    const config = join(folder, "c.json");
    const url = "https://mcp.example/mcp?key=hidden#part";
    writeFileSync(
      config,
      JSON.stringify({ servers: { mine: { url }, own: { url, headers: { authorization: "x" } } } }),
    );
    try {
      const world = new TestWorld();
      const run = await runCommand(["login", "mine", "--config", config, "--device"], world);
      assertEquals(world.asked, [{ server: "https://mcp.example/mcp?key=hidden", scopes: undefined }]);
      assertEquals((run.out + run.err).includes("hidden"), false);
      assertMatch(run.out, /^Signed in to https:\/\/mcp\.example\/mcp\?… +issuer/);
      const own = await runCommand(["login", "own", "--config", config], world);
      assertEquals(own.code, 2);
      assertMatch(own.err, /^causeway: Cannot sign in to "own": its config sends a header "Authorization", which wins/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("bad input of every kind is one line, with 2", async () => {
    const cases: [string[], RegExp][] = [
      [["login"], /The target is missing: write causeway login <target>/],
      [["logout"], /The target is missing: write causeway logout <target>/],
      [["login", ""], /The target is empty/],
      [["login", "bun server.ts"], /Cannot sign in to the program "bun": only servers at a URL have sign-ins/],
      [["login", "gihtub"], /Cannot sign in to the program "gihtub": .*nor is there a config/],
      [["whoami", "npx x"], /Cannot sign in to the program "npx"/],
      [["login", "https://me:pw@mcp.example/"], /with a user name in it/],
      [["login", "ftp://mcp.example/"], /Unknown scheme "ftp:"/],
      [["login", server, "more"], /Unexpected "more" after the target/],
      [["whoami", server, "more"], /Unexpected "more" after the target/],
      [["login", server, "--device", "--no-open"], /Cannot use --device with --no-open: .*leave --no-open out/],
      [["login", server, "--device", "--port", "1234"], /Cannot use --device with --port/],
      [
        ["login", server, "--client-id", "a", "--client-metadata-url", "https://a.example/c"],
        /Cannot use --client-id with/,
      ],
      [["login", server, "--client-secret-file", "a"], /Cannot use --client-secret-file alone: add --client-id/],
      [
        ["login", server, "--client-secret", "geheim"],
        /Cannot take a secret from the command line: use --client-secret-f/,
      ],
      [["login", server, "--client-secret=geheim"], /Cannot take a secret from the command line/],
      [["login", server, "--client-id", "a\nb"], /Cannot use --client-id "a\\nb"/],
      [
        ["login", server, "--client-metadata-url", "http://a.example/c"],
        /Cannot use this --client-metadata-url: write/,
      ],
      [["login", server, "--client-metadata-url", "https://a.example"], /write an https URL with a path/],
      [["login", server, "--scope", 'a"b'], /Cannot use the scope "a\\"b"/],
      [["login", server, "--scope"], /"--scope" needs a value/],
      [["login", server, "--port", "0"], /Cannot read --port "0": write a number from 1 to 65535/],
      [["login", server, "--port", "65536"], /Cannot read --port "65536"/],
      [["login", server, "--port", "eighty"], /Cannot read --port "eighty"/],
      [["login", server, "--device=yes"], /"--device" takes no value/],
      [["login", server, "--devise"], /Unknown option "--devise" \(did you mean "--device"\?\)/],
      [
        ["login", server, "--header", "A: b"],
        /--header belongs to causeway tools, call, resources and \d+ others: leave it out/,
      ],
      [["login", server, "--args", "{}"], /--args belongs to causeway call, prompt and tasks detach: leave it out/],
      [["logout", server, "--device"], /--device belongs to causeway login: leave it out/],
      [["whoami", "--port", "80"], /--port belongs to causeway login/],
      [["tools", server, "--no-open"], /--no-open belongs to causeway login/],
      [["log-in", server], /Unknown command "log-in" \(did you mean "login"\?\)/],
    ];
    for (const [words, says] of cases) {
      const world = new TestWorld();
      const { code, out, err } = await runCommand(words, world);
      assertEquals([words, code, out, world.settings.length], [words, 2, "", 0], err);
      assertMatch(err, says);
      assertEquals([err.split("\n").length, err.includes("geheim")], [2, false], err);
    }
  });
});

describe("the list of sign-ins", () => {
  test("is changed by several at the same time, and nothing is lost", async () => {
    const store = new TestStore();
    const swapping = Object.assign(store, {
      async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
        await Promise.resolve();
        if (store.texts.get(key) !== expected) return false;
        if (value === undefined) store.texts.delete(key);
        else store.texts.set(key, value);
        return true;
      },
    });
    const servers = Array.from({ length: 10 }, (_, index) => `https://s${index}.example/`);
    await Promise.all(servers.map((server) => keepSignIn(swapping, { server })));
    assertEquals((await readKept(store)).map(({ server }) => server).sort(), servers);
    await Promise.all(servers.map((server) => forgetSignIn(swapping, server)));
    assertEquals([...store.texts], []);
  });

  test("what cannot be read is left out", async () => {
    const store = new TestStore();
    await keepSignIn(store, { server, clientId: "c" });
    const [key = ""] = store.texts.keys();
    const good = { server };
    for (
      const [text, expected] of [["{", []], ["{}", []], ["null", []], [JSON.stringify([1, {}, { server: "x" }, good]), [
        good,
      ]]] as const
    ) {
      store.texts.set(key, text);
      assertEquals(await readKept(store), expected);
    }
    store.texts.set(key, JSON.stringify([{ server, scopes: [1] }, { server, clientId: 5 }]));
    assertEquals(await readKept(store), []);
  });
});
