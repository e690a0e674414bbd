/**
 * Questions of a run: approvals, forms and pages of servers, and what to do about a call that may have run.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { numberOf, objectOf, textOf } from "../base/api.ts";
import type { App } from "../base/app.ts";
import { button, fill, h, hold, refocus } from "../base/dom.ts";
import { entryOf, shownJson, span } from "../base/text.ts";
import { checkOf, problemsOf, showProblems } from "../form/editor.ts";
import { fieldsOf, isSecret } from "../form/fields.ts";
import { makeForm } from "../form/form.ts";
import { foreign, foreignBlock, hiddenWarning, outsideLink } from "../parts/foreign.ts";
import { badge, setBadge } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";
import { callCard } from "../parts/approval.ts";

/** A question on the page. */
export interface QuestionCard {
  readonly element: HTMLElement;
  /** It needs no answer any more. */
  answered(action: string): void;
}

/** An answer that can be given. */
interface Way {
  readonly label: string;
  readonly action: string;
  readonly isMain?: boolean;
  /** Further members of the answer; undefined: it cannot be given yet. */
  readonly more?: () => JsonObject | undefined;
}

const titles: Readonly<Record<string, string>> = {
  approval: "May this call be made?",
  elicitation: "asks you",
  sampling: "wants to ask the agent's model",
  decision: "This call may have run. What now?",
};
const words: Readonly<Record<string, string>> = {
  accept: "accepted",
  decline: "declined",
  cancel: "dismissed",
  retry: "called again",
  skip: "told as unknown",
  fail: "ended",
};

/** Makes the card of a question. */
export function questionCard(app: App, path: string, question: JsonObject): QuestionCard {
  const [id, kind] = [textOf(question.id), textOf(question.kind)];
  const state = badge("waits for you", "warn");
  const said = h("div", { class: "stack" });
  const { content, ways } = partsOf(question);
  const buttons = ways.map((way) =>
    button(way.label, () => void answer(way), { class: way.isMain ? "button main" : "button" })
  );
  const bar = h("div", { class: "row" }, ...buttons);
  const open = h("div", { class: "stack" }, content, endsIn(app, question), said, bar);
  let hadFocus = false;
  async function answer({ action, more }: Way): Promise<void> {
    const members = more ? more() : {};
    if (!members) return app.announce("Correct what is marked");
    hadFocus = open.contains(document.activeElement);
    const release = hold(...buttons);
    try {
      await app.ask(`${path}/input`, { method: "POST", body: { question: id, answer: { action, ...members } } });
      app.announce("Your answer was taken");
    } catch (error) {
      release();
      fill(said, problemBox(error));
    }
  }
  const isServers = kind === "elicitation" || kind === "sampling";
  const server = textOf(question.server);
  const message = messageOf(question);
  const element = h(
    "section",
    { class: "card stack attention", "data-question": id, "data-kind": kind, tabindex: -1 },
    h(
      "div",
      { class: "row between" },
      h(
        "h3",
        {},
        isServers && h("span", {}, "The server ", foreign(server, "question-server"), " "),
        entryOf(titles, kind) ?? kind,
      ),
      state,
    ),
    message !== "" && h("p", { class: "prose" }, foreign(message, "question-message")),
    hiddenWarning(message),
    open,
  );
  return {
    element,
    answered(action) {
      if (!open.isConnected) return;
      setBadge(state, entryOf(words, action) ?? "over", action === "accept" || action === "retry" ? "good" : "quiet");
      element.classList.remove("attention");
      // Somebody may be about to press something in a question below: it must not move.
      if (isAboveAnother(element)) element.style.minHeight = `${element.getBoundingClientRect().height}px`;
      hadFocus ||= open.contains(document.activeElement);
      open.remove();
      // The next question is behind this one.
      if (hadFocus) refocus(element);
    },
  };
}

/** What the request says itself is not said twice. */
function messageOf({ message, request }: JsonObject): string {
  return textOf(message) === textOf(objectOf(request).message) ? "" : textOf(message);
}

