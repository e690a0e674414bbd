/**
 * Signing in with a browser, and who one is.
 *
 * @module
 */
import type { JsonSchema } from "../../protocol/types.ts";
import { cookieName, cookieOf, notSignedIn } from "../access/access.ts";
import { hashApiKey } from "../access/keys.ts";
import type { Principal } from "../access/types.ts";
import type { Call } from "../rest/call.ts";
import { Refusal } from "../rest/problem.ts";
import type { Route } from "../rest/route.ts";
import { beginSessionSchema } from "../rest/schemas.ts";

/** The most bytes of a body that begins a session: anybody may send one, and hold it open. */
const longestBody = 4_096;
/** As long as any browser keeps a cookie, in seconds. One that is told an endless time keeps it until it is closed. */
const longestAge = 34_560_000;

const who: JsonSchema = {
  type: "object",
  required: ["principal", "tenant", "way"],
  properties: { principal: { type: "string" }, tenant: { type: "string" }, way: { enum: ["key", "token", "session"] } },
};

/** The routes of sessions. */
export const sessionRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/api/session",
    summary:
      "Begins a session of a browser: with a token that is good once, or an API key. The cookie is for this runner's own page.",
    policy: { kind: "public", why: "the token in the body is what is looked at" },
    query: {},
    body: beginSessionSchema,
    replies: { 204: { description: "It has begun; `Set-Cookie` holds it" } },
    answer: begin,
  },
  {
    method: "GET",
    path: "/api/session",
    summary: "Who one is.",
    policy: { kind: "signed-in", why: "it tells the caller what it has shown itself" },
    query: {},
    replies: { 200: { description: "The caller", type: "application/json", schema: who } },
    answer: (call) => call.json({ principal: call.principal.id, tenant: call.tenant, way: call.way }),
  },
  {
    method: "DELETE",
    path: "/api/session",
    summary: "Ends the session of this browser.",
    policy: { kind: "signed-in", why: "it ends the caller's own session" },
    query: {},
    replies: { 204: { description: "It has ended" } },
    answer: end,
  },
];

async function begin(call: Call): Promise<Response> {
  const { access, clock } = call.parts;
  const { request } = call;
  const { token } = await call.body(longestBody) as { token: string };
  const { sessions } = access;
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") throw new Refusal(403, "forbidden", "Sign in on this runner's own page");
  if (!sessions) throw new Refusal(404, "not_offered", "This runner has no sessions for browsers");
  const key = await hashApiKey(token);
  const session = key === undefined
    ? await sessions.begin?.(token)
    : await sessions.open({ ...await holderOf(call, token), key });
  if (!session) throw notSignedIn("The token is not known, was used or has ended");
  const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
  const age = Math.min(Math.floor((session.expiresAt - clock.now()) / 1_000), longestAge);
  const cookie = `${cookieName(request)}=${session.id}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
  return new Response(null, { status: 204, headers: { "set-cookie": cookie } });
}

/** Whose key it is: a key is as good as an invitation of its principal. */
async function holderOf({ parts: { access } }: Call, key: string): Promise<Principal> {
  const request = new Request("http://localhost/", { headers: { authorization: `Bearer ${key}` } });
  return (await access.identify(request)).principal;
}

async function end(call: Call): Promise<Response> {
  const { request, parts: { access } } = call;
  const id = cookieOf(request);
  if (id !== undefined && call.way === "session") await access.sessions?.end(id);
  const name = cookieName(request);
  const secure = name.startsWith("__Host-") ? "; Secure" : "";
  const cookie = `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict${secure}`;
  return new Response(null, { status: 204, headers: { "set-cookie": cookie } });
}
