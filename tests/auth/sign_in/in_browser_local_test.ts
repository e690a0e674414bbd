/** Signing in with the browser of this machine: the server that it comes back to is real, all others are in memory. */
import { createServer } from "node:net";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { authorizeInBrowser, type BrowserSignInOptions, McpError } from "../../../src/entry/local.ts";
import type { AuthorizationRequest } from "../../../src/auth/mod.ts";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { freePort } from "../../support/free_port.ts";
import { createParty, type Party } from "./parties.ts";

/** Goes where a link leads, and back to this machine. */
async function visit({ world }: Party, address: string): Promise<string> {
  const response = await fetch(await world.person.follow(address));
  return await response.text();
}

/** A party whose person uses a browser. */
async function createSeated(own: BrowserSignInOptions = {}): Promise<{ party: Party; shown: string[]; port: number }> {
  const port = await freePort();
  const shown: string[] = [];
  const open = (address: string) => void visit(party, address).catch(() => {});
  const authorize = authorizeInBrowser({ show: (address) => shown.push(address), open, ...own });
  const party: Party = await createParty({ redirectUri: `http://127.0.0.1:${port}/back`, authorize });
  return { party, shown, port };
}

const pending = { id: "p", server: "https://mcp.example", issuer: "https://auth.example", scopes: [], expiresAt: 0 };

/** A request for a sign-in, as `createOAuth` makes it. */
function wish(redirectUri: string, signal?: AbortSignal): AuthorizationRequest {
  const query = new URLSearchParams({ state: "own", redirect_uri: redirectUri });
  return { authorizationUrl: `https://auth.example/authorize?${query}`, pending, signal };
}

describe("signing in with the browser of this machine", () => {
  test("shows the page, opens it, and goes on when the browser is back", async () => {
    const { party, shown } = await createSeated();
    await using client = await party.open();
    assertEquals((await client.listTools()).tools.length, 2);
    assertEquals([shown.length, shown], [1, party.world.person.visits]);
  });

  test("listens no longer than it has to, and again on the same port", async () => {
    const { party, port } = await createSeated();
    for (let round = 0; round < 2; round++) {
      await party.oauth.signIn(party.world.resource.url);
      await assertRejects(() => fetch(`http://127.0.0.1:${port}/back?state=x`));
    }
  });

  test("two sign-ins at once come one after another", async () => {
    const { party, shown } = await createSeated();
    const two = [party.oauth, party.another({ subject: "eve" })];
    await Promise.all(two.map((oauth) => oauth.signIn(party.world.resource.url)));
    assertEquals(shown.length, 2);
  });

  test("somebody else's answer, whatever it says, ends nothing", async () => {
    const port = await freePort();
    const place = `http://127.0.0.1:${port}/back`;
    const open = async () => {
      for (const query of ["", "?state=other&code=c", "?error=access_denied"]) {
        assertEquals((await fetch(place + query)).status, 200);
      }
      await fetch(`${place}?state=own&code=mine`);
    };
    let opened: Promise<void> | undefined;
    const authorize = authorizeInBrowser({ show: () => {}, open: () => opened = open() });
    assertEquals(await authorize(wish(place)), `${place}?state=own&code=mine`);
    await opened;
  });

  test("gives up when it is told to, and when nobody comes", async () => {
    const place = `http://localhost:${await freePort()}/callback`;
    const stop = new AbortController();
    const abort = () => stop.abort(new Error("enough"));
    const authorize = authorizeInBrowser({ show: () => {}, open: abort });
    await assertRejects(() => authorize(wish(place, stop.signal)), Error, "enough");
    await assertRejects(() => authorize(wish(place, stop.signal)), Error, "enough");
    const hasty = authorizeInBrowser({ show: () => {}, open: () => {}, timeout: 20 });
    await assertRejects(() => hasty(wish(place)), AuthorizationError, "nobody came back within 0.02 s");
    await assertRejects(() => fetch(place));
  });

  test("an address that cannot be shown or opened ends it, at once or later", async () => {
    const place = `http://localhost:${await freePort()}/callback`;
    const broken = new Error("there is no browser");
    const later = () => Promise.reject(broken);
    const now = () => {
      throw broken;
    };
    for (const options of [{ open: later }, { open: now }, { show: later, open: () => {} }, { show: now }]) {
      const authorize = authorizeInBrowser({ show: () => {}, ...options });
      await assertRejects(() => authorize(wish(place)), Error, "there is no browser");
    }
    await assertRejects(() => fetch(place));
  });

  test("a port that is taken is told, and nothing is opened", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    assert(address && typeof address === "object");
    const opened: string[] = [];
    const authorize = authorizeInBrowser({ show: () => {}, open: (page) => opened.push(page) });
    const place = `http://127.0.0.1:${address.port}/callback`;
    await assertRejects(() => authorize(wish(place)), McpError, `Cannot listen on port ${address.port}`);
    await new Promise((resolve) => taken.close(resolve));
    assertEquals(opened, []);
  });

  test("places that are not on this machine, and pages that are none, are refused", async () => {
    const authorize = authorizeInBrowser({ show: () => {}, open: () => {}, timeout: 1_000 });
    const places = [
      "https://app.example.com/callback",
      "http://127.0.0.1/callback",
      "http://[::1]:8085/c",
      "app:/back",
      "",
    ];
    for (const place of places) {
      await assertRejects(() => authorize(wish(place)), AuthorizationError, 'set "redirectUri"');
    }
    const page = { ...wish("http://127.0.0.1:8085/c"), authorizationUrl: "file:///etc/passwd" };
    await assertRejects(() => authorize(page), AuthorizationError, "no plain https address");
    for (const timeout of [0, -1, NaN, Infinity]) assertThrows(() => authorizeInBrowser({ timeout }), RangeError);
  });

  test("writes the address to the standard error where nothing else shows it", async () => {
    const { write } = process.stderr;
    let said = "";
    Object.assign(process.stderr, { write: (text: string) => (said += text, true) });
    try {
      const hasty = authorizeInBrowser({ open: () => {}, timeout: 20 });
      const place = `http://127.0.0.1:${await freePort()}/c`;
      await assertRejects(() => hasty(wish(place)), AuthorizationError);
    } finally {
      Object.assign(process.stderr, { write });
    }
    assertMatch(said, /^To sign in, open this page:\nhttps:\/\/auth\.example\/authorize\?\S+\n$/);
  });
});
