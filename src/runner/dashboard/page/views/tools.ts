/**
 * Tools: finding one, and trying it.
 *
 * @module
 */
import { askJson, objectOf, objectsOf, textOf } from "../base/api.ts";
import { inBackground } from "../base/app.ts";
import type { App, View } from "../base/app.ts";
import { button, fill, h, icon, innerLink } from "../base/dom.ts";
import { count } from "../base/text.ts";
import { foreign } from "../parts/foreign.ts";
import { badge, empty, loading } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";
import { listed } from "../parts/listed.ts";
import type { ListedTool } from "../parts/listed.ts";
import { playground } from "./playground.ts";

const pageSize = 200;

/** The view of tools; `name` is the one that is open. */
export function toolsView(app: App, name: string | undefined): View {
  return new ToolsView(app, name);
}

class ToolsView implements View {
  readonly element: HTMLElement;
  title: string = "Tools";
  readonly #app: App;
  readonly #search: HTMLInputElement;
  readonly #summary: HTMLElement = h("p", { class: "muted small", role: "status" });
  readonly #list: HTMLElement = h("nav", { class: "items", "aria-label": "Tools" }, loading("Loading tools", 6));
  readonly #detail: HTMLElement = h("section", { class: "detail" });
  /** Counts what was asked for: what comes late is not shown. */
  #turn = 0;
  #known: readonly ListedTool[] = [];
  #open: string | undefined;
  #leave = new AbortController();

