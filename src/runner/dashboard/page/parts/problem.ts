/**
 * What went wrong, and what can be done about it.
 *
 * @module
 */
import { ApiProblem, textOf } from "../base/api.ts";
import { button, fill, h, innerLink } from "../base/dom.ts";
import type { Child } from "../base/dom.ts";
import { entryOf } from "../base/text.ts";
import { foreign } from "./foreign.ts";

/** What can be done about an error, in a sentence. */
export function adviceOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return "This is a fault of the page: reload it, and tell us if it comes again.";
  const { code, status, retryAfter } = error;
  const soon = retryAfter === undefined ? "in a moment" : `in ${retryAfter} s`;
  const known = entryOf(advice, code);
  if (known !== undefined) return known.replace("{soon}", soon);
  if (status === 429 || status === 503) return `Try again ${soon}.`;
  if (status >= 500) return "The runner's log says more; the request id below finds it there.";
  return "";
}

const advice: Readonly<Record<string, string>> = {
  unreachable: "Look whether the runner is at work and this machine is online, then try again.",
  no_cookie: "Let this page keep cookies, then try again.",
  not_signed_in: "Sign in again with a new link or your API key.",
  forbidden: "The policy of this runner does not allow it. Its operator can change that.",
  not_found: "It may have been removed, or you may not see it. Go back to the list.",
  approval_refused: "Call again without it to ask for a new approval.",
  stale: "Somebody else was faster. What was decided is shown in a moment.",
  sign_in_required: "Its server wants a sign-in: go to Servers and connect to it.",
  server_unavailable: "Go to Servers and connect to it again; the reason is shown there.",
  refused_behind: "The server refuses our credentials: go to Servers and connect to it again.",
  error_behind: "The server itself has failed. Its message is above.",
  outcome_unknown: "It may have been done. Look at the server before you call it again.",
  timeout: "It may still be at work. Look at the server before you call it again.",
  invalid_arguments: "Correct the arguments and call again.",
  invalid_request: "Correct what is named and try again.",
  egress_denied: "Only public https addresses can be added here.",
  name_taken: "Choose another name, or remove the other server first.",
  limit_exceeded: "The result is larger than this runner takes. Ask the tool for less.",
  overloaded: "Try again {soon}.",
  unavailable: "Nothing was done. Try again {soon}.",
  too_many_runs: "Cancel one, or try again {soon}.",
  not_offered: "The operator of this runner has not turned it on.",
  internal_error: "The runner's log says more; the request id below finds it there.",
};

/** An error with what can be done about it. */
export function problemBox(error: unknown, retry?: () => void, ...more: readonly Child[]): HTMLElement {
  const isKnown = error instanceof ApiProblem;
  const title = isKnown ? textOf(error.body.title, "It was refused") : "Something went wrong";
  const detail = error instanceof Error ? error.message : String(error);
  const id = isKnown ? textOf(error.body.requestId) : "";
  const leadsToServers = isKnown && /^(sign_in_required|server_unavailable|refused_behind)$/.test(error.code);
  const advised = adviceOf(error);
  return h(
    "div",
    { class: "notice bad", role: "alert", "data-problem": isKnown ? error.code : "page" },
    h("strong", {}, title),
    h("p", {}, foreign(detail, "error-message")),
    isKnown && errorsOf(error),
    advised !== "" && h("p", {}, advised),
    (retry || leadsToServers || more.length > 0) && h(
      "div",
      { class: "row" },
      retry && button("Try again", retry),
      leadsToServers && innerLink("servers", { class: "button" }, "Go to Servers"),
      ...more,
    ),
    id !== "" && h("p", { class: "muted small" }, "Request ", h("code", {}, id)),
  );
}

/**
 * Shows an error in the place of all else. One that stands there already stays: it is not told again, and its button keeps the focus.
 * Of what is kept while nobody is signed in nothing is told: it waits for that.
 */
export function showProblem(place: HTMLElement, error: unknown, retry: () => void): void {
  if (!place.isConnected) return;
  const box = problemBox(error, retry);
  // Each request has another id.
  const told = (one: Element | null): unknown =>
    one instanceof HTMLElement && one.dataset.problem + (one.children[1]?.textContent ?? "");
  if (told(place.firstElementChild) !== told(box)) fill(place, box);
}

function errorsOf({ body: { errors } }: ApiProblem): HTMLElement | undefined {
  if (!Array.isArray(errors) || errors.length < 2) return undefined;
  const items = errors.slice(0, 20).map((error) => {
    const { pointer, detail } = typeof error === "object" && error !== null && !Array.isArray(error) ? error : {};
    return h("li", {}, h("code", {}, textOf(pointer)), " ", foreign(textOf(detail), "error-detail"));
  });
  return h("ul", { class: "plain" }, ...items);
}
