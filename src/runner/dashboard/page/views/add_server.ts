/**
 * Adding a server, and where a person signs in to it.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { askJson, textOf } from "../base/api.ts";
import type { App } from "../base/app.ts";
import { fill, h, hold, icon } from "../base/dom.ts";
import { outsideLink } from "../parts/foreign.ts";
import { labelled, wrongField } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";

const quiet = { autocomplete: "off", spellcheck: "false" } as const;

/** What adds a server. */
export function addForm(app: App, done: () => void): HTMLElement {
  return new AddForm(app, done).element;
}

class AddForm {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #done: () => void;
  readonly #name: HTMLInputElement = h("input", {
    ...{ ...quiet, id: "add-name", required: true, maxlength: 64, pattern: "[A-Za-z0-9][A-Za-z0-9_\\-]*" },
    "aria-describedby": "add-name-hint",
  });
  readonly #url: HTMLInputElement = h("input", {
    ...{
      ...quiet,
      id: "add-url",
      type: "url",
      required: true,
      maxlength: 2048,
      placeholder: "https://example.com/mcp",
    },
    "aria-describedby": "add-url-hint",
  });
  readonly #header: HTMLInputElement = h("input", {
    ...{ ...quiet, id: "add-header", placeholder: "Authorization: Bearer …", "aria-describedby": "add-header-hint" },
  });
  readonly #said: HTMLElement = h("div", { class: "stack" });
  readonly #submit: HTMLButtonElement = h("button", { type: "submit", class: "button main" }, "Add");

  constructor(app: App, done: () => void) {
    this.#app = app;
    this.#done = done;
    this.element = h(
      "form",
      {
        class: "card stack",
        on: {
          submit: (event) => {
            event.preventDefault();
            void this.#add();
          },
        },
      },
      h("h2", {}, icon("plus"), "Add a server"),
      h(
        "div",
        { class: "columns" },
        labelled("Name", this.#name, "Letters, digits, - and _; its tools begin with it."),
        labelled("URL", this.#url, "https, on a public host."),
      ),
      labelled("Header (optional)", this.#header, "Sent with each request, and never shown again."),
      this.#said,
      h("div", { class: "row" }, this.#submit),
    );
  }

  async #add(): Promise<void> {
    const headers = readHeader(this.#header.value);
    if (!headers) return wrongField(this.#said, this.#header, "Write a header as “Name: value”.");
    this.#header.removeAttribute("aria-invalid");
    const release = hold(this.#submit);
    fill(this.#said, h("p", { class: "muted", role: "status" }, "Connecting…"));
    try {
      const [name, url] = [this.#name.value.trim(), this.#url.value.trim()];
      const body = { name, url, ...(Object.keys(headers).length > 0 && { headers }) };
      const status = await askJson(this.#app.ask, "/api/servers", { method: "POST", body });
      for (const field of [this.#name, this.#url, this.#header]) field.value = "";
      fill(this.#said);
      if (!showSignIn(this.#app, this.#said, status)) this.#app.announce(`${name} was added`);
      this.#done();
    } catch (error) {
      fill(this.#said, problemBox(error));
    } finally {
      release();
    }
  }
}

/** Where a person signs in, in full. True: there is such an address. */
export function showSignIn(app: App, place: HTMLElement, status: JsonObject): boolean {
  const address = textOf(status.authorizationUrl);
  if (address === "") return false;
  app.whisper("Sign in on the page that is shown");
  fill(
    place,
    h(
      "div",
      { class: "notice warn" },
      h("strong", {}, "Sign in on this page"),
      h("p", {}, "Look whose page it is before you open it. Come back here when it says that you are signed in."),
      outsideLink(address, "authorization-url", "Open the sign-in page"),
    ),
  );
  return true;
}

/** The header that was written, or none; undefined where it is not one. */
export function readHeader(text: string): Record<string, string> | undefined {
  if (text.trim() === "") return {};
  const [, name, value] = /^\s*([A-Za-z0-9_-]+)\s*:\s*(.*?)\s*$/.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : { [name]: value };
}
