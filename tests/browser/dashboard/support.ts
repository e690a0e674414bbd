/**
 * A runner with its dashboard on loopback, and pages of real Chromium that are watched.
 *
 * @module
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { serveHttp } from "../../../src/entry/local.ts";
import type { HttpHost } from "../../../src/entry/serve_http.ts";
import type { Hub } from "../../../src/hub/hub.ts";
import { systemClock } from "../../../src/ports.ts";
import {
  createApiKey,
  createDashboard,
  createKeyList,
  createPolicy,
  createRunner,
  createSessions,
} from "../../../src/runner/mod.ts";
import type { AccessRule, BrowserSessions, Runner } from "../../../src/runner/mod.ts";
import { root } from "../../../tools/programs.ts";
import { inMemory, openHub } from "../../hub/support.ts";
import { launchChromium } from "../chromium.ts";
import { DemoRuns, demoServers } from "./demo.ts";
import type { LedgerEntry } from "./demo.ts";

/** What is answered in the place of the runner; undefined: the runner answers. */
export type Intercept = (request: Request) => Response | undefined | Promise<Response | undefined>;

/** A dashboard at work. */
export interface Dashboard extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly hostname: string;
  readonly runner: Runner;
  readonly runs: DemoRuns;
  readonly sessions: BrowserSessions;
  readonly ledger: LedgerEntry[];
  /** Each request: its method and URL, its headers, and the status of its reply. */
  readonly seen: { readonly line: string; readonly headers: Headers; status: number }[];
  /** What the runner has written to its log. */
  readonly log: string[];
  /** An API key of Ada's. */
  readonly key: string;
  /** Answers in the place of the runner from now on. */
  intercept: Intercept | undefined;
  /** A link that signs in once. */
  link(): Promise<string>;
}

/** Deleting files wants an approval; all else is allowed. */
const rules: readonly AccessRule[] = [
  { effect: "allow" },
  { servers: ["files"], tools: ["delete_file"], actions: ["call"], effect: "ask" },
];

/** Opens a dashboard. */
export async function openDashboard(port: number = 0, servers?: (hub: Hub) => Promise<void>): Promise<Dashboard> {
  const [ledger, seen, log]: [LedgerEntry[], Dashboard["seen"][number][], string[]] = [[], [], []];
  const sessions = createSessions();
  const runs = new DemoRuns(systemClock);
  const hub = await openHub({});
  for (const [name, server] of Object.entries(demoServers(ledger))) await hub.add(name, inMemory(server).config);
  await servers?.(hub);
  const { key, hash } = await createApiKey();
  const runner = createRunner({
    hub,
    addToHub: true,
    runs: () => runs,
    agents: [{ name: "assistant", description: "Answers with the tools of your servers" }],
    access: {
      sessions,
      keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]),
      policy: createPolicy(rules),
    },
    routes: createDashboard(),
    logger: (entry) => void log.push(JSON.stringify(entry)),
  });
  const state: { intercept: Intercept | undefined } = { intercept: undefined };
  const host: HttpHost = await serveHttp(async (request) => {
    const entry = { line: `${request.method} ${request.url}`, headers: new Headers(request.headers), status: 0 };
    seen.push(entry);
    const response = await state.intercept?.(request) ?? await runner.fetch(request);
    entry.status = response.status;
    return response;
  }, { port, grace: 100, webSocket: runner.webSocket });
  const origin = `http://localhost:${host.port}`;
  return {
    ...{ origin, port: host.port, hostname: host.hostname, runner, runs, sessions, ledger, seen, log, key },
    get intercept() {
      return state.intercept;
    },
    set intercept(intercept) {
      state.intercept = intercept;
    },
    link: async () => `${origin}/#token=${await sessions.invite({ id: "ada", tenant: "acme" })}`,
    async [Symbol.asyncDispose]() {
      await runner.close();
      await host.close();
      await hub.close();
    },
  };
}

/** What went wrong in a page, and what it asked for. */
export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors, dialogs and reports of the content security policy. */
  readonly complaints: string[];
  /** What was asked of other places than the dashboard. */
  readonly strangers: string[];
}

/** Opens a page that is watched. */
export async function watchedPage(
  browser: Browser,
  origin: string,
  options: { readonly width?: number; readonly height?: number; readonly scheme?: "light" | "dark" } = {},
): Promise<Watched> {
  const { width = 1280, height = 860, scheme = "light" } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const [complaints, strangers]: [string[], string[]] = [[], []];
  await context.addInitScript(() => {
    addEventListener(
      "securitypolicyviolation",
      (event) => console.error(`CSP ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (line) => {
    if (/CSP|Content Security Policy|Refused/.test(line.text())) complaints.push(`policy: ${line.text()}`);
  });
  context.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:")) strangers.push(request.url());
  });
  return { context, page, complaints, strangers };
}

/** A dashboard, and a watched page of it where somebody is signed in and sees the tools. */
export interface SignedIn {
  readonly dashboard: Dashboard;
  readonly browser: Browser;
  readonly watched: Watched;
  readonly page: Page;
}

/** Opens a dashboard and signs in to it. */
export async function openSignedIn(): Promise<SignedIn> {
  const [dashboard, browser] = await Promise.all([openDashboard(), launchChromium()]);
  const watched = await watchedPage(browser, dashboard.origin);
  const { page } = watched;
  await page.goto(await dashboard.link());
  await page.waitForSelector("a.item-link");
  return { dashboard, browser, watched, page };
}

/** Keeps a picture of a page for people: `dist/screenshots/<name>.png`. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = join(root, "dist", "screenshots");
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
}
