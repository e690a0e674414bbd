/**
 * Text of servers, models and callers: shown as what it is, and never taken for more.
 *
 * @module
 */
import { findHidden, visible } from "../../../../hub/pins/hidden.ts";
import { judgeLink } from "../base/links.ts";
import { button, h } from "../base/dom.ts";
import { count } from "../base/text.ts";

/** Characters that are shown of a long text at a time. */
const piece = 32_768;

/** A text within a line. It cannot turn the direction of what stands around it. */
export function foreign(text: string, part: string): HTMLElement {
  return h("bdi", { "data-part": part }, text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text);
}

/** A text with its line ends; of a long one the beginning, and more when it is asked for. */
export function foreignBlock(text: string, part: string, look: "prose" | "code" = "code"): HTMLElement {
  const block = h(look === "code" ? "pre" : "div", { class: look, "data-part": part, dir: "auto" });
  // What scrolls is reached by the keyboard.
  if (look === "code" || part === "result-text") block.tabIndex = 0;
  let shown = 0;
  const rest = h("span", { class: "muted" });
  const more = button("Show more", () => show(), { class: "button small" });
  const bar = h("div", { class: "row" }, more, rest);
  function show(): void {
    block.append(text.slice(shown, shown + piece));
    shown = Math.min(text.length, shown + piece);
    rest.textContent = `${shown.toLocaleString("en")} of ${text.length.toLocaleString("en")} characters are shown.`;
    if (shown >= text.length) bar.remove();
  }
  if (text.length <= piece) {
    show();
    return block;
  }
  const whole = h("div", { class: "stack tight" }, block, bar);
  show();
  return whole;
}

/** A text in which every character can be seen, and what could not be. */
export function seenBlock(text: string, part: string): HTMLElement {
  return h("div", { class: "stack tight" }, hiddenWarning(text), foreignBlock(visible(text), part));
}

/** A warning of characters that cannot be seen; undefined where there are none. */
export function hiddenWarning(text: string, where: string = "This text"): HTMLElement | undefined {
  const { count: many, codePoints, spelled } = findHidden(text);
  if (many === 0) return undefined;
  const names = Object.entries(codePoints).map(([name, times]) => times > 1 ? `${name} (${times}×)` : name);
  return h(
    "div",
    { class: "notice warn", "data-hidden": true },
    h("strong", {}, `${where} has ${count(many, "hidden character")}`),
    h(
      "p",
      {},
      `${names.slice(0, 12).join(", ")}${names.length > 12 ? ", …" : ""}. ${
        many === 1 ? "It is" : "They are"
      } written out below.`,
    ),
    spelled !== "" && h("p", {}, "They spell: ", h("code", { "data-part": "spelled" }, spelled)),
  );
}

/** An address that a server has named: in full, with a way to open it where that is safe. Nothing is fetched before. */
export function outsideLink(text: string, part: string, label: string = "Open in a new tab"): HTMLElement {
  const { shown, target, host, remark } = judgeLink(text);
  const whole = h("div", { class: "address" }, h("code", { "data-part": part }, shown));
  if (remark !== undefined) whole.append(h("p", { class: "muted" }, remark));
  if (target === undefined) return whole;
  const link = h(
    "a",
    { class: "button", target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer" },
    label,
  );
  // Judged: https alone.
  link.setAttribute("href", target);
  whole.append(h("div", { class: "row" }, link, h("span", { class: "muted" }, "leads to ", h("strong", {}, host))));
  return whole;
}