  constructor(app: App, name: string | undefined) {
    this.#app = app;
    this.#search = h("input", {
      ...{
        type: "search",
        id: "search",
        placeholder: "Search tools",
        "aria-label": "Search tools",
        autocomplete: "off",
      },
      ...{ "aria-keyshortcuts": "/", maxlength: 1000 },
      on: { input: () => this.#later() },
    });
    const search = h("div", { class: "search" }, icon("search"), this.#search);
    const side = h("div", { class: "side" }, h("h1", { class: "hidden" }, "Tools"), search, this.#summary, this.#list);
    this.element = h("main", { id: "main", class: "split", tabindex: -1 }, side, this.#detail);
    this.#begin();
    this.update(name);
  }

  update(name: string | undefined): void {
    this.#leave.abort();
    this.#leave = new AbortController();
    this.#open = name;
    this.title = name ?? "Tools";
    this.element.classList.toggle("is-open", name !== undefined);
    for (const link of this.#list.querySelectorAll<HTMLElement>("a.item-link")) mark(link, link.dataset.tool === name);
    if (name === undefined) return fill(this.#detail, nothingOpen());
    const { signal } = this.#leave;
    const app = { ...this.#app, signal: AbortSignal.any([this.#app.signal, signal]) };
    const known = this.#known.find((tool) => tool.name === name);
    if (known) return fill(this.#detail, back(), playground(app, known));
    fill(this.#detail, back(), loading("Loading the tool"));
    const again = (): void =>
      inBackground(app, async () => {
        const tool = await findTool(app, name);
        fill(this.#detail, back(), tool ? playground(app, tool) : gone(name));
      }, (error) => fill(this.#detail, back(), problemBox(error, again)));
    again();
  }

  key(event: KeyboardEvent): boolean {
    return moveBy(event, { search: this.#search, list: this.#list });
  }

  async #load(after?: string): Promise<void> {
    const mine = ++this.#turn;
    const words = this.#search.value.trim();
    const query = words ? `query=${encodeURIComponent(words)}&limit=50` : `limit=${pageSize}`;
    const place = `/api/tools?${query}${after === undefined ? "" : `&after=${encodeURIComponent(after)}`}`;
    const reply = await askJson(this.#app.ask, place, { signal: this.#app.signal }).catch((error: unknown) => {
      if (mine === this.#turn) throw error;
    });
    if (mine !== this.#turn || !reply) return;
    const found = objectsOf(reply.tools).map(listed);
    const before = after === undefined ? 0 : this.#known.length;
    this.#known = after === undefined ? found : [...this.#known, ...found];
    const next = textOf(reply.next);
    const many = count(this.#known.length, "tool");
    this.#summary.textContent = words ? `${many} for “${words}”` : `${many}${next ? " so far" : ""}`;
    fill(
      this.#list,
      ...rowsOf(this.#known, this.#open, words !== ""),
      next !== "" && button("Show more", () => this.#begin(next)),
      this.#known.length === 0 && words !== "" && noFit(),
    );
    // The button that was pressed is gone: one goes on with what has come, unless one is elsewhere by now.
    if (before > 0 && document.activeElement === document.body) {
      this.#list.querySelectorAll<HTMLElement>("a.item-link")[before]?.focus();
    }
    if (this.#open === undefined && words === "") fill(this.#detail, this.#known.length ? nothingOpen() : noTools());
  }

  #begin(after?: string): void {
    inBackground(this.#app, () => this.#load(after), (error) => this.#failed(error));
  }

  /** When nothing more is typed for a moment. */
  #later(): void {
    const mine = ++this.#turn;
    inBackground(this.#app, async () => {
      await this.#app.wait(150, this.#app.signal);
      if (mine === this.#turn) await this.#load();
    }, (error) => this.#failed(error));
  }

  #failed(error: unknown): void {
    fill(this.#list, problemBox(error, () => this.#begin()));
  }
}

/** There is no route for one tool: the page before it is asked, which begins with it. */
async function findTool(app: App, name: string): Promise<ListedTool | undefined> {
  let after: string | undefined;
  do {
    const query = `limit=1000${after === undefined ? "" : `&after=${encodeURIComponent(after)}`}`;
    const reply = await askJson(app.ask, `/api/tools?${query}`, { signal: app.signal });
    const found = objectsOf(reply.tools).map(listed).find((tool) => tool.name === name);
    if (found) return found;
    after = textOf(reply.next) || undefined;
  } while (after !== undefined);
  return undefined;
}

function rowsOf(tools: readonly ListedTool[], open: string | undefined, isRanked: boolean): HTMLElement[] {
  const rows: HTMLElement[] = [];
  let server: string | undefined;
  for (const entry of tools) {
    if (!isRanked && entry.server !== server) {
      rows.push(h("h2", { class: "over" }, foreign(entry.server, "server-name")));
    }
    server = entry.server;
    rows.push(rowOf(entry, open === entry.name, isRanked));
  }
  return rows;
}

function rowOf({ name, server, tool, approval }: ListedTool, isOpen: boolean, withServer: boolean): HTMLElement {
  const { title, description } = tool;
  const annotations = objectOf(tool.annotations);
  const shown = textOf(title, textOf(annotations.title, textOf(tool.name, name)));
  const link = innerLink(
    `tools/${encodeURIComponent(name)}`,
    { class: "item-link", "data-tool": name },
    h("span", { class: "item-title" }, foreign(shown, "tool-title"), approval && badge("approval", "warn")),
    withServer && h("span", { class: "muted small" }, foreign(server, "server-name")),
    textOf(description) !== "" && h("span", { class: "item-text" }, foreign(textOf(description), "tool-description")),
  );
  mark(link, isOpen);
  return link;
}

function mark(link: HTMLElement, isOpen: boolean): void {
  if (isOpen) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
}

function nothingOpen(): HTMLElement {
  const shown = empty(
    "Choose a tool",
    h(
      "p",
      {},
      "Pick one on the left, or press ",
      h("kbd", {}, "/"),
      " and search. You can try it here, and copy the call.",
    ),
  );
  shown.classList.add("choose");
  return shown;
}

function noFit(): HTMLElement {
  return empty(
    "Nothing fits",
    h("p", {}, "Try other words, or fewer. Names, descriptions and parameters are searched."),
  );
}

function noTools(): HTMLElement {
  return empty(
    "No tools yet",
    h("p", {}, "Add a server, or sign in to one that wants it."),
    innerLink("servers", { class: "button main" }, "Go to Servers"),
  );
}

function gone(name: string): HTMLElement {
  return empty(
    "There is no such tool",
    h("p", {}, h("code", {}, foreign(name, "tool-name")), " is not there any more, or its server is down."),
    innerLink("servers", { class: "button" }, "Look at the servers"),
  );
}

function back(): HTMLElement {
  return innerLink("tools", { class: "button small back" }, icon("back"), "All tools");
}

/** `/` goes to the search; arrows go through the list. */
function moveBy(
  event: KeyboardEvent,
  { search, list }: { readonly search: HTMLElement; readonly list: HTMLElement },
): boolean {
  const links = [...list.querySelectorAll<HTMLElement>("a.item-link")];
  const at = links.findIndex((link) => link === document.activeElement);
  if (event.key === "/" && !isTyping(event.target)) {
    search.focus();
    return true;
  }
  const isInList = at >= 0 || document.activeElement === search;
  if (!isInList || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return false;
  const next = at + (event.key === "ArrowDown" ? 1 : -1);
  if (next < 0) search.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
  return true;
}

/** Whether keys are for what is typed in. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement;
}
