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
import { ownOf, pointerOf, readAll } from "./read.ts";
import type { Control } from "./read.ts";

/** Makes the control of a field. */
export type MakeControl = (field: Field, id: string) => Control;

/** Fields of an object in the object. */
export function makeGroup(field: Field, id: string, make: MakeControl): Control {
  const controls = field.fields.map((inner, at) => make(inner, `${id}-${at}`));
  const element = h(
    "fieldset",
    { class: "group", id },
    field.name !== "" && h("legend", {}, ...labelOf(field)),
    field.description !== undefined && h("p", { class: "hint" }, foreign(field.description, "field-description")),
    ...controls.map((control) => control.element),
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
      const isEmpty = Object.keys(whole).length === 0;
      // A group that nobody has touched is left out, whatever it would need.
      if (isEmpty && !isGiven && problems.every(({ text }) => /needed|Choose/.test(text))) {
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
      for (const control of controls) {
        const place = path + pointerOf(control.field.name);
        control.mark(problems.filter((one) => one.path === place || one.path.startsWith(`${place}/`)), place);
      }
    },
  };
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
