/**
 * A Worker that signs people in to one MCP server, and calls its tools for them. Their tokens are kept in a Durable Object,
 * sealed; a browser gets nothing but the id of its session. Each request may be answered by another isolate.
 *
 * @module
 */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { csrf } from "hono/csrf";
import { html } from "hono/html";
import { clientMetadataDocument, createOAuth, createSealedStore } from "@causeway/mcp/auth";
import type { OAuth, OAuthOptions } from "@causeway/mcp/auth";
import { AuthorizationError, AuthorizationRequiredError, connect, createStubStore } from "@causeway/mcp/workers";
import { type Client, type JsonObject, McpError, StoreObject, type StoreStub } from "@causeway/mcp/workers";

export { StoreObject };

/** What the operator sets. */
export interface Env {
  /** The MCP server: an https URL. */
  readonly MCP_URL: string;
  /** Where people find this Worker: https and a name, without a path. */
  readonly APP_URL: string;
  /** What the tokens are sealed with: `openssl rand -base64 32`. */
  readonly STORE_KEY: string;
  /** The objects that keep them. */
  readonly STORES: { idFromName(name: string): object; get(id: object): StoreStub };
}
type Page = Context<{ Bindings: Env }>;

const headers = {
  "content-security-policy": "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "same-origin",
};

const app: Hono<{ Bindings: Env }> = new Hono();
export default app;
app.use(csrf({ origin: (origin, page: Page) => origin === new URL(page.env.APP_URL).origin }));
app.use(bodyLimit({ maxSize: 65_536 }));

/** The tools; who is not signed in is sent to sign in. */
app.get("/", async (page) => {
  const session = sessionOf(page) ?? crypto.randomUUID();
  setCookie(page, "session", session, { prefix: "host", path: "/", secure: true, httpOnly: true, sameSite: "Lax" });
  await using client = await open(page, session);
  const { tools } = await client.listTools();
  const forms = tools.map(({ name, description }) =>
    html`
      <li>
        <form method="post" action="/call/${encodeURIComponent(name)}"><b>${name}</b> ${description}
      <textarea name="arguments" aria-label="Arguments">{}</textarea><button>Call</button></form>
    `
  );
  return show(
    page,
    html`
      <ul>${forms}</ul>
      <form method="post" action="/sign-out"><button>Sign out</button></form>
    `,
  );
});

/** Where people come back to: another isolate than the one that sent them may be asked. */
app.get("/callback", async (page) => {
  const session = sessionOf(page);
  if (session !== undefined) await openOAuth(page.env, session).finishAuth(page.req.url);
  return page.redirect("/");
});

app.post("/call/:name", async (page) => {
  const session = sessionOf(page);
  if (session === undefined) return page.redirect("/", 303);
  const args = readArguments((await page.req.formData()).get("arguments"));
  if (!args) return show(page, html`<p>The arguments have to be a JSON object. <a href="/">Back</a>`, 400);
  await using client = await open(page, session);
  const { content, isError } = await client.callTool(page.req.param("name"), args);
  return show(page, html`<p>${isError ? "Failed" : "Done"}. <a href="/">Back</a><pre>${JSON.stringify(content)}</pre>`);
});

app.post("/sign-out", async (page) => {
  const session = sessionOf(page);
  deleteCookie(page, "session", { prefix: "host", path: "/", secure: true });
  if (session !== undefined) await openOAuth(page.env, session).signOut(page.env.MCP_URL);
  return show(page, html`<p>Signed out. <a href="/">Sign in</a>`);
});

/** What goes wrong is told by its code alone. */
app.onError((error, page) => {
  if ("getResponse" in error) return error.getResponse();
  if (!(error instanceof McpError)) throw error;
  if (error instanceof AuthorizationRequiredError) {
    if (page.req.method === "GET") return page.redirect(error.authorizationUrl);
    // What a form leads to may not be another site: the person goes there by a link.
    return show(page, html`<p>More has to be allowed. <a href="${error.authorizationUrl}">Sign in</a>`, 403);
  }
  const code = error instanceof AuthorizationError ? error.error ?? error.code : error.code;
  return show(page, html`<p>It did not work: ${code}. <a href="/">Begin again</a>`, 502);
});

app.get("/client.json", (page) => page.json(clientMetadataDocument(describeClient(page.env))));

/** Who this application is: authorization servers read it in /client.json; on this machine none can. */
function describeClient({ APP_URL }: Env): OAuthOptions {
  const { origin, protocol } = new URL(APP_URL);
  return {
    redirectUri: `${origin}/callback`,
    clientMetadataUrl: protocol === "https:" ? `${origin}/client.json` : undefined,
    clientMetadata: { client_name: "Tools of a server", client_uri: origin },
  };
}

/** One for each session. What is kept is shared by all isolates: so they renew a token once. */
function openOAuth(env: Env, session: string): OAuth {
  const stub = () => env.STORES.get(env.STORES.idFromName("oauth"));
  const store = createSealedStore(createStubStore(stub), { keys: env.STORE_KEY });
  return createOAuth({ ...describeClient(env), store, subject: session, session, logger: (line) => console.log(line) });
}

/** The session of the browser: none but an id that was made here. */
function sessionOf(page: Page): string | undefined {
  return /^[\da-f-]{36}$/.exec(getCookie(page, "session", "host") ?? "")?.[0];
}

function open({ env, req }: Page, session: string): Promise<Client> {
  return connect(env.MCP_URL, { auth: openOAuth(env, session), signal: req.raw.signal });
}

function readArguments(text: unknown): JsonObject | undefined {
  try {
    const args: unknown = JSON.parse(String(text));
    return typeof args === "object" && args !== null && !Array.isArray(args) ? args as JsonObject : undefined;
  } catch {
    return undefined;
  }
}

/** A page. What stands in `html` is escaped; none runs a script, or may be framed. */
function show(page: Page, body: ReturnType<typeof html>, status: 200 | 400 | 403 | 502 = 200) {
  for (const [name, value] of Object.entries(headers)) page.header(name, value);
  return page.html(
    html`
      <!doctype html>
      <html lang="en"><title>Tools</title>${body}</html>
    `,
    status,
  );
}
