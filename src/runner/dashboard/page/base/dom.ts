/**
 * Making elements. Text becomes text nodes and nothing else; what could load or run something is refused here, and made by the few
 * functions that look at it first.
 *
 * @module
 */

/** What stands in an element. */
export type Child = Node | string | number | false | undefined;

/** Listeners by the type of their event. */
export type Listeners = Readonly<
  Partial<{ [Type in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[Type]) => void }>
>;

/** Attributes by name, and listeners under `on`. `true` is an attribute without a value; `false` and undefined are none. */
export interface Properties {
  readonly on?: Listeners | undefined;
  readonly [attribute: string]: string | number | boolean | Listeners | undefined;
}

/** Attributes that load, run or lead somewhere. */
const refused: ReadonlySet<string> = new Set([
  ...["href", "src", "srcset", "srcdoc", "style", "action", "formaction", "data", "ping", "poster"],
]);

/**
 * Makes an element.
 *
 * @throws {TypeError} When an attribute could load or run something.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "object") listen(element, value);
    else if (refused.has(name) || name.startsWith("on")) throw new TypeError(`The attribute "${name}" is not set here`);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  fill(element, ...children);
  return element;
}

/** Puts children into an element, in the place of what was there. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...children.filter((child) => child !== undefined && child !== false).map(asNode));
}

/** A link within the page. */
export function innerLink(path: string, properties: Properties, ...children: readonly Child[]): HTMLAnchorElement {
  const link = h("a", properties, ...children);
  link.setAttribute("href", `#/${path}`);
  return link;
}

/** A button that does something. */
export function button(
  label: Child,
  click: () => void,
  properties: Properties = {},
  ...more: readonly Child[]
): HTMLButtonElement {
  return h("button", { type: "button", class: "button", ...properties, on: { click } }, label, ...more);
}

/**
 * Has buttons wait while something is done.
 *
 * @returns Lets them be pressed again, and gives the focus back to the one that had it.
 */
export function hold(...buttons: readonly HTMLButtonElement[]): () => void {
  const held = buttons.find((one) => one === document.activeElement);
  for (const one of buttons) one.disabled = true;
  return () => {
    for (const one of buttons) one.disabled = false;
    refocus(held);
  };
}

/** Gives an element the focus where nothing has it any more: what was pressed is gone, or cannot be pressed. */
export function refocus(element: HTMLElement | null | undefined): void {
  if (document.activeElement === document.body) element?.focus({ preventScroll: true });
}

/** Pictures of our own, drawn with one line each on 24 × 24. */
const pictures = {
  logo: "M4 18V8m16 10V8M4 11c4 0 4-5 8-5s4 5 8 5M4 15h16",
  tools: "M14 6a4 4 0 0 0 5 5l-9 9-4-4 9-9M5 19l0 0",
  runs: "M7 5l11 7-11 7z",
  servers: "M4 5h16v6H4zM4 13h16v6H4zM8 8h0M8 16h0",
  approvals: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4",
  library: "M5 4h9l5 5v11H5zM14 4v5h5M8 13h8M8 17h5",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  copy: "M9 9h10v11H9zM5 15V4h10",
  search: "M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12M16 16l4 4",
  back: "M14 6l-6 6 6 6",
  leave: "M14 5H5v14h9M11 12h10m-3-3 3 3-3 3",
  plus: "M12 5v14M5 12h14",
  warn: "M12 4l9 16H3zM12 10v4M12 17v0",
} as const;

/** The name of a picture. */
export type Picture = keyof typeof pictures;

/** One of our own pictures; it says nothing to who cannot see it. */
export function icon(name: Picture): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  for (const [key, value] of [["viewBox", "0 0 24 24"], ["class", "icon"], ["aria-hidden", "true"]] as const) {
    picture.setAttribute(key, value);
  }
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", pictures[name]);
  picture.append(path);
  return picture;
}

function listen(element: HTMLElement, listeners: Listeners): void {
  for (const [type, listener] of Object.entries(listeners)) {
    if (listener) element.addEventListener(type, listener as EventListener);
  }
}

function asNode(child: Child): Node {
  return child instanceof Node ? child : document.createTextNode(String(child));
}
