/**
 * Signing in: with the token of a link, which is good once, or with an API key.
 *
 * @module
 */
import { ApiProblem, askJson } from "../base/api.ts";
import type { Ask } from "../base/api.ts";
import { fill, h, hold, icon } from "../base/dom.ts";
import { problemBox } from "../parts/problem.ts";

/** Who is signed in. */
export interface Who {
  readonly principal: string;
  readonly tenant: string;
}

/** Takes the token out of the address, so that it stays in no history: undefined where there is none. */
export function takeToken(): string | undefined {
  const [, token] = /^#token=([\w-]{1,256})$/.exec(location.hash) ?? [];
  if (location.hash.startsWith("#token=")) history.replaceState(null, "", location.pathname);
  return token;
}

/** Begins a session. */
export async function beginSession(ask: Ask, token: string): Promise<void> {
  await ask("/api/session", { method: "POST", body: { token } });
}

/** Who is signed in; undefined: nobody. */
export async function findOut(ask: Ask): Promise<Who> {
  const who = await askJson(ask, "/api/session");
  return { principal: String(who.principal), tenant: String(who.tenant) };
}

/**
 * The view for who is not signed in.
 *
 * @param error Why it is shown, where somebody is to know.
 * @param entered Somebody may be in now; `true`: a session has begun.
 */
export function signInView(ask: Ask, error: unknown, entered: (hasBegun: boolean) => void): HTMLElement {
  const key = h("input", {
    id: "key",
    type: "password",
    autocomplete: "off",
    required: true,
    maxlength: 256,
    spellcheck: "false",
    "aria-describedby": "key-wrong",
  });
  const isRefused = error instanceof ApiProblem && error.status === 401;
  const box = error !== undefined && problemBox(error, isRefused ? undefined : () => entered(false));
  const said = h("div", { class: "stack", id: "key-wrong" }, box);
  const submit = h("button", { class: "button main", type: "submit" }, "Sign in");
  const form = h(
    "form",
    {
      class: "stack",
      on: {
        submit: (event) => {
          event.preventDefault();
          void send();
        },
      },
    },
    h("div", { class: "field" }, h("label", { for: "key" }, "API key, or the token of a link"), key),
    h("div", { class: "row" }, submit),
  );
  async function send(): Promise<void> {
    const release = hold(submit);
    fill(said);
    try {
      await beginSession(ask, key.value.trim());
      key.value = "";
      entered(true);
    } catch (error) {
      fill(said, problemBox(error));
      key.focus();
    } finally {
      release();
    }
  }
  return h(
    "main",
    { class: "sign-in stack", id: "main" },
    h("div", { class: "brand large" }, icon("logo"), "Causeway"),
    h("h1", {}, "Sign in"),
    h(
      "p",
      { class: "muted" },
      "Paste the API key that your operator gave you. A runner on your own machine has printed a link when it was started: it signs you in once.",
    ),
    said,
    form,
  );
}
