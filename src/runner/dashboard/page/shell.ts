/**
 * The frame of the page: where one is, who one is, light or dark.
 *
 * @module
 */
import { button, fill, h, icon, innerLink } from "./base/dom.ts";
import type { Picture } from "./base/dom.ts";
import type { View } from "./base/app.ts";
import { foreign } from "./parts/foreign.ts";
import type { Who } from "./views/sign_in.ts";

const places: readonly (readonly [string, string, Picture])[] = [
  ["tools", "Tools", "tools"],
  ["runs", "Runs", "runs"],
  ["approvals", "Approvals", "approvals"],
  ["servers", "Servers", "servers"],
  ["library", "Library", "library"],
];
const themes = ["system", "light", "dark"] as const;

/** The frame of the page. */
export interface Shell {
  /** Shows a view. */
  show(view: View, place: string): void;
  /** Tells something, to the eye and to screen readers. */
  announce(text: string): void;
  /** Tells something to screen readers. */
  whisper(text: string): void;
  /** Shows how many approvals wait. */
  waiting(count: number): void;
}

/** Makes the frame. */
export function makeShell(body: HTMLElement, who: Who, signOut: () => void): Shell {
  const links = new Map(
    places.map(([path, label, picture]) => [path, innerLink(path, {}, icon(picture), h("span", {}, label))]),
  );
  const waiting = h("span", { class: "count", hidden: true });
  links.get("approvals")?.append(waiting);
  const said = h("div", { class: "toast", role: "status", "aria-live": "polite" });
  let view: HTMLElement = h("main", { id: "main" });
  const header = h(
    "header",
    { class: "top" },
    innerLink("tools", { class: "brand", "aria-label": "Causeway, tools" }, icon("logo"), h("span", {}, "Causeway")),
    h("nav", { class: "places", "aria-label": "Main" }, ...links.values()),
    h(
      "div",
      { class: "row who" },
      h("span", { class: "muted small" }, foreign(`${who.principal} · ${who.tenant}`, "who")),
      themeButton(),
      button(icon("leave"), signOut, { class: "button bare", "aria-label": "Sign out", title: "Sign out" }),
    ),
  );
  const whispered = h("div", { class: "hidden", role: "status", "aria-live": "polite" });
  fill(body, skipLink(), header, view, said, whispered);
  let wasShown = false;
  let hide: ReturnType<typeof setTimeout> | undefined;
  return {
    show(next, place) {
      for (const [path, link] of links) {
        if (path === place) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      document.title = `${next.title} · Causeway`;
      if (view !== next.element) {
        said.classList.remove("is-shown");
        view.replaceWith(next.element);
        view = next.element;
        scrollTo({ top: 0 });
      }
      if (wasShown) fill(whispered, next.title);
      wasShown = true;
      // What had the focus may be gone, or be hidden on a small screen.
      const at = document.activeElement;
      if (at === document.body || !at?.getClientRects().length) view.focus({ preventScroll: true });
    },
    waiting(count) {
      const text = `${count} ${count === 1 ? "call waits" : "calls wait"} for an approval`;
      if (count > Number(waiting.textContent)) fill(whispered, text);
      waiting.hidden = count === 0;
      waiting.textContent = String(count);
      waiting.title = text;
    },
    whisper: (text) => fill(whispered, text),
    announce(text) {
      clearTimeout(hide);
      said.textContent = text;
      said.classList.add("is-shown");
      hide = setTimeout(() => said.classList.remove("is-shown"), 4_000);
    },
  };
}

/** Takes up the theme that was chosen here before. */
export function applyTheme(): void {
  const theme = storedTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function themeButton(): HTMLButtonElement {
  const made = button(icon("theme"), () => {
    const next = themes[(themes.indexOf(storedTheme()) + 1) % themes.length] ?? "system";
    try {
      localStorage.setItem("causeway-theme", next);
    } catch {
      // The browser keeps nothing: it is forgotten with the page.
    }
    document.documentElement.dataset.theme = next;
    if (next === "system") delete document.documentElement.dataset.theme;
    name(next);
  }, { class: "button bare" });
  function name(theme: string): void {
    made.title = `Colours: ${theme}`;
    made.setAttribute("aria-label", `Colours: ${theme}`);
  }
  name(storedTheme());
  return made;
}

function storedTheme(): typeof themes[number] {
  try {
    const stored = localStorage.getItem("causeway-theme");
    return themes.find((theme) => theme === stored) ?? "system";
  } catch {
    return "system";
  }
}

function skipLink(): HTMLElement {
  const click = (event: Event): void => {
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  const link = h("a", { class: "skip", on: { click } }, "Skip to the content");
  link.setAttribute("href", "#main");
  return link;
}
