/**
 * Servers: how they do, signing in, adding and removing.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { askJson, numberOf, objectOf, objectsOf, textOf } from "../base/api.ts";
import { inBackground, keepLoading } from "../base/app.ts";
import type { App, View } from "../base/app.ts";
import { button, fill, h, hold, innerLink, refocus } from "../base/dom.ts";
import { count, entryOf } from "../base/text.ts";
import { foreign, foreignBlock } from "../parts/foreign.ts";
import { badge, empty, loading, setBadge } from "../parts/pieces.ts";
import type { Tone } from "../parts/pieces.ts";
import { problemBox, showProblem } from "../parts/problem.ts";
import { addForm, showSignIn } from "./add_server.ts";
import { logView } from "./log.ts";

const interval = 5_000;
/** Logs that are followed at once: browsers open six connections to a runner without TLS, for all of its tabs. */
const mostLogs = 3;

const states: Readonly<Record<string, readonly [string, Tone]>> = {
  connected: ["connected", "good"],
  connecting: ["connecting", "busy"],
  reconnecting: ["reconnecting", "busy"],
  authorizing: ["wants a sign-in", "warn"],
  failed: ["failed", "bad"],
  disconnected: ["not connected", "quiet"],
};

/** The view of servers. */
export function serversView(app: App): View {
  const list = h("div", { class: "grid" }, loading("Loading servers"));
  /** What goes wrong is told below all else: what is open or asked stays, and nothing moves. */
  const trouble = h("div", { class: "stack" });
  /** By their names. A card stays while its server changes: what is open in it, what it asks, and the focus. */
  let cards: ReadonlyMap<string, ServerCard> = new Map();
  let open: readonly HTMLDetailsElement[] = [];
  function opened(details: HTMLDetailsElement): void {
    open = [...open.filter((one) => one !== details && one.open && one.isConnected), details];
    const [oldest] = open;
    if (open.length > mostLogs && oldest) oldest.open = false;
  }
  async function load(signal: AbortSignal): Promise<void> {
    const reply = await askJson(app.ask, "/api/servers", { signal });
    fill(trouble);
    const wasHere = list.contains(document.activeElement);
    cards = new Map(
      objectsOf(reply.servers).map((server) => {
        const name = textOf(server.name);
        const card = cards.get(name) ?? new ServerCard(app, name, { done: again, opened });
        card.show(server);
        return [name, card];
      }),
    );
    const elements = [...cards.values()].map(({ element }) => element);
    const isSame = elements.length === list.children.length &&
      elements.every((element, at) => list.children[at] === element);
    if (!isSame || elements.length === 0) arrange(list, elements);
    if (wasHere && !list.contains(document.activeElement)) element.focus({ preventScroll: true });
  }
  function again(): void {
    inBackground(app, async () => {
      await load(app.signal);
      refocus(element);
    }, failed);
  }
  function failed(error: unknown): void {
    if (cards.size === 0) fill(list);
    showProblem(trouble, error, again);
  }
  keepLoading(app, interval, load, failed);
  const element = h(
    "main",
    { id: "main", class: "page stack", tabindex: -1 },
    h("h1", {}, "Servers"),
    list,
    addForm(app, again),
    trouble,
  );
  return { title: "Servers", element };
}

/** What is moved would lose where it was scrolled to, and the focus: what stays is not. */
function arrange(list: HTMLElement, elements: readonly HTMLElement[]): void {
  if (elements.length === 0) return fill(list, noServers());
  for (const one of [...list.children]) if (!elements.includes(one as HTMLElement)) one.remove();
  for (const [at, one] of elements.entries()) {
    const there = list.children[at];
    if (there !== one) list.insertBefore(one, there ?? null);
  }
}

/** One server. */
class ServerCard {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #name: string;
  readonly #path: string;
  readonly #done: () => void;
  #state = "";
  #shown = "";
  readonly #badge: HTMLElement = badge("");
  readonly #facts: HTMLElement = h("div", { class: "stack" });
  readonly #said: HTMLElement = h("div", { class: "stack" });
  readonly #connect: HTMLButtonElement = button("Connect again", () => void this.#retry());
  readonly #remove: HTMLButtonElement = button("Remove", () => this.#ask());
  readonly #tools: HTMLElement = innerLink("tools", { class: "button" }, "Tools");

