/**
 * Trying a tool: its arguments as a form or as JSON, the call with its progress, what it gave, and the call to copy.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { objectOf, textOf } from "../base/api.ts";
import type { App } from "../base/app.ts";
import { button, fill, h, hold } from "../base/dom.ts";
import { iconOf } from "../base/links.ts";
import { shownJson, span } from "../base/text.ts";
import { makeEditor } from "../form/editor.ts";
import type { Editor } from "../form/seam.ts";
import { foreign, foreignBlock, hiddenWarning } from "../parts/foreign.ts";
import { badge, copyButton, disclosure, segments } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";
import { cutView, resultView } from "../parts/result.ts";
import { commandSnippet, curlSnippet, typescriptSnippet } from "../snippets.ts";
import { approvalPanel } from "../parts/approval.ts";
import { callTool } from "../parts/call.ts";
import type { ListedTool } from "../parts/listed.ts";

/** A tool to try. */
export function playground(app: App, entry: ListedTool): HTMLElement {
  return new Playground(app, entry).element;
}

class Playground {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #entry: ListedTool;
  readonly #editor: Editor;
  readonly #output: HTMLElement = h("div", { class: "stack" });
  readonly #call: HTMLButtonElement = button("Call", () => void this.#begin(), {
    class: "button main",
    "aria-keyshortcuts": "Control+Enter",
  });
  readonly #stop: HTMLButtonElement = button("Cancel", () => this.#under?.abort(), { hidden: true });
  #under: AbortController | undefined;

  constructor(app: App, entry: ListedTool) {
    this.#app = app;
    this.#entry = entry;
    const schema = objectOf(entry.tool.inputSchema);
    const key = entry.name + JSON.stringify(schema);
    this.#editor = app.drafts.get(key) ?? makeEditor(schema, "argument");
    app.drafts.set(key, this.#editor);
    const keys = h("span", { class: "muted small wide-only" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter"));
    const bar = h("div", { class: "row" }, this.#call, this.#stop, keys);
    this.element = h(
      "article",
      { class: "stack", "data-open-tool": entry.name, on: { keydown: (event) => this.#key(event) } },
      headOf(entry),
      h("section", { class: "card stack" }, this.#editor.element, bar),
      this.#output,
      snippets(app, entry, () => this.#editor.value()),
      disclosure("Schemas", () => schemasOf(entry.tool)),
    );
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!event.repeat) void this.#begin();
  }

  async #begin(approval?: string): Promise<void> {
    const given = this.#under ? undefined : this.#editor.take();
    if (!given) return this.#under ? undefined : this.#app.announce("Correct the arguments that are marked");
    const under = this.#under = new AbortController();
    const signal = AbortSignal.any([under.signal, this.#app.signal]);
    const { element, show: progress } = progressLine();
    fill(this.#output, element);
    this.#app.whisper("Calling");
    const release = hold(this.#call);
    this.#stop.hidden = false;
    try {
      const started = performance.now();
      const outcome = await callTool(this.#app.ask, { name: this.#entry.name, given, approval, signal, progress });
      const took = h("p", { class: "muted small" }, `Took ${span(performance.now() - started)}`);
      fill(this.#output, took, "result" in outcome ? resultView(outcome.result) : cutView(outcome.cut));
      const hasFailed = "result" in outcome && outcome.result.isError === true;
      this.#app.whisper(hasFailed ? "The tool failed" : "The result is there");
    } catch (error) {
      this.#failed(error, signal);
    } finally {
      this.#under = undefined;
      release();
      // What was pressed is gone.
      if (document.activeElement === this.#stop) this.#call.focus({ preventScroll: true });
      this.#stop.hidden = true;
    }
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      this.#app.whisper("Cancelled");
      return fill(this.#output, h("p", { class: "muted" }, "Cancelled. The tool may have begun its work."));
    }
    const panel = approvalPanel(this.#app, error, (id) => {
      // What was pressed is gone in a moment.
      this.#call.focus({ preventScroll: true });
      void this.#begin(id);
    });
    if (panel) this.#app.whisper("This call wants an approval");
    fill(this.#output, panel ?? problemBox(error, () => void this.#begin()));
  }
}

function headOf({ name, server, tool, approval }: ListedTool): HTMLElement {
  const annotations = objectOf(tool.annotations);
  const title = textOf(tool.title, textOf(annotations.title));
  const description = textOf(tool.description);
  const picture = Array.isArray(tool.icons)
    ? tool.icons.map((one) => isObject(one) ? iconOf(one.src) : undefined).find((found) => found !== undefined)
    : undefined;
  const image = picture === undefined ? undefined : h("img", { class: "tool-icon", alt: "" });
  if (image && picture !== undefined) image.src = picture;
  return h(
    "header",
    { class: "stack tight" },
    h(
      "div",
      { class: "row" },
      image,
      h("h1", {}, foreign(title || textOf(tool.name, name), title ? "tool-title" : "tool-name")),
    ),
    h(
      "div",
      { class: "row" },
      h("code", { class: "muted" }, foreign(name, "qualified-name")),
      h("span", { class: "muted" }, "at ", foreign(server, "server-name")),
      ...hintsOf(annotations),
      approval && badge("wants an approval", "warn"),
    ),
    description !== "" && foreignBlock(description, "tool-description", "prose"),
    hiddenWarning(`${title}${description}`, "What this tool says of itself"),
  );
}

/** What a server says of its tool; it is not trusted. */
function hintsOf({ readOnlyHint, destructiveHint, idempotentHint }: JsonObject): readonly (HTMLElement | undefined)[] {
  const said = (text: string, tone: "quiet" | "warn"): HTMLElement => {
    const made = badge(text, tone);
    made.title = "What its server says; nobody has checked it";
    return made;
  };
  return [
    readOnlyHint === true ? said("says: only reads", "quiet") : undefined,
    destructiveHint === true && readOnlyHint !== true ? said("says: can destroy", "warn") : undefined,
    idempotentHint === true ? said("says: repeatable", "quiet") : undefined,
  ];
}

function snippets(app: App, { name }: ListedTool, given: () => JsonObject): HTMLElement {
  const makers = { curl: curlSnippet, command: commandSnippet, typescript: typescriptSnippet };
  type Language = keyof typeof makers;
  let language: Language = "curl";
  const place = h("pre", { class: "code", "data-snippet": "curl", tabindex: 0 });
  const text = (): string => makers[language]({ origin: app.origin, tool: name, arguments: given() });
  const show = (): void => {
    place.textContent = text();
    place.dataset.snippet = language;
  };
  const choice = segments<Language>(
    "Language",
    { curl: "curl", command: "CLI", typescript: "TypeScript" },
    (chosen) => {
      language = chosen;
      show();
    },
  );
  const copy = copyButton(app, "Copy", text);
  const details = disclosure("Copy this call", () => {
    show();
    return h(
      "div",
      { class: "stack tight" },
      h("div", { class: "row between" }, choice.element, copy),
      place,
      h(
        "p",
        { class: "muted small" },
        "Your key is not in it: put it into the variable ",
        h("code", {}, "CAUSEWAY_KEY"),
        ".",
      ),
    );
  });
  // What was typed since stands in it when one looks.
  details.addEventListener("toggle", show);
  details.addEventListener("pointerenter", show);
  details.addEventListener("focusin", show);
  return details;
}

function schemasOf(tool: JsonObject): HTMLElement {
  return h(
    "div",
    { class: "stack" },
    h("h3", { class: "sub" }, "Input"),
    foreignBlock(shownJson(tool.inputSchema ?? {}), "input-schema"),
    tool.outputSchema !== undefined && h("h3", { class: "sub" }, "Output"),
    tool.outputSchema !== undefined && foreignBlock(shownJson(tool.outputSchema), "output-schema"),
  );
}

function progressLine(): { readonly element: HTMLElement; readonly show: (sign: JsonObject) => void } {
  const bar = h("progress", { "aria-label": "Progress" });
  const text = h("p", { class: "muted" }, "Calling…");
  return {
    element: h("div", { class: "stack tight" }, bar, text),
    show({ progress, total, message }) {
      if (typeof progress === "number" && typeof total === "number" && total > 0) {
        bar.max = total;
        bar.value = progress;
      }
      const counted = typeof progress === "number"
        ? `${progress}${typeof total === "number" ? ` of ${total}` : ""}`
        : "";
      fill(
        text,
        counted,
        textOf(message) !== "" && " · ",
        textOf(message) !== "" && foreign(textOf(message), "progress-message"),
      );
    },
  };
}
