/**
 * Controls that hold others: groups of fields, and lists.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonValue } from "../../../../protocol/json_rpc.ts";
import { button, h, icon } from "../base/dom.ts";
import { foreign } from "../parts/foreign.ts";
import type { Field } from "./fields.ts";
import { frame, labelOf } from "./frame.ts";
import { markAll, ownOf, pointerOf, readAll } from "./read.ts";
import type { Control } from "./read.ts";

/** Makes the control of a field. */
export type MakeControl = (field: Field, id: string) => Control;

/** Fields of an object in the object. */
export function makeGroup(field: Field, id: string, make: MakeControl): Control {
  const controls = field.fields.map((inner, at) => make(inner, `${id}-${at}`));
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const element = h(
    "fieldset",
    { class: "group", id },
    field.name !== "" && h("legend", {}, ...labelOf(field)),
    field.description !== undefined && h("p", { class: "hint" }, foreign(field.description, "field-description")),
    ...controls.map((control) => control.element),
    wrong,
  );
  const names = new Set(field.fields.map(({ name }) => name));
  let beside: readonly (readonly [string, JsonValue | undefined])[] = [];
  let isGiven = field.isRequired;
  return {
    field,
    element,
    read(path) {
      const { value, problems } = readAll(controls, path);
      const whole = Object.fromEntries([...Object.entries(value), ...beside]);
      // A group that nobody has touched is left out, whatever it would need.
      if (isBlank(whole) && !isGiven && problems.every(({ text }) => /needed|Choose/.test(text))) {
        return { value: undefined, problems: [] };
      }
      return { value: whole, problems };
    },
    check(value, path) {
      if (value === undefined) return undefined;
      if (!isObject(value)) return path;
      return controls.map((control) =>
        control.check(ownOf(value, control.field.name), path + pointerOf(control.field.name))
      )
        .find((wrong) => wrong !== undefined);
    },
    write(value) {
      const object = isObject(value) ? value : {};
      isGiven = field.isRequired || isObject(value);
      for (const control of controls) {
        control.write(ownOf(object, control.field.name));
      }
      beside = Object.entries(object).filter(([name]) => !names.has(name));
    },
    mark(problems, path) {
      // What is wrong with the group itself, or in what no field of it shows.
      const left = markAll(controls, problems, path);
      wrong.textContent = left.map((one) => one.path === path ? one.text : `${one.path}: ${one.text}`).join(" ");
      wrong.hidden = left.length === 0;
    },
  };
}

/** Whether a value holds nothing but what stands for lists and groups that are needed in it. */
function isBlank(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every(isBlank);
}

/** Values of one kind, one below the other. */
export function makeList(field: Field, id: string, make: MakeControl): Control {
  const { item = field } = field;
  const rows = h("div", { class: "stack tight" });
  const add = button(icon("plus"), () => append(undefined).focus(), { class: "button small" }, "Add");
  const place = h("div", { id, role: "group", class: "stack tight" }, rows, add);
  const { element, mark } = frame(field, place);
  let controls: readonly Control[] = [];
  let made = 0;
  let isGiven = field.isRequired;
  function append(value: JsonValue | undefined): HTMLElement {
    const control = make(item, `${id}-${made++}`);
    if (value !== undefined) control.write(value);
    const remove = button("Remove", () => {
      controls = controls.filter((other) => other !== control);
      row.remove();
      add.focus();
    }, { class: "button small" });
    const row = h("div", { class: "item" }, control.element, remove);
    controls = [...controls, control];
    rows.append(row);
    return row.querySelector<HTMLElement>("input, select, textarea") ?? remove;
  }
  return {
    field,
    element,
    read(path) {
      const read = controls.map((control, at) => control.read(`${path}/${at}`));
      const items = read.map(({ value }) => value).filter((value) => value !== undefined);
      const value = items.length || isGiven ? items : undefined;
      return { value, problems: read.flatMap(({ problems }) => problems) };
    },
    check(value, path) {
      if (value === undefined) return undefined;
      if (!Array.isArray(value)) return path;
      const probe = make(item, `${id}-probe`);
      return value.map((one, at) => probe.check(one, `${path}/${at}`)).find((wrong) => wrong !== undefined);
    },
    write(value) {
      rows.replaceChildren();
      controls = [];
      isGiven = field.isRequired || Array.isArray(value);
      for (const one of Array.isArray(value) ? value : []) append(one);
    },
    mark(problems, path) {
      mark(problems.filter((one) => one.path === path), path);
      for (const [at, control] of controls.entries()) {
        const at_ = `${path}/${at}`;
        control.mark(problems.filter((one) => one.path === at_ || one.path.startsWith(`${at_}/`)), at_);
      }
    },
  };
}