function isAboveAnother(element: HTMLElement): boolean {
  // The last of them tells of all.
  const last = [...document.querySelectorAll("[data-question].attention")].at(-1);
  return last !== undefined && (element.compareDocumentPosition(last) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

function partsOf(question: JsonObject): { readonly content: HTMLElement; readonly ways: readonly Way[] } {
  const no: Way = { label: "Decline", action: "decline" };
  const request = objectOf(question.request);
  switch (question.kind) {
    case "approval":
      return {
        content: approvalOf(objectOf(question.call)),
        ways: [{ label: "Approve", action: "accept", isMain: true }, no],
      };
    case "decision":
      return {
        content: h(
          "div",
          { class: "stack" },
          h(
            "p",
            {},
            "The runner stopped while it was under way: nobody knows whether it was done. Look at the server before you have it called again.",
          ),
          approvalOf(objectOf(question.call)),
        ),
        ways: [{ label: "It did not run: call it again", action: "retry" }, {
          label: "Go on without it",
          action: "skip",
          isMain: true,
        }, { label: "End the run", action: "fail" }],
      };
    case "sampling":
      return {
        content: foreignBlock(shownJson(request), "sampling-request"),
        ways: [{ label: "Allow", action: "accept", isMain: true }, no],
      };
    default:
      return textOf(request.mode) === "url" ? addressOf(request, no) : formOf(request, textOf(question.id), no);
  }
}

function approvalOf(call: JsonObject): HTMLElement {
  const hidden = Array.isArray(call.hidden) ? call.hidden.map((one) => textOf(one)).filter((one) => one !== "") : [];
  return h(
    "div",
    { class: "stack tight" },
    callCard(call),
    hidden.length > 0 &&
      h(
        "div",
        { class: "notice warn", "data-hidden": true },
        h("strong", {}, "There are hidden characters in it"),
        h("ul", { class: "plain" }, ...hidden.slice(0, 20).map((one) => h("li", {}, foreign(one, "hidden-place")))),
      ),
  );
}

/** A page to visit: in full, opened by the person alone. */
function addressOf(request: JsonObject, no: Way): { readonly content: HTMLElement; readonly ways: readonly Way[] } {
  const content = h(
    "div",
    { class: "stack tight" },
    h("p", { class: "prose" }, foreign(textOf(request.message), "elicitation-message")),
    h("p", {}, "It wants you to visit this page. Look whose it is; nothing was sent there yet."),
    outsideLink(textOf(request.url), "elicitation-url", "Open the page"),
  );
  return {
    content,
    ways: [{ label: "I was there: go on", action: "accept", isMain: true }, no, { label: "Dismiss", action: "cancel" }],
  };
}

function formOf(
  request: JsonObject,
  id: string,
  no: Way,
): { readonly content: HTMLElement; readonly ways: readonly Way[] } {
  const schema = objectOf(request.requestedSchema);
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const message = h("p", { class: "prose" }, foreign(textOf(request.message), "elicitation-message"));
  const secrets = properties.filter(([name, property]) => isSecret(name, property)).map(([name]) => name);
  if (secrets.length) {
    const warning = h(
      "div",
      { class: "notice bad", role: "alert", "data-refused": "secret" },
      h("strong", {}, "This form is not shown: it asks for a secret"),
      h(
        "p",
        {},
        "Servers may not ask for passwords, keys or codes in forms: ",
        ...secrets.slice(0, 5).map((name) => h("code", {}, foreign(name, "secret-name"))),
        ". Decline it, and tell whoever runs the server.",
      ),
    );
    return {
      content: h("div", { class: "stack tight" }, message, warning),
      ways: [{ ...no, isMain: true }, { label: "Dismiss", action: "cancel" }],
    };
  }
  const fields = fieldsOf(schema) ?? [];
  const form = makeForm(fields, `answer-${id.replace(/\W/g, "_")}`);
  const check = checkOf(schema);
  const wrong = h("div", { class: "wrong", role: "alert" });
  const more = (): JsonObject | undefined => {
    const { value, problems } = form.read();
    const issues = problems.length ? problems : problemsOf(check, value);
    showProblems(wrong, form.mark(issues));
    return issues.length ? undefined : { content: value };
  };
  return {
    content: h("div", { class: "stack" }, message, form.element, wrong),
    ways: [{ label: "Send", action: "accept", isMain: true, more }, no, { label: "Dismiss", action: "cancel" }],
  };
}

/** How long it waits still, told as long as it stands on the page. */
function endsIn(app: App, { expiresAt }: JsonObject): HTMLElement | undefined {
  if (expiresAt === undefined) return undefined;
  const place = h("p", { class: "muted small" });
  const tick = async (): Promise<void> => {
    do {
      const left = numberOf(expiresAt) - app.now();
      place.textContent = left > 0 ? `Without an answer it ends in ${span(left)}, as a no.` : "Its time is over.";
      await app.wait(5_000, app.signal);
    } while (place.isConnected && !app.signal.aborted);
  };
  void tick();
  return place;
}
