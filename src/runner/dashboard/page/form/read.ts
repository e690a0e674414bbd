/**
 * What the controls of a form have in common.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../../../../protocol/json_rpc.ts";
import type { Field } from "./fields.ts";

/** One place where what was written cannot be used. */
export interface FormProblem {
  /** A JSON Pointer. */
  readonly path: string;
  readonly text: string;
}

/** A field on the page. */
export interface Control {
  readonly field: Field;
  readonly element: HTMLElement;
  /** What is written; undefined: it is left out. */
  read(path: string): { readonly value: JsonValue | undefined; readonly problems: readonly FormProblem[] };
  /** The path of what cannot be shown here; undefined: all of it can. */
  check(value: JsonValue | undefined, path: string): string | undefined;
  /** Shows a value that was checked. */
  write(value: JsonValue | undefined): void;
  /** Shows what is wrong at the control and those in it. */
  mark(problems: readonly FormProblem[], path: string): void;
}

/** Reads the fields of one object. */
export function readAll(
  controls: readonly Control[],
  path: string,
): { readonly value: JsonObject; readonly problems: readonly FormProblem[] } {
  const entries: [string, JsonValue][] = [];
  const problems: FormProblem[] = [];
  for (const control of controls) {
    const read = control.read(path + pointerOf(control.field.name));
    if (read.value !== undefined) entries.push([control.field.name, read.value]);
    problems.push(...read.problems);
  }
  return { value: Object.fromEntries(entries), problems };
}

/** Shows what is wrong at the fields of one object; gives what belongs to none of them. */
export function markAll(
  controls: readonly Control[],
  problems: readonly FormProblem[],
  path: string,
): readonly FormProblem[] {
  const left = new Set(problems);
  for (const control of controls) {
    const place = path + pointerOf(control.field.name);
    const own = problems.filter((one) => one.path === place || one.path.startsWith(`${place}/`));
    control.mark(own, place);
    for (const problem of own) left.delete(problem);
  }
  return [...left];
}

/** One step of a JSON Pointer. */
export function pointerOf(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A member of an object's own; what it inherits is none. */
export function ownOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
