/**
 * Runs of agents: starting one, and those that there are.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { ApiProblem, askJson, numberOf, objectsOf, textOf } from "../base/api.ts";
import { inBackground, keepLoading } from "../base/app.ts";
import type { App, View } from "../base/app.ts";
import { button, fill, h, icon, innerLink } from "../base/dom.ts";
import { ago, count, entryOf } from "../base/text.ts";
import { foreign } from "../parts/foreign.ts";
import { badge, loading } from "../parts/pieces.ts";
import type { Tone } from "../parts/pieces.ts";
import { showProblem } from "../parts/problem.ts";
import { runView } from "./run.ts";
import { startForm } from "./start_run.ts";

const interval = 4_000;

/** How a run stands, in words. */
const runStates: Readonly<Record<string, readonly [string, Tone]>> = {
  accepted: ["accepted", "busy"],
  running: ["running", "busy"],
  needs_input: ["waits for you", "warn"],
  needs_decision: ["wants a decision", "warn"],
  succeeded: ["done", "good"],
  failed: ["failed", "bad"],
  cancelled: ["cancelled", "quiet"],
};

/** The view of runs; `id` is the one that is open. */
export function runsView(app: App, id: string | undefined): View {
  return new RunsView(app, id);
}

class RunsView implements View {
  readonly element: HTMLElement;
  title: string = "Runs";
  readonly #app: App;
  readonly #list: HTMLElement = h("nav", { class: "items", "aria-label": "Runs" }, loading("Loading runs", 5));
  readonly #detail: HTMLElement = h("section", { class: "detail" });
  #shown = "";
  #isAsked = false;
  /** What stands above the page that is shown; undefined: it is the first. */
  #after: string | undefined;
  /** It was turned to, and is not shown yet. */
  #isTurned = false;
  #open: string | undefined;
  #leave = new AbortController();

  constructor(app: App, id: string | undefined) {
    this.#app = app;
    const start = h("div", { class: "row" }, innerLink("runs", { class: "button main wide" }, "New run"));
    const side = h("div", { class: "side" }, h("h1", { class: "hidden" }, "Runs"), start, this.#list);
    this.element = h("main", { id: "main", class: "split", tabindex: -1 }, side, this.#detail);
    this.update(id);
    keepLoading(app, interval, (signal) => this.#load(signal), (error) => this.#failed(error));
  }

  update(id: string | undefined): void {
    this.#leave.abort();
    this.#leave = new AbortController();
    this.#open = id;
    this.title = id === undefined ? "Runs" : `Run ${id}`;
    this.element.classList.toggle("is-open", id !== undefined);
    const { signal } = this.#leave;
    const app = { ...this.#app, signal: AbortSignal.any([this.#app.signal, signal]) };
    const started = (path: string): void => {
      this.#after = undefined;
      app.go(path);
    };
    fill(
      this.#detail,
      ...(id === undefined ? [startForm({ ...app, go: started })] : [back(), runView(app, id, () => this.#again())]),
    );
    this.#shown = "";
    this.#again();
  }

  /** In a moment: many things may happen at once. */
  #again(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    inBackground(this.#app, async () => {
      await this.#app.wait(100, this.#app.signal);
      this.#isAsked = false;
      if (!this.#app.signal.aborted) await this.#load(this.#app.signal);
    }, (error) => this.#failed(error));
  }

  #turnTo(after?: string): void {
    this.#after = after;
    this.#isTurned = true;
    this.#again();
  }

  async #load(signal: AbortSignal): Promise<void> {
    const after = this.#after;
    const place = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
    const reply = await askJson(this.#app.ask, `/api/runs?limit=50${place}`, { signal });
    if (after !== this.#after) return;
    const runs = objectsOf(reply.runs);
    const now = this.#app.now();
    const next = textOf(reply.next);
    const text = [after, next, JSON.stringify(runs), Math.floor(now / 60_000)].join();
    // A row that is pressed stays until it is let go.
    if (text === this.#shown || this.#list.matches(":active")) return;
    this.#shown = text;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.run : undefined;
    const rows = runs.map((run) => rowOf(run, this.#open, now));
    fill(
      this.#list,
      after !== undefined && button("Newest runs", () => this.#turnTo(), { "data-run": "<" }),
      ...rows,
      runs.length === 0 && h("p", { class: "muted" }, after === undefined ? "No runs yet." : "No older runs."),
      next !== "" && button("Older runs", () => this.#turnTo(next), { "data-run": ">" }),
    );
    if (this.#isTurned) this.#list.firstElementChild?.scrollIntoView({ block: "nearest" });
    this.#isTurned = false;
    if (focused === undefined) return;
    // Whoever reads further down stays there; whoever turned over goes on from there.
    const same = this.#list.querySelector<HTMLElement>(`[data-run="${CSS.escape(focused)}"]`);
    (same ?? this.#list.querySelector<HTMLElement>("button"))?.focus({ preventScroll: true });
  }

  #failed(error: unknown): void {
    this.#shown = "";
    const isOff = error instanceof ApiProblem && error.code === "not_offered";
    if (isOff) fill(this.#list, h("p", { class: "muted" }, error.message));
    else showProblem(this.#list, error, () => this.#again());
  }
}

function back(): HTMLElement {
  return innerLink("runs", { class: "button small back" }, icon("back"), "All runs");
}

function rowOf(run: JsonObject, open: string | undefined, now: number): HTMLElement {
  const id = textOf(run.id);
  const [word, tone] = entryOf(runStates, textOf(run.state)) ?? [textOf(run.state), "quiet"];
  return innerLink(
    `runs/${encodeURIComponent(id)}`,
    { class: "item-link", "aria-current": id === open ? "true" : undefined, "data-run": id },
    h("span", { class: "item-title" }, foreign(textOf(run.agent), "agent-name"), badge(word, tone)),
    h(
      "span",
      { class: "muted small" },
      `${ago(numberOf(run.createdAt), now)} · ${count(numberOf(run.steps), "step")}`,
    ),
  );
}
