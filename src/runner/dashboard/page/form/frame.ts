/**
 * What stands around a control: its label, what it is for, and what is wrong.
 *
 * @module
 */
import { h } from "../base/dom.ts";
import { foreign } from "../parts/foreign.ts";
import type { Field } from "./fields.ts";
import type { Control } from "./read.ts";

/** Frames a control. */
export function frame(
  field: Field,
  control: HTMLElement,
): { readonly element: HTMLElement; readonly mark: Control["mark"] } {
  const { id } = control;
  const problem = h("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
  const about = (field.description !== undefined || field.hint !== "") && h(
    "p",
    { class: "hint", id: `${id}-hint` },
    field.description !== undefined && foreign(field.description, "field-description"),
    field.description !== undefined && field.hint !== "" && " · ",
    field.hint !== "" && foreign(field.hint, "field-hint"),
  );
  control.setAttribute("aria-describedby", `${about ? `${id}-hint ` : ""}${id}-wrong`);
  const isGroup = control.getAttribute("role") === "group";
  if (field.name === "") control.setAttribute("aria-label", "Item");
  else if (isGroup) control.setAttribute("aria-labelledby", `${id}-label`);
  // Its label says so of a group.
  if (field.isRequired && !isGroup) control.setAttribute("aria-required", "true");
  const label = h("label", { id: `${id}-label`, for: isGroup ? undefined : id }, ...labelOf(field));
  control.addEventListener("input", () => {
    problem.hidden = true;
    control.removeAttribute("aria-invalid");
  });
  const element = h("div", { class: "field" }, field.name !== "" && label, about, control, problem);
  return {
    element,
    mark(problems) {
      problem.textContent = problems.map(({ text }) => text).join(" ");
      problem.hidden = problems.length === 0;
      if (problems.length) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    },
  };
}

/** The words of a label: the title, the name as it is sent, and whether it is needed. */
export function labelOf({ name, title, isRequired }: Field): readonly (HTMLElement | string | undefined)[] {
  const isNamed = title !== undefined && title !== name;
  return [
    foreign(isNamed ? title : name, isNamed ? "field-title" : "field-name"),
    isNamed ? h("code", { class: "muted", "data-part": "field-name" }, name) : undefined,
    isRequired ? h("span", { class: "needed" }, "needed") : undefined,
  ];
}
