/**
 * Arguments as a form or as JSON: what is written in the one stands in the other.
 *
 * @module
 */
import { createPlainValidator } from "../../../../protocol/json_schema/mod.ts";
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../../protocol/json_rpc.ts";
import type { ValidateFunction } from "../../../../protocol/validation.ts";
import { fill, h } from "../base/dom.ts";
import { parsed } from "../base/text.ts";
import { segments } from "../parts/pieces.ts";
import { fieldsOf } from "./fields.ts";
import { makeForm } from "./form.ts";
import type { Form } from "./form.ts";
import type { FormProblem } from "./read.ts";
import type { Editor } from "./seam.ts";

/**
 * Makes an editor for a schema of an object.
 *
 * @param id Begins the ids of its elements.
 */
export function makeEditor(schema: JsonObject, id: string): Editor {
  return new SchemaEditor(schema, id);
}

class SchemaEditor implements Editor {
  readonly element: HTMLElement;
  readonly #form: Form | undefined;
  readonly #check: ValidateFunction | undefined;
  readonly #text: HTMLTextAreaElement;
  readonly #said: HTMLElement = h("div", { class: "wrong", role: "alert" });
  readonly #place: HTMLElement = h("div", {});
  #isForm: boolean;

  constructor(schema: JsonObject, id: string) {
    const fields = fieldsOf(schema);
    this.#form = fields && makeForm(fields, id);
    this.#check = checkOf(schema);
    this.#isForm = this.#form !== undefined;
    this.#said.id = `${id}-said`;
    this.#text = h("textarea", {
      ...{ id: `${id}-json`, class: "code", rows: 10, spellcheck: "false", autocomplete: "off" },
      ...{ "aria-label": "Arguments as JSON", "aria-describedby": `${id}-said` },
    });
    this.#text.value = "{}";
    const names = { form: "Form", json: "JSON" } as const;
    const choice = segments<"form" | "json">("How the arguments are written", names, (wanted) => this.#turn(wanted));
    choice.press(this.#form ? "form" : "json");
    fill(this.#place, this.#form?.element ?? this.#text);
    this.element = h(
      "div",
      { class: "stack" },
      h("div", { class: "row between" }, h("h2", {}, "Arguments"), choice.element),
      fields?.length === 0 && h("p", { class: "muted" }, nothingOf(schema)),
      this.#place,
      this.#said,
    );
  }

  value(): JsonObject {
    if (this.#isForm && this.#form) return this.#form.read().value;
    const value = parsed(this.#text.value);
    return isObject(value) ? value : {};
  }

  take(): JsonObject | undefined {
    const form = this.#isForm ? this.#form : undefined;
    const read = form ? form.read() : readJson(this.#text.value);
    const issues = read.problems.length ? read.problems : problemsOf(this.#check, read.value);
    showProblems(this.#said, form ? form.mark(issues) : issues);
    if (form) return issues.length ? undefined : read.value;
    this.#text.setAttribute("aria-invalid", String(issues.length > 0));
    if (issues.length) this.#text.focus();
    return issues.length ? undefined : read.value;
  }

  #turn(wanted: "form" | "json"): boolean {
    if ((wanted === "form") === this.#isForm) return true;
    fill(this.#said);
    if (wanted === "form") return this.#toForm();
    this.#text.value = JSON.stringify(this.value(), undefined, 2);
    this.#isForm = false;
    fill(this.#place, this.#text);
    return true;
  }

  #toForm(): boolean {
    const value = parsed(this.#text.value);
    if (!this.#form) fill(this.#said, "No form can show this schema: stay with JSON.");
    else if (!isObject(value)) fill(this.#said, "This is no JSON object: correct it first.");
    else {
      const wrong = this.#form.write(value);
      if (wrong === undefined) {
        this.#isForm = true;
        fill(this.#place, this.#form.element);
        return true;
      }
      fill(this.#said, `The form cannot show what stands at ${wrong}: correct it, or stay with JSON.`);
    }
    return false;
  }
}

function nothingOf({ additionalProperties }: JsonObject): string {
  return additionalProperties === false
    ? "It takes no arguments."
    : "It names no arguments. Others can be written as JSON.";
}

/** Holds a value against a schema; of one that cannot be used, nothing is said here. */
export function checkOf(schema: JsonObject): ValidateFunction | undefined {
  try {
    return createPlainValidator()(schema);
  } catch {
    return undefined;
  }
}

/** Says the first of what is wrong, a line each. */
export function showProblems(place: HTMLElement, problems: readonly FormProblem[]): void {
  const lines = problems.slice(0, 5).map(({ path, text }) => h("p", {}, path === "" ? text : `${path}: ${text}`));
  fill(place, ...lines);
}

/** What is wrong with a value, at its fields. */
export function problemsOf(check: ValidateFunction | undefined, value: JsonObject): readonly FormProblem[] {
  const checked = check?.(value);
  if (!checked || checked.valid) return [];
  return checked.issues.map(({ path, message }) => ({ path, text: message }));
}

function readJson(text: string): { readonly value: JsonObject; readonly problems: readonly FormProblem[] } {
  try {
    const value: JsonValue = JSON.parse(text);
    if (isObject(value)) return { value, problems: [] };
    return { value: {}, problems: [{ path: "", text: 'Expected a JSON object, such as {"key": 1}.' }] };
  } catch (error) {
    return {
      value: {},
      problems: [{ path: "", text: `This is no JSON: ${error instanceof Error ? error.message : ""}` }],
    };
  }
}
