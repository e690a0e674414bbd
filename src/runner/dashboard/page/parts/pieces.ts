/**
 * Small pieces that several views show.
 *
 * @module
 */
import type { App } from "../base/app.ts";
import { button, fill, h, icon } from "../base/dom.ts";
import type { Child } from "../base/dom.ts";

/** How something does. */
export type Tone = "good" | "bad" | "warn" | "busy" | "quiet";

/** One word with a colour; the word alone says it all. */
export function badge(text: string, tone: Tone = "quiet"): HTMLElement {
  return h("span", { class: `badge ${tone}` }, text);
}

/** A word that changes its colour with what it says. */
export function setBadge(element: HTMLElement, text: string, tone: Tone): void {
  element.textContent = text;
  element.className = `badge ${tone}`;
}

/** What stands where there is nothing yet: why, and what to do. */
export function empty(title: string, ...more: readonly Child[]): HTMLElement {
  return h("div", { class: "empty" }, h("h2", {}, title), ...more);
}

/** Grey lines where something will stand. */
export function loading(label: string, lines: number = 3): HTMLElement {
  const rows = Array.from({ length: lines }, () => h("div", { class: "ghost" }));
  return h("div", { class: "stack", role: "status", "aria-label": label }, ...rows);
}

/** A button that copies a text. */
export function copyButton(app: Pick<App, "announce">, label: string, text: () => string): HTMLButtonElement {
  const made = button(icon("copy"), () => void copy(), { class: "button small" }, label);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text());
      app.announce(`${label}: copied`);
    } catch {
      app.announce("The browser does not let this page copy: mark the text and copy it yourself");
    }
  }
  return made;
}

/** What can be opened and closed. */
export function disclosure(title: Child, content: () => Child, isOpen: boolean = false): HTMLDetailsElement {
  const place = h("div", { class: "stack" });
  let isFilled = false;
  const details = h("details", { open: isOpen }, h("summary", {}, title), place);
  const show = (): void => {
    if (isFilled || !details.open) return;
    isFilled = true;
    const made = content();
    if (made !== undefined && made !== false) place.append(made instanceof Node ? made : String(made));
  };
  details.addEventListener("toggle", show);
  show();
  return details;
}

/** A field with its label. */
export function labelled(
  label: string,
  control: HTMLElement,
  hint?: Child,
): HTMLElement {
  return h(
    "div",
    { class: "field" },
    h("label", { for: control.id }, label),
    control,
    hint !== undefined && hint !== "" && h("p", { class: "hint", id: `${control.id}-hint` }, hint),
  );
}

/** Says what is wrong with a field, and goes there. */
export function wrongField(place: HTMLElement, control: HTMLElement, text: string): void {
  const id = `${control.id}-wrong`;
  fill(place, h("p", { class: "wrong", role: "alert", id }, text));
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-errormessage", id);
  control.focus();
}

/** Buttons of which one is pressed. */
export function segments<Name extends string>(
  label: string,
  names: Readonly<Record<Name, string>>,
  choose: (name: Name) => boolean | void,
): { readonly element: HTMLElement; press(name: Name): void } {
  const keys = Object.keys(names) as Name[];
  const buttons = new Map(keys.map((name) => [name, button(names[name], () => select(name), { class: "segment" })]));
  const element = h("div", { class: "segments", role: "group", "aria-label": label }, ...buttons.values());
  function press(name: Name): void {
    for (const [other, made] of buttons) made.setAttribute("aria-pressed", String(other === name));
  }
  function select(name: Name): void {
    if (choose(name) !== false) press(name);
  }
  const [first] = keys;
  if (first !== undefined) press(first);
  return { element, press };
}
