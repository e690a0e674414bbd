/**
 * Servers: how they do, signing in, adding and removing.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { askJson, numberOf, objectOf, objectsOf, textOf } from "../base/api.ts";
import { inBackground, keepLoading } from "../base/app.ts";
import type { App, View } from "../base/app.ts";
import { button, fill, h, hold, innerLink } from "../base/dom.ts";
import { count, entryOf } from "../base/text.ts";
import { foreign, foreignBlock } from "../parts/foreign.ts";
import { badge, disclosure, empty, loading } from "../parts/pieces.ts";
import type { Tone } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";
import { addForm, showSignIn } from "./add_server.ts";
import { logView } from "./log.ts";

const interval = 5_000;

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
  let cards: ReadonlyMap<string, { readonly text: string; readonly card: ServerCard }> = new Map();
  async function load(): Promise<void> {
    const reply = await askJson(app.ask, "/api/servers", { signal: app.signal });
    const servers = objectsOf(reply.servers);
    const focused = document.activeElement;
    const wasHere = list.contains(focused);
    const scrolled = [...list.querySelectorAll("ol, pre")].map((one) => [one, one.scrollTop] as const);
    cards = new Map(servers.map((server) => {
      const name = textOf(server.name);
      // How many calls are under way is not shown.
      const text = JSON.stringify({ ...server, active: 0, queued: 0, retries: 0 });
      const known = cards.get(name);
      // A card that says the same stays, and what is open in it stays open whatever it says.
      const card = known?.text === text
        ? known.card
        : new ServerCard(app, server, { done: again, before: known?.card });
      return [name, { text, card }];
    }));
    const elements = [...cards.values()].map(({ card }) => card.element);
    const isSame = elements.length === list.children.length &&
      elements.every((element, at) => list.children[at] === element);
    if (isSame && elements.length > 0) return;
    fill(list, ...elements, elements.length === 0 && noServers());
    // What was moved has lost where it was, and the focus.
    for (const [one, top] of scrolled) one.scrollTop = top;
    if (focused instanceof HTMLElement && wasHere) {
      (focused.isConnected ? focused : element).focus({ preventScroll: true });
    }
  }
  function again(): void {
    inBackground(app, load, failed);
  }
  function failed(error: unknown): void {
    fill(list, problemBox(error, again));
  }
  keepLoading(app, interval, load, failed);
  const element = h(
    "main",
    { id: "main", class: "page stack", tabindex: -1 },
    h("h1", {}, "Servers"),
    list,
    addForm(app, again),
  );
  return { title: "Servers", element };
}

/** One server. */
class ServerCard {
  readonly element: HTMLElement;
  /** What it says, which may be open: the log in it goes on. */
  readonly about: HTMLDetailsElement;
  readonly #app: App;
  readonly #name: string;
  readonly #path: string;
  readonly #done: () => void;
  readonly #state: string;
  readonly #said: HTMLElement;
  readonly #connect: HTMLButtonElement;

  constructor(
    app: App,
    server: JsonObject,
    { done, before }: { readonly done: () => void; readonly before: ServerCard | undefined },
  ) {
    const name = textOf(server.name);
    const state = textOf(server.state);
    const [word, tone] = entryOf(states, state) ?? [state, "quiet"];
    const wantsSignIn = state === "authorizing";
    this.#app = app;
    this.#name = name;
    this.#path = `/api/servers/${encodeURIComponent(name)}`;
    this.#done = done;
    this.#state = state;
    // What is asked, or is to be opened, stays while the server changes. Once it is connected, that is over.
    const stays = before && (state !== "connected" || before.#state === state);
    this.#said = stays ? before.#said : h("div", { class: "stack" });
    this.about = before?.about.open ? before.about : disclosure("What it says", () => aboutServer(app, this.#path));
    this.#connect = button(wantsSignIn ? "Sign in" : "Connect again", () => void this.#retry(), {
      class: wantsSignIn ? "button main" : "button",
    });
    const remove = server.added === true && button("Remove", () => this.#ask(), { "data-remove": true });
    const tools = numberOf(server.tools);
    const error = state === "connected" ? "" : textOf(objectOf(server.lastError).message);
    const counts = [
      count(tools, "tool"),
      count(numberOf(server.resources), "resource"),
      count(numberOf(server.prompts), "prompt"),
    ];
    const isOpen = server.isOpen === true;
    this.element = h(
      "article",
      { class: "card stack", "data-server": name },
      h("div", { class: "row between" }, h("h2", {}, foreign(name, "server-name")), badge(word, tone)),
      h("p", { class: "muted" }, counts.join(" · ")),
      isOpen && h("p", { class: "muted" }, "Too many calls failed: calls are refused for a while."),
      error !== "" && h("div", { class: "notice bad" }, h("p", {}, foreign(error, "last-error"))),
      this.#said,
      h(
        "div",
        { class: "row" },
        this.#connect,
        remove,
        tools > 0 && innerLink("tools", { class: "button" }, "Tools"),
      ),
      this.about,
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
      if (showSignIn(this.#said, status)) return;
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
      // The card may be another one by now.
      this.#said.parentElement?.querySelector<HTMLElement>("[data-remove]")?.focus();
    });
    const text = h("p", {}, "Its tools are gone then, and its tokens are withdrawn.");
    fill(this.#said, h("div", { class: "notice warn" }, text, h("div", { class: "row" }, yes, no)));
    yes.focus();
  }
}

/** What a server says of its use, and what it writes to its log. */
function aboutServer(app: App, path: string): HTMLElement {
  const place = h("div", { class: "stack" }, loading("Loading", 2));
  inBackground(app, async () => {
    const about = await askJson(app.ask, path, { signal: app.signal });
    const instructions = textOf(about.instructions);
    fill(
      place,
      h("h4", {}, "Instructions for models"),
      instructions === ""
        ? h("p", { class: "muted" }, "It gives none.")
        : foreignBlock(instructions, "instructions", "prose"),
      h("h4", {}, "Log, from now on"),
      logView(app, `${path}/events`),
    );
  }, (error) => fill(place, problemBox(error)));
  return place;
}

function noServers(): HTMLElement {
  return empty(
    "No servers yet",
    h("p", {}, "Add one below by its address. When it wants a sign-in, you are led there."),
  );
}
