/**
 * What happened in a run, in the order in which it did.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { numberOf, objectOf, textOf } from "../base/api.ts";
import type { App } from "../base/app.ts";
import { fill, h } from "../base/dom.ts";
import { bytes, entryOf, shownJson, span } from "../base/text.ts";
import { foreign, foreignBlock } from "../parts/foreign.ts";
import { badge, disclosure, setBadge } from "../parts/pieces.ts";
import type { Tone } from "../parts/pieces.ts";
import { resultView } from "../parts/result.ts";
import { questionCard } from "./question.ts";
import type { QuestionCard } from "./question.ts";

const outcomes: Readonly<Record<string, readonly [string, Tone]>> = {
  ok: ["ok", "good"],
  tool_error: ["the tool failed", "bad"],
  not_called: ["not called", "warn"],
  denied: ["denied", "warn"],
  unknown: ["may have run", "bad"],
};

/** The timeline of a run. */
export interface Timeline {
  readonly element: HTMLElement;
  /** Shows an event. */
  add(event: JsonObject, at: number): void;
  /** Names an event that is too large to be read. */
  tooLarge(type: string, size: string): void;
}

interface ToolCard {
  readonly element: HTMLElement;
  readonly state: HTMLElement;
  readonly place: HTMLElement;
}

/** Makes a timeline. */
export function makeTimeline(app: App, path: string): Timeline {
  return new RunTimeline(app, path);
}

class RunTimeline implements Timeline {
  readonly element: HTMLElement = h("ol", { class: "timeline" });
  readonly #app: App;
  readonly #path: string;
  readonly #calls = new Map<string, ToolCard>();
  readonly #questions = new Map<string, QuestionCard>();
  #isMeasured = false;
  #isOver = false;
  #told = "";
  /** Where pieces of text go on. */
  #text: { readonly kind: string; readonly step: number; readonly place: HTMLElement } | undefined;

  constructor(app: App, path: string) {
    this.#app = app;
    this.#path = path;
  }

  add(event: JsonObject, at: number): void {
    this.#keepAtEnd();
    this.#show(event, at);
  }

  /**
   * Whoever looks at the end goes on to look at it, unless a question waits: it stays where it is answered. It is measured once a
   * frame: a run may tell thousands of things at once.
   */
  #keepAtEnd(): void {
    if (this.#isMeasured) return;
    this.#isMeasured = true;
    const { documentElement: page } = document;
    const isAtEnd = innerHeight + scrollY >= page.scrollHeight - 80 && !this.#waits();
    requestAnimationFrame(() => {
      this.#isMeasured = false;
      if (isAtEnd && this.element.isConnected) scrollTo({ top: page.scrollHeight });
      this.#whisper();
    });
  }

