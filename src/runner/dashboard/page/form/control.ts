/**
 * The controls of a form: one for each kind of field.
 *
 * @module
 */
import type { JsonValue } from "../../../../protocol/json_rpc.ts";
import { h } from "../base/dom.ts";
import type { Field } from "./fields.ts";
import { frame } from "./frame.ts";
import { makeGroup, makeList } from "./nested.ts";
import type { Control } from "./read.ts";
import { isSame, readField, writeField } from "./values.ts";

/** Makes the control of a field. */
export function makeControl(field: Field, id: string): Control {
  switch (field.kind) {
    case "choice":
      return makeChoice(field, id, field.choices);
    case "switch":
      return makeChoice(field, id, [{ value: true, label: "Yes" }, { value: false, label: "No" }]);
    case "choices":
      return makeChoices(field, id);
    case "group":
      return makeGroup(field, id, makeControl);
    case "list":
      return makeList(field, id, makeControl);
    default:
      return makeText(field, id);
  }
}

/** A text, a number, or JSON. */
function makeText(field: Field, id: string): Control {
  const isLong = field.isLong || field.kind === "json";
  const shared = { id, dir: "auto", spellcheck: "false", autocomplete: "off", autocapitalize: "off" };
  const control = isLong
    ? h("textarea", { ...shared, rows: field.kind === "json" ? 3 : 4, class: field.kind === "json" ? "code" : "" })
    : h("input", { ...shared, type: "text", inputmode: field.kind === "number" ? "decimal" : undefined });
  const { element, mark } = frame(field, control);
  // What stands for an empty field: null where that was written.
  let nothing: JsonValue | undefined;
  return {
    field,
    element,
    mark,
    read(path) {
      if (control.value === "" && nothing !== undefined) return { value: nothing, problems: [] };
      const { value, problem } = readField(field, control.value);
      return { value, problems: problem === undefined ? [] : [{ path, text: problem }] };
    },
    check(value, path) {
      const isEmpty = value === "" || (value === null && field.isNullable);
      return isEmpty || writeField(field, value) !== undefined ? undefined : path;
    },
    write(value) {
      nothing = value === "" || (value === null && field.kind !== "json") ? value : undefined;
      control.value = nothing === undefined ? writeField(field, value) ?? "" : "";
    },
  };
}

/** One of some values. */
function makeChoice(field: Field, id: string, choices: Field["choices"]): Control {
  const nothing = field.isRequired ? "Choose…" : "Not set";
  const select = h(
    "select",
    { id },
    h("option", { value: "" }, nothing),
    ...choices.map(({ label }, at) => h("option", { value: at, "data-part": "choice" }, label)),
    field.isNullable && h("option", { value: "null" }, "null"),
  );
  const { element, mark } = frame(field, select);
  const indexOf = (value: JsonValue | undefined): number => choices.findIndex((choice) => isSame(choice.value, value));
  return {
    field,
    element,
    mark,
    read(path) {
      if (select.value === "null") return { value: null, problems: [] };
      const value = select.value === "" ? undefined : choices[Number(select.value)]?.value;
      const isMissing = value === undefined && field.isRequired;
      return { value, problems: isMissing ? [{ path, text: "Choose one." }] : [] };
    },
    check: (value, path) =>
      value === undefined || indexOf(value) >= 0 || (value === null && field.isNullable) ? undefined : path,
    write(value) {
      const at = indexOf(value);
      select.value = at >= 0 ? String(at) : value === null ? "null" : "";
    },
  };
}

/** Some of some values. */
function makeChoices(field: Field, id: string): Control {
  const boxes = field.choices.map(({ label }, at) => {
    const box = h("input", { type: "checkbox", id: `${id}-${at}` });
    return { box, row: h("label", { class: "check" }, box, h("bdi", { "data-part": "choice" }, label)) };
  });
  const group = h("div", { id, role: "group", class: "checks" }, ...boxes.map(({ row }) => row));
  const { element, mark } = frame(field, group);
  // An empty list was given, or is wanted.
  let isGiven = field.isRequired;
  return {
    field,
    element,
    mark,
    read() {
      const chosen = field.choices.filter((_, at) => boxes[at]?.box.checked).map(({ value }) => value);
      return { value: chosen.length || isGiven ? chosen : undefined, problems: [] };
    },
    check(value, path) {
      if (value === undefined) return undefined;
      const fits = Array.isArray(value) &&
        value.every((item, at) =>
          field.choices.some((choice) => isSame(choice.value, item)) &&
          value.findIndex((other) => isSame(other, item)) === at
        );
      return fits ? undefined : path;
    },
    write(value) {
      const items = Array.isArray(value) ? value : [];
      isGiven = field.isRequired || Array.isArray(value);
      for (const [at, { box }] of boxes.entries()) {
        box.checked = items.some((item) => isSame(item, field.choices[at]?.value));
      }
    },
  };
}
