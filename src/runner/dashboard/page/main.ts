/**
 * The page: signs in, and shows the view that its address names.
 *
 * @module
 */
import { ApiProblem, askJson, createAsk, objectsOf } from "./base/api.ts";
import type { Ask } from "./base/api.ts";
import { inBackground, waitFor } from "./base/app.ts";
import type { App, View } from "./base/app.ts";
import { fill, h, innerLink } from "./base/dom.ts";
import { empty } from "./parts/pieces.ts";
import { problemBox } from "./parts/problem.ts";
import { applyTheme, makeShell } from "./shell.ts";
import type { Shell } from "./shell.ts";
import { approvalsView } from "./views/approvals.ts";
import { libraryView } from "./views/library.ts";
import { runsView } from "./views/runs.ts";
import { serversView } from "./views/servers.ts";
import { beginSession, findOut, signInView, takeToken } from "./views/sign_in.ts";
import { toolsView } from "./views/tools.ts";

/** When it is looked again whether somebody wants an approval, in milliseconds. */
const approvalInterval = 10_000;

/** The page. */
class Page {
  readonly #ask: Ask = createAsk((...call) => fetch(...call), () => this.#signedOut());
  /** Aborted when nobody is signed in any more; undefined while nobody is. */
  #inside: AbortController | undefined;

  /** Takes the token of the address, and shows what there is. */
  start(): void {
    applyTheme();
    // Before anything is asked: it stays in no history, and is sent nowhere but to its place.
    let entering = this.#enter(takeToken());
    // A link that is opened where the page is already does not load it anew. One after the other: what comes late is no answer to it.
    addEventListener("hashchange", () => {
      const token = takeToken();
      if (token !== undefined) entering = entering.then(() => this.#enter(token));
    });
    // A key that is held down presses once: what was pressed has the focus again when it is done.
    addEventListener("keydown", (event) => {
      if (event.repeat && event.key === "Enter" && event.target instanceof HTMLButtonElement) event.preventDefault();
    });
  }

  async #enter(token?: string): Promise<void> {
    let refused: unknown;
    try {
      if (token !== undefined) {
        await beginSession(this.#ask, token).catch((error: unknown) => {
          refused = error;
          // Who opens a link once more is signed in already.
          if (!isUnknown(error)) throw error;
        });
      }
      const who = await findOut(this.#ask);
      this.#inside?.abort();
      this.#inside = new AbortController();
      this.#route(makeShell(document.body, who, () => void this.#signOut()), this.#inside.signal);
    } catch (error) {
      this.#showSignIn(refused ?? (isUnknown(error) ? undefined : error));
    }
  }

  #signedOut(): void {
    if (this.#inside) this.#showSignIn();
  }

  #showSignIn(error?: unknown): void {
    this.#inside?.abort();
    this.#inside = undefined;
    document.title = "Sign in · Causeway";
    fill(document.body, signInView(this.#ask, error, () => void this.#enter()));
    document.getElementById("key")?.focus();
  }

  async #signOut(): Promise<void> {
    try {
      await this.#ask("/api/session", { method: "DELETE" });
      this.#showSignIn();
    } catch (error) {
      fill(document.body, h("main", { class: "page" }, problemBox(error, () => void this.#signOut())));
    }
  }

  #route(shell: Shell, signal: AbortSignal): void {
    let view: View | undefined;
    let shown: string | undefined;
    let left = new AbortController();
    const show = (): void => {
      const [given = "", name] = placeOf(location.hash);
      const place = given === "" ? "tools" : given;
      if (view?.update && place === shown) {
        view.update(name || undefined);
        // What is opened begins at its head; who goes back is where the browser has kept them.
        if (name) scrollTo({ top: 0 });
      } else {
        left.abort();
        left = new AbortController();
        view = viewOf(this.#appOf(shell, AbortSignal.any([left.signal, signal])), place, name || undefined);
        shown = place;
      }
      shell.show(view, place);
    };
    const key = (event: KeyboardEvent): void => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && view?.key?.(event)) event.preventDefault();
    };
    inBackground({ signal }, () => this.#watchApprovals(shell, signal), () => {});
    addEventListener("hashchange", show, { signal });
    addEventListener("keydown", key, { signal });
    show();
  }

  /** Whoever may approve is told where they are. Without an answer nothing is told: the view itself says why. */
  async #watchApprovals(shell: Shell, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!document.hidden) {
        const reply = await askJson(this.#ask, "/api/approvals", { signal }).catch(() => ({ approvals: undefined }));
        shell.waiting(objectsOf(reply.approvals).length);
      }
      await waitFor(approvalInterval, signal);
    }
  }

  #appOf(shell: Shell, signal: AbortSignal): App {
    return {
      ask: this.#ask,
      origin: location.origin,
      signal,
      announce: (text) => shell.announce(text),
      whisper: (text) => shell.whisper(text),
      go: (path) => location.hash = `#/${path}`,
      wait: waitFor,
    };
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 401;
}

/** `#/tools/alpha__echo` is the view `tools`, with `alpha__echo` open. */
function placeOf(hash: string): readonly string[] {
  const parts = hash.replace(/^#\/?/, "").split("/");
  return parts.map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

function viewOf(app: App, place: string, name: string | undefined): View {
  switch (place) {
    case "tools":
      return toolsView(app, name);
    case "runs":
      return runsView(app, name);
    case "approvals":
      return approvalsView(app);
    case "servers":
      return serversView(app);
    case "library":
      return libraryView(app);
    default: {
      const back = innerLink("tools", { class: "button main" }, "Go to Tools");
      const element = h("main", { id: "main", class: "page", tabindex: -1 }, empty("There is no such page", back));
      return { title: "Not found", element };
    }
  }
}

new Page().start();
