/**
 * The page: signs in, and shows the view that its address names.
 *
 * @module
 */
import { ApiProblem, askJson, createAsk, objectsOf } from "./base/api.ts";
import type { Ask } from "./base/api.ts";
import { inBackground, waitFor } from "./base/app.ts";
import type { App, View } from "./base/app.ts";
import { fill, h, innerLink, refocus } from "./base/dom.ts";
import { empty } from "./parts/pieces.ts";
import { problemBox } from "./parts/problem.ts";
import { applyTheme, makeShell } from "./shell.ts";
import type { Shell } from "./shell.ts";
import { approvalsView } from "./views/approvals.ts";
import { libraryView } from "./views/library.ts";
import { runsView } from "./views/runs.ts";
import { serversView } from "./views/servers.ts";
import { beginSession, findOut, signInView, takeToken } from "./views/sign_in.ts";
import type { Who } from "./views/sign_in.ts";
import { toolsView } from "./views/tools.ts";

/** When it is looked again whether somebody wants an approval, in milliseconds. */
const approvalInterval = 10_000;
/** What the clocks of this machine and of the runner may differ, in milliseconds. */
const clockRoom = 30_000;

/** Who is in, until `left` is aborted. */
interface Inside {
  readonly who: Who;
  readonly left: AbortController;
}

/** What stands on the page while its session has ended. */
interface Kept {
  readonly nodes: readonly ChildNode[];
  readonly focused: Element | null;
  readonly title: string;
  readonly hash: string;
  readonly top: number;
}

/** The page. */
class Page {
  /** What the clock of this machine is behind the runner's, in milliseconds. */
  #behind = 0;
  readonly #send: Ask = createAsk(async (...call) => {
    const response = await fetch(...call);
    const behind = Date.parse(response.headers.get("date") ?? "") - Date.now();
    // Less is the time that an answer takes.
    this.#behind = Math.abs(behind) > clockRoom ? behind : 0;
    return response;
  });
  /** Undefined while nobody is. */
  #inside: Inside | undefined;
  /** Its session has ended, which is no reason to lose what was typed: who comes back finds it as it was. */
  #kept: Kept | undefined;
  /** Those who wait for that. */
  #waiting: (() => void)[] = [];
  /** How often somebody has come in. */
  #turn = 0;

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
    // In another tab somebody may have signed in, or be another one.
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) entering = entering.then(() => this.#look());
    });
    // A key that is held down presses once: what was pressed has the focus again when it is done.
    addEventListener("keydown", (event) => {
      if (event.repeat && event.key === "Enter" && event.target instanceof HTMLButtonElement) event.preventDefault();
    });
  }

  /** @param hasBegun The page has signed in just now. */
  async #enter(token?: string, hasBegun: boolean = false): Promise<void> {
    let refused: unknown;
    try {
      if (token !== undefined) {
        await beginSession(this.#send, token).catch((error: unknown) => {
          refused = error;
          // Who opens a link once more is signed in already.
          if (!isUnknown(error)) throw error;
        });
        hasBegun = refused === undefined;
      }
      this.#welcome(await findOut(this.#send));
    } catch (error) {
      const why = isUnknown(error) ? hasBegun ? noCookie() : undefined : error;
      this.#showSignIn(refused ?? why);
    }
  }

  async #look(): Promise<void> {
    const who = await findOut(this.#send).catch(() => undefined);
    if (who && (this.#kept || !isSame(who, this.#inside?.who))) this.#welcome(who);
  }

  #welcome(who: Who): void {
    const kept = this.#kept;
    const waiting = this.#waiting.splice(0);
    this.#kept = undefined;
    this.#turn++;
    if (kept && isSame(who, this.#inside?.who)) {
      fill(document.body, ...kept.nodes);
      document.title = kept.title;
      history.replaceState(null, "", location.pathname + kept.hash);
      scrollTo({ top: kept.top });
      if (kept.focused instanceof HTMLElement) kept.focused.focus({ preventScroll: true });
      refocus(document.getElementById("main"));
    } else {
      this.#leave();
      const left = new AbortController();
      this.#inside = { who, left };
      this.#route(makeShell(document.body, who, () => void this.#signOut()), left.signal);
    }
    for (const goOn of waiting) goOn();
  }

  /** What only reads waits until whoever was signed in is so again. */
  readonly #ask: Ask = async (path, options) => {
    const inside = this.#inside;
    for (;;) {
      const turn = this.#turn;
      try {
        return await this.#send(path, options);
      } catch (error) {
        if (!isUnknown(error) || !inside || inside !== this.#inside) throw error;
        // What was asked before somebody was in again says nothing of now.
        if (!this.#kept && turn === this.#turn) this.#showSignIn();
        if (options?.method !== undefined) throw error;
        if (this.#kept) {
          await new Promise<void>((resolve) => {
            this.#waiting.push(resolve);
            options?.signal?.addEventListener("abort", () => resolve(), { once: true });
          });
        }
      }
    }
  };

  #leave(): void {
    this.#inside?.left.abort();
    this.#inside = this.#kept = undefined;
  }

  #showSignIn(error?: unknown): void {
    if (this.#inside && !this.#kept) {
      const { activeElement: focused, body, title } = document;
      this.#kept = { nodes: [...body.childNodes], focused, title, hash: location.hash, top: scrollY };
    }
    document.title = "Sign in · Causeway";
    fill(document.body, signInView(this.#send, error, (hasBegun) => void this.#enter(undefined, hasBegun)));
    document.getElementById("key")?.focus();
  }

  async #signOut(): Promise<void> {
    try {
      await this.#send("/api/session", { method: "DELETE" });
    } catch (error) {
      // In another tab it was ended already.
      if (!isUnknown(error)) {
        this.#leave();
        return fill(document.body, h("main", { class: "page" }, problemBox(error, () => void this.#signOut())));
      }
    }
    this.#leave();
    this.#showSignIn();
  }

  #route(shell: Shell, signal: AbortSignal): void {
    const drafts: App["drafts"] = new Map();
    let view: View | undefined;
    let shown: string | undefined;
    let left = new AbortController();
    const show = (): void => {
      if (this.#kept) return;
      const [given = "", name] = placeOf(location.hash);
      const place = given === "" ? "tools" : given;
      if (view?.update && place === shown) {
        view.update(name || undefined);
        // What is opened begins at its head; who goes back is where the browser has kept them.
        if (name) scrollTo({ top: 0 });
      } else {
        left.abort();
        left = new AbortController();
        view = viewOf(
          this.#appOf(shell, AbortSignal.any([left.signal, signal]), drafts),
          place,
          name || undefined,
        );
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

  #appOf(shell: Shell, signal: AbortSignal, drafts: App["drafts"]): App {
    return {
      ask: this.#ask,
      origin: location.origin,
      signal,
      drafts,
      announce: (text) => shell.announce(text),
      whisper: (text) => shell.whisper(text),
      go: (path) => location.hash = `#/${path}`,
      now: () => Date.now() + this.#behind,
      wait: waitFor,
    };
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 401;
}

function isSame(one: Who, other: Who | undefined): boolean {
  return one.principal === other?.principal && one.tenant === other.tenant;
}

function noCookie(): ApiProblem {
  const detail = "The browser has kept no cookie of this page";
  return new ApiProblem(0, { code: "no_cookie", title: "Not signed in", detail });
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
      const title = h("h1", { class: "hidden" }, "Not found");
      const element = h(
        "main",
        { id: "main", class: "page", tabindex: -1 },
        title,
        empty("There is no such page", back),
      );
      return { title: "Not found", element };
    }
  }
}

new Page().start();