  constructor(
    app: App,
    name: string,
    { done, opened }: { readonly done: () => void; readonly opened: (details: HTMLDetailsElement) => void },
  ) {
    this.#app = app;
    this.#name = name;
    this.#path = `/api/servers/${encodeURIComponent(name)}`;
    this.#done = done;
    this.element = h(
      "article",
      { class: "card stack", "data-server": name },
      h("div", { class: "row between" }, h("h2", {}, foreign(name, "server-name")), this.#badge),
      this.#facts,
      this.#said,
      h("div", { class: "row" }, this.#connect, this.#remove, this.#tools),
      aboutServer(app, this.#path, opened),
    );
  }

  /** Shows how it does now. */
  show(server: JsonObject): void {
    // How many calls are under way is not shown.
    const text = JSON.stringify({ ...server, active: 0, queued: 0, retries: 0 });
    if (text === this.#shown) return;
    this.#shown = text;
    const state = textOf(server.state);
    setBadge(this.#badge, ...(entryOf(states, state) ?? [state, "quiet"] as const));
    const wantsSignIn = state === "authorizing";
    this.#connect.textContent = wantsSignIn ? "Sign in" : "Connect again";
    this.#connect.classList.toggle("main", wantsSignIn);
    this.#remove.hidden = server.added !== true;
    const tools = numberOf(server.tools);
    this.#tools.hidden = tools === 0;
    // What is asked, or is to be opened, stays while the server changes. Once it is connected, that is over.
    if (state === "connected" && this.#state !== state) fill(this.#said);
    this.#state = state;
    const error = state === "connected" ? "" : textOf(objectOf(server.lastError).message);
    const counts = [
      count(tools, "tool"),
      count(numberOf(server.resources), "resource"),
      count(numberOf(server.prompts), "prompt"),
    ];
    fill(
      this.#facts,
      h("p", { class: "muted" }, counts.join(" · ")),
      server.isOpen === true &&
        h("p", { class: "muted" }, "Too many calls failed: calls are refused for a while."),
      error !== "" && h("div", { class: "notice bad" }, h("p", {}, foreign(error, "last-error"))),
    );
  }

  async #work(made: HTMLButtonElement, doing: () => Promise<void>): Promise<void> {
    const release = hold(made);
    made.setAttribute("aria-busy", "true");
    try {
      await doing();
    } catch (error) {
      fill(this.#said, problemBox(error));
    } finally {
      release();
      made.removeAttribute("aria-busy");
    }
  }

  #retry(): Promise<void> {
    return this.#work(this.#connect, async () => {
      const status = await askJson(this.#app.ask, `${this.#path}/connect`, { method: "POST", body: {} });
      if (showSignIn(this.#app, this.#said, status)) return;
      fill(this.#said);
      this.#app.announce(`${this.#name}: ${entryOf(states, textOf(status.state))?.[0] ?? textOf(status.state)}`);
      this.#done();
    });
  }

  #ask(): void {
    const yes = button("Remove it", () =>
      void this.#work(yes, async () => {
        await this.#app.ask(this.#path, { method: "DELETE" });
        this.#app.announce(`${this.#name} was removed`);
        this.#done();
      }), { class: "button danger" });
    const no = button("Keep it", () => {
      fill(this.#said);
      this.#remove.focus();
    });
    const text = h("p", {}, "Its tools are gone then, and its tokens are withdrawn.");
    fill(this.#said, h("div", { class: "notice warn" }, text, h("div", { class: "row" }, yes, no)));
    yes.focus();
  }
}

/** What a server says of its use, and what it writes to its log, while it is open. */
function aboutServer(app: App, path: string, opened: (details: HTMLDetailsElement) => void): HTMLElement {
  const place = h("div", { class: "stack" });
  const details = h("details", {}, h("summary", {}, "What it says"), place);
  let left = new AbortController();
  details.addEventListener("toggle", () => {
    left.abort();
    if (!details.open) return;
    left = new AbortController();
    opened(details);
    tell({ ...app, signal: AbortSignal.any([app.signal, left.signal]) }, path, place);
  });
  return details;
}

function tell(app: App, path: string, place: HTMLElement): void {
  fill(place, loading("Loading", 2));
  inBackground(app, async () => {
    const about = await askJson(app.ask, path, { signal: app.signal });
    const instructions = textOf(about.instructions);
    fill(
      place,
      h("h3", { class: "sub" }, "Instructions for models"),
      instructions === ""
        ? h("p", { class: "muted" }, "It gives none.")
        : foreignBlock(instructions, "instructions", "prose"),
      h("h3", { class: "sub" }, "Log, from now on"),
      logView(app, `${path}/events`),
    );
  }, (error) => fill(place, problemBox(error)));
}

function noServers(): HTMLElement {
  return empty(
    "No servers yet",
    h("p", {}, "Add one below by its address. When it wants a sign-in, you are led there."),
  );
}
