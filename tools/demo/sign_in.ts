/** The part of the demo in which somebody signs in: our protected server, and a certified authorization server in front of it. */
import { connect, UnauthorizedError } from "../../src/entry/local.ts";
import type { Client } from "../../src/entry/local.ts";
import { createMemoryStore, createOAuth } from "../../src/auth/mod.ts";
import { systemClock } from "../../src/ports.ts";
import { Browser } from "../../tests/auth/real/browser.ts";
import { introspector, startResources } from "../../tests/auth/real/resource.ts";
import { skipReal, startProvider } from "../../tests/auth/real/start.ts";

/** What the demo gives to each of its parts. */
export interface Stage {
  step(what: string, run: () => Promise<string>): Promise<void>;
  heading(text: string): void;
  skip(what: string, why: string): void;
}

/** How long the tokens of the authorization server last, in seconds. */
const lifetime = 300;

/** Signs in, calls, lets the token end, and signs out. */
export async function signInAndOut({ step, heading, skip }: Stage): Promise<void> {
  heading("Our protected server, and oidc-provider as its authorization server, over HTTP");
  if (skipReal !== false) return skip("this server", skipReal);
  await using provider = await startProvider({ clients: [introspector], lifetime });
  await using resources = await startResources(provider.issuer);
  const server = resources.signed;
  const browser = new Browser();
  let ahead = 0;
  const asked: string[] = [];
  const oauth = createOAuth({
    redirectUri: "http://127.0.0.1:4000/callback",
    clientMetadata: { client_name: "The demo" },
    authorize: browser.authorize,
    store: createMemoryStore(),
    clock: { ...systemClock, now: () => Date.now() + ahead },
    fetch(url, init) {
      asked.push(`${init.method ?? "GET"} ${new URL(url).pathname}`);
      return fetch(url, init);
    },
  });
  const visits = () => browser.pages.filter((page) => page.endsWith("/auth")).length;
  let client: Client | undefined;
  await step("without a token", async () => {
    const error = await connect(server).then((open) => open.close(), (cause: unknown) => cause);
    expect(error instanceof UnauthorizedError, `an UnauthorizedError was due, got ${error}`);
    return "refused";
  });
  await step("sign in", async () => {
    client = await connect(server, { auth: oauth });
    const status = await oauth.status(server);
    expect(status?.refreshable === true && visits() === 1, "nobody signed in");
    return `registered, one visit of ${browser.pages.length} pages with PKCE; scopes: ${status?.scopes.join(" ")}`;
  });
  if (client === undefined) return;
  await using open = client;
  await step("call whoami", async () => textOf(await open.callTool("whoami")));
  await step("ten calls, token at its end", async () => {
    ahead = lifetime * 1_000;
    asked.length = 0;
    const answers = await Promise.all(Array.from({ length: 10 }, () => open.callTool("whoami")));
    expect(answers.every(({ isError }) => !isError), "a call failed");
    expect(asked.join() === "POST /token", `one refresh was due, there were: ${asked.join(", ")}`);
    expect(visits() === 1, "somebody had to sign in again");
    return "all answered after one refresh, nobody was asked";
  });
  await step("sign out", async () => {
    expect((await oauth.signOut(server))?.revoked === true, "the token was not revoked");
    expect(await oauth.status(server) === undefined, "the token was kept");
    return "revoked there, forgotten here";
  });
}

function textOf({ content: [first] }: Awaited<ReturnType<Client["callTool"]>>): string {
  return first?.type === "text" ? first.text : "";
}

function expect(right: boolean, otherwise: string): void {
  if (!right) throw new Error(otherwise);
}