  #waits(): boolean {
    return this.element.querySelector(".attention") !== null;
  }

  /** What stands at the end of all that was told at once: what is over already is not told as if it were not. */
  #whisper(): void {
    const state = this.#isOver ? "The run is over" : this.#waits() ? "The run waits for you" : "";
    if (state !== "" && state !== this.#told) this.#app.whisper(state);
    this.#told = state;
  }

  tooLarge(type: string, size: string): void {
    this.#append(
      h(
        "div",
        { class: "notice warn" },
        h("p", {}, `An event (${type}) has ${size}: it is not shown. Read it with curl.`),
      ),
      "event",
    );
  }

  #show(event: JsonObject, at: number): void {
    const { type } = event;
    if (type === "text" || type === "reasoning") return this.#write(event, type);
    if (type === "progress") return this.#progress(event);
    if (type === "usage") return;
    this.#text = undefined;
    if (type === "step") {
      this.#append(h("h2", {}, `Step ${numberOf(event.step)}`), "step").dataset.step = String(numberOf(event.step));
    } else if (type === "restarted") this.#restart(event);
    else if (type === "tool_call") this.#call(objectOf(event.call));
    else if (type === "observation") this.#observe(objectOf(event.observation));
    else if (type === "question") this.#ask(objectOf(event.question));
    else if (type === "answered") this.#questions.get(textOf(event.id))?.answered(textOf(event.action));
    else this.#end(event, at);
  }

  #append(content: HTMLElement, kind: string): HTMLElement {
    const item = h("li", { class: `moment ${kind}` }, content);
    this.element.append(item);
    return item;
  }

  #write(event: JsonObject, kind: string): void {
    const step = numberOf(event.step);
    if (this.#text?.kind !== kind || this.#text.step !== step) {
      const place = h("div", {
        class: "prose",
        "data-part": kind === "text" ? "model-text" : "model-reasoning",
        dir: "auto",
      });
      const shown = kind === "text" ? place : h("details", {}, h("summary", {}, "What it thinks"), place);
      this.#append(shown, kind).dataset.step = String(step);
      this.#text = { kind, step, place };
    }
    this.#text.place.append(textOf(event.text));
  }

  #restart(event: JsonObject): void {
    const step = String(numberOf(event.step));
    for (const item of this.element.children) {
      if (item instanceof HTMLElement && item.dataset.step === step && !item.classList.contains("step")) {
        item.classList.add("is-void");
      }
    }
    this.#append(
      h("p", { class: "muted" }, "This step begins again: ", foreign(textOf(event.reason), "restart-reason")),
      "note",
    );
  }

  #card(id: string, call: JsonObject): ToolCard {
    const known = this.#calls.get(id);
    if (known) return known;
    const state = badge("calling", "busy");
    const place = h("div", { class: "stack tight" });
    const element = h(
      "article",
      { class: "card inner stack tight", "data-call": id },
      h(
        "div",
        { class: "row between" },
        h(
          "div",
          { class: "row" },
          h("strong", {}, foreign(textOf(call.tool), "call-tool")),
          h("span", { class: "muted" }, "at ", foreign(textOf(call.server), "call-server")),
        ),
        state,
      ),
      call.arguments !== undefined &&
        disclosure("Arguments", () => foreignBlock(shownJson(call.arguments), "call-arguments")),
      place,
    );
    const made = { element, state, place };
    this.#calls.set(id, made);
    this.#append(element, "call");
    return made;
  }

  #call(call: JsonObject): void {
    this.#card(textOf(call.id), call);
  }

  #progress(event: JsonObject): void {
    const card = this.#calls.get(textOf(event.id));
    if (!card) return;
    const bar = h("progress", { "aria-label": "Progress" });
    if (numberOf(event.total) > 0) {
      bar.max = numberOf(event.total);
      bar.value = numberOf(event.progress);
    }
    fill(
      card.place,
      bar,
      textOf(event.message) !== "" &&
        h("p", { class: "muted small" }, foreign(textOf(event.message), "progress-message")),
    );
  }

  #observe(observation: JsonObject): void {
    const card = this.#card(textOf(observation.id), observation);
    const [word, tone] = entryOf(outcomes, textOf(observation.outcome)) ?? [textOf(observation.outcome), "quiet"];
    setBadge(card.state, word, tone);
    const info = objectOf(objectOf(observation.provenance).serverInfo);
    const facts = [
      `took ${span(numberOf(observation.took))}`,
      bytes(numberOf(observation.size)),
      textOf(observation.validation),
    ];
    fill(
      card.place,
      h(
        "p",
        { class: "muted small" },
        facts.filter((fact) => fact !== "").join(" · "),
        textOf(info.name) !== "" &&
          h(
            "span",
            {},
            " · calls itself ",
            foreign(textOf(info.name), "server-info"),
            " ",
            foreign(textOf(info.version), "server-version"),
          ),
      ),
      disclosure("Result", () => resultView(objectOf(observation.result)), observation.outcome !== "ok"),
    );
  }

  #ask(question: JsonObject): void {
    const card = questionCard(this.#app, this.#path, question);
    this.#questions.set(textOf(question.id), card);
    this.#append(card.element, "question");
  }

  #end(event: JsonObject, at: number): void {
    // From the last to the first: none keeps its height for one that is over, too.
    for (const card of [...this.#questions.values()].reverse()) card.answered("");
    this.#isOver = true;
    const error = objectOf(event.error);
    const when = h("p", { class: "muted small" }, new Date(at).toLocaleString());
    if (event.type === "succeeded") {
      const isTold = this.element.querySelector(".moment.text:not(.is-void)") !== null;
      const output = event.output !== undefined && foreignBlock(shownJson(event.output), "run-output");
      this.#append(
        h(
          "div",
          { class: "notice good" },
          h("strong", {}, "Done"),
          !isTold && foreignBlock(textOf(event.text), "run-text", "prose"),
          output,
          when,
        ),
        "end",
      );
    } else if (event.type === "failed") {
      this.#append(
        h(
          "div",
          { class: "notice bad" },
          h("strong", {}, "The run failed"),
          h("p", {}, foreign(textOf(error.message), "run-error")),
          h("p", {}, adviceOf(textOf(error.code))),
          when,
        ),
        "end",
      );
    } else if (event.type === "cancelled") {
      this.#append(
        h(
          "div",
          { class: "notice" },
          h("strong", {}, "Cancelled"),
          h("p", {}, foreign(textOf(event.reason), "cancel-reason")),
          when,
        ),
        "end",
      );
    } else this.#append(foreignBlock(shownJson(event), "event"), "event");
  }
}

function adviceOf(code: string): string {
  const known: Readonly<Record<string, string>> = {
    step_budget: "It asked the model as often as it may: ask for less at a time, or raise the agent's budget of steps.",
    token_budget: "It used as many tokens as it may: ask for less at a time, or raise the agent's budget of tokens.",
    deadline: "It was not over in time: give it more, or ask for less.",
    model_error: "The model could not be asked: look at its provider, then start the run again.",
    output_invalid:
      "What came does not fit the schema that was asked for: make the schema simpler, or say more in the task.",
    unknown_outcome: "A call may have run, and you decided to end the run there. Look at that server.",
  };
  return entryOf(known, code) ?? "The runner's log says more.";
}
