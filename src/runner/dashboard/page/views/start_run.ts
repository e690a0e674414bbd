/**
 * Starting a run of an agent.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { askJson, objectsOf, textOf } from "../base/api.ts";
import { inBackground } from "../base/app.ts";
import type { App } from "../base/app.ts";
import { button, fill, h, hold, innerLink } from "../base/dom.ts";
import { parsed } from "../base/text.ts";
import { checkOf, problemsOf } from "../form/editor.ts";
import { fieldsOf } from "../form/fields.ts";
import { makeForm } from "../form/form.ts";
import type { Form } from "../form/form.ts";
import { foreign } from "../parts/foreign.ts";
import { disclosure, empty, labelled, loading, wrongField } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";

/** How the model answers, as the runner takes it. */
const settings: JsonObject = {
  type: "object",
  properties: {
    temperature: { type: "number", minimum: 0, maximum: 2 },
    maxOutputTokens: { type: "integer", minimum: 1 },
    stopSequences: { type: "array", items: { type: "string", minLength: 1 } },
  },
};

/** What starts a run. */
export function startForm(app: App): HTMLElement {
  const place = h("div", { class: "stack" }, loading("Loading agents"));
  const again = (): void =>
    inBackground(app, async () => {
      const reply = await askJson(app.ask, "/api/agents", { signal: app.signal });
      const agents = objectsOf(reply.agents);
      fill(place, agents.length ? new StartForm(app, agents).element : noAgents());
    }, (error) => fill(place, problemBox(error, again)));
  again();
  return place;
}

class StartForm {
  readonly element: HTMLFormElement;
  readonly #app: App;
  readonly #agents: readonly JsonObject[];
  readonly #agent: HTMLSelectElement;
  readonly #about: HTMLElement = h("p", { class: "muted" });
  readonly #input: HTMLTextAreaElement = h("textarea", {
    id: "input",
    rows: 6,
    required: true,
    dir: "auto",
    placeholder: "What is wanted?",
  });
  readonly #output: HTMLTextAreaElement = h("textarea", {
    ...{ id: "output", rows: 5, class: "code", spellcheck: "false", "aria-label": "JSON Schema of the output" },
  });
  readonly #settings: Form = makeForm(fieldsOf(settings) ?? [], "setting");
  readonly #more: HTMLDetailsElement = disclosure("How the model answers", () => this.#settings.element);
  readonly #said: HTMLElement = h("div", { class: "stack" });
  readonly #submit: HTMLButtonElement = h("button", { type: "submit", class: "button main" }, "Start");
  /** What was sent last, under its key: sent again after a broken connection, it starts nothing new. */
  #sent = "";
  #key = "";

  constructor(app: App, agents: readonly JsonObject[]) {
    this.#app = app;
    this.#agents = agents;
    const options = agents.map(({ name }) => h("option", { value: textOf(name) }, textOf(name)));
    this.#agent = h("select", { id: "agent", on: { change: () => this.#describe() } }, ...options);
    this.element = h(
      "form",
      {
        class: "card stack",
        on: {
          submit: (event) => {
            event.preventDefault();
            void this.#start();
          },
          keydown: (event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.element.requestSubmit();
          },
        },
      },
      h("h2", {}, "Start a run"),
      labelled("Agent", this.#agent),
      this.#about,
      labelled("Task", this.#input),
      disclosure("Output that fits a schema", () => this.#output),
      this.#more,
      this.#said,
      h("div", { class: "row" }, this.#submit, button("Clear", () => this.#clear())),
    );
    this.#describe();
  }

  #clear(): void {
    this.element.reset();
    this.#settings.write({});
    fill(this.#said);
    // It is the first agent again.
    this.#describe();
  }

  #describe(): void {
    const text = textOf(this.#agents.find(({ name }) => name === this.#agent.value)?.description);
    fill(this.#about, text !== "" && foreign(text, "agent-description"));
  }

  async #start(): Promise<void> {
    const written = this.#output.value.trim();
    const output = written === "" ? undefined : parsed(written);
    if (written !== "" && !isObject(output)) {
      return wrongField(this.#said, this.#output, "The schema of the output is no JSON object.");
    }
    this.#output.removeAttribute("aria-invalid");
    const { value, problems } = this.#settings.read();
    const issues = problems.length ? problems : problemsOf(checkOf(settings), value);
    if (issues.length) this.#more.open = true;
    this.#settings.mark(issues);
    if (issues.length) return;
    const body = {
      agent: this.#agent.value,
      input: this.#input.value,
      ...(output !== undefined && { output }),
      ...(Object.keys(value).length > 0 && { settings: value }),
    };
    const text = JSON.stringify(body);
    if (text !== this.#sent) [this.#sent, this.#key] = [text, crypto.randomUUID()];
    const release = hold(this.#submit);
    try {
      const headers = { "idempotency-key": this.#key };
      const run = await askJson(this.#app.ask, "/api/runs", { method: "POST", body, headers });
      // Who is elsewhere by now stays there.
      if (!this.#app.signal.aborted) this.#app.go(`runs/${encodeURIComponent(textOf(run.id))}`);
    } catch (error) {
      fill(this.#said, problemBox(error));
    } finally {
      release();
    }
  }
}

function noAgents(): HTMLElement {
  return empty(
    "No agents here",
    h("p", {}, "The operator of this runner offers none that you may start. Tools can be tried without one."),
    innerLink("tools", { class: "button" }, "Go to Tools"),
  );
}
