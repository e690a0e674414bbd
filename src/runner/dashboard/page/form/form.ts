/**
 * A form of fields: read as one object, and filled from one; at first with their defaults. What it has no field for is kept.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../../../../protocol/json_rpc.ts";
import { h } from "../base/dom.ts";
import { makeControl } from "./control.ts";
import { markAll, ownOf, pointerOf, readAll } from "./read.ts";
import type { FormProblem } from "./read.ts";
import type { Field } from "./fields.ts";

/** A form. */
export interface Form {
  readonly element: HTMLElement;
  /** What is written in it; what cannot be read is named, and left out. */
  read(): { readonly value: JsonObject; readonly problems: readonly FormProblem[] };
  /** Fills it. Gives the path of a value that no field can show; then nothing was changed. */
  write(value: JsonObject): string | undefined;
  /** Shows what is wrong at the fields; gives what belongs to none. */
  mark(problems: readonly FormProblem[]): readonly FormProblem[];
}

/**
 * Makes a form.
 *
 * @param id Begins the ids of its elements: unique in the page.
 */
export function makeForm(fields: readonly Field[], id: string): Form {
  const controls = fields.map((field, at) => makeControl(field, `${id}-${at}`));
  const element = h("div", { class: "form" }, ...controls.map((control) => control.element));
  const names = new Set(fields.map(({ name }) => name));
  const start = startOf(fields);
  for (const control of controls) {
    const value = ownOf(start, control.field.name);
    // One that its field cannot show is left out alone.
    if (control.check(value, "") === undefined) control.write(value);
  }
  let beside: readonly (readonly [string, JsonValue | undefined])[] = [];
  return {
    element,
    read() {
      const { value, problems } = readAll(controls, "");
      // Not by assignment: a key may be named `__proto__`.
      return { value: Object.fromEntries([...Object.entries(value), ...beside]), problems };
    },
    write(value) {
      const wrong = controls.map((control) =>
        control.check(ownOf(value, control.field.name), pointerOf(control.field.name))
      )
        .find((path) => path !== undefined);
      if (wrong !== undefined) return wrong;
      for (const control of controls) control.write(ownOf(value, control.field.name));
      beside = Object.entries(value).filter(([name]) => !names.has(name));
      return undefined;
    },
    mark(problems) {
      const left = markAll(controls, problems, "");
      // A group takes no focus itself: what is in it does.
      if (problems.length) {
        const own = ":is(input, select, textarea)[aria-invalid=true]";
        element.querySelector<HTMLElement>(`${own}, [role=group][aria-invalid=true] :is(input, button)`)?.focus();
      }
      return left;
    },
  };
}

/** What a form holds at first: the defaults of its fields. */
function startOf(fields: readonly Field[]): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const { name, kind, start, fields: inner, isRequired } of fields) {
    if (start !== undefined) entries.push([name, start]);
    else if (kind === "group" && isRequired) {
      const value = startOf(inner);
      if (Object.keys(value).length) entries.push([name, value]);
    }
  }
  return Object.fromEntries(entries);
}
