/**
 * The dashboard: one page for people, and what it alone asks.
 *
 * @module
 */
import type { Call } from "../rest/call.ts";
import type { Route } from "../rest/route.ts";
import { scriptHash, styleHash } from "./page_hashes.ts";
import { serverDetailRoutes } from "./server_routes.ts";

/** The policy of the page: it loads from its own origin alone, and runs nothing that stands in it. */
const pagePolicy: string = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

const scriptPath = `/dashboard/${scriptHash}.js`;
const stylePath = `/dashboard/${styleHash}.css`;
const mark = "data:image/svg+xml," + encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#5b76ea" stroke-width="2" stroke-linecap="round"><path d="M4 18V8m16 10V8M4 11c4 0 4-5 8-5s4 5 8 5M4 15h16"/></svg>`,
);

/** The page itself. It holds nothing of anybody: what it shows, it asks for as whoever is signed in. */
const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Causeway</title>
<link rel="icon" href="${mark}">
<link rel="stylesheet" href="${stylePath}">
<script type="module" src="${scriptPath}"></script>
</head>
<body><noscript><main class="page">This page needs JavaScript. The API does not: see /openapi.json.</main></noscript></body>
</html>
`;

/**
 * Makes the routes of the dashboard: the page at `/`, its script and style, and what servers say of themselves. They are an option
 * of the runner, so that a runner without a dashboard does not carry it. The page's text is a module of its own, which is loaded when it is
 * asked for.
 *
 * @example A runner with a dashboard
 * ```ts
 * import { openHub } from "@causeway/mcp";
 * import { createDashboard, createPolicy, createRunner, createSessions } from "@causeway/mcp/runner";
 *
 * const sessions = createSessions();
 * await using runner = createRunner({
 *   hub: await openHub({}),
 *   access: { sessions, policy: createPolicy([{ effect: "allow" }]) },
 *   routes: createDashboard(),
 * });
 * const token = await sessions.invite({ id: "ada", tenant: "acme" });
 * console.log(`Open http://localhost:8080/#token=${token}`);
 * const page = await runner.fetch(new Request("http://localhost:8080/"));
 * console.assert(page.headers.get("content-type") === "text/html; charset=utf-8");
 * ```
 */
export function createDashboard(): readonly Route[] {
  return [
    file("/", () => html, { type: "text/html; charset=utf-8", tag: `${scriptHash}-${styleHash}` }),
    file(scriptPath, async () => (await import("./page_text.ts")).script, {
      type: "text/javascript; charset=utf-8",
      tag: scriptHash,
    }),
    file(stylePath, async () => (await import("./page_text.ts")).style, {
      type: "text/css; charset=utf-8",
      tag: styleHash,
    }),
    ...serverDetailRoutes,
  ];
}

function file(
  path: string,
  read: () => string | Promise<string>,
  { type, tag }: { readonly type: string; readonly tag: string },
): Route {
  const headers = {
    "content-type": type,
    "content-security-policy": pagePolicy,
    etag: `"${tag}"`,
    // What has its hash in its path never changes.
    "cache-control": path === "/" ? "no-cache" : "public, max-age=31536000, immutable",
  };
  return {
    method: "GET",
    path,
    summary: path === "/" ? "The dashboard: a page for people." : "A part of the dashboard.",
    policy: { kind: "public", why: "it is the same for everybody, and holds nothing of anybody" },
    replies: { 200: { description: "The text", type } },
    answer: async ({ request }: Call) => {
      const known = (request.headers.get("if-none-match") ?? "").split(",").map((one) =>
        one.trim().replace(/^W\//, "")
      );
      return known.includes(headers.etag)
        ? new Response(null, { status: 304, headers })
        : new Response(await read(), { headers });
    },
  };
}
