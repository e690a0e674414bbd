/**
 * Calls that wait for somebody's yes.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { askJson, numberOf, objectsOf, textOf } from "../base/api.ts";
import { inBackground, keepLoading } from "../base/app.ts";
import type { App, View } from "../base/app.ts";
import { button, fill, h, hold } from "../base/dom.ts";
import { span } from "../base/text.ts";
import { foreign } from "../parts/foreign.ts";
import { empty, loading } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";
import { callCard } from "../parts/approval.ts";

const interval = 5_000;

/** The view of approvals. */
export function approvalsView(app: App): View {
  const list = h("div", { class: "stack" }, loading("Loading approvals"));
  let shown = "";
  async function load(): Promise<void> {
    const reply = await askJson(app.ask, "/api/approvals", { signal: app.signal });
    const approvals = objectsOf(reply.approvals);
    const ids = approvals.map(({ id }) => textOf(id)).join();
    // What one is about to press does not move.
    if (ids === shown && ids !== "") return;
    shown = ids;
    fill(list, ...approvals.map((approval) => card(app, approval, again)), approvals.length === 0 && nothing());
  }
  function again(): void {
    shown = "";
    inBackground(app, async () => {
      await load();
      // What was pressed is gone.
      if (document.activeElement === document.body) element.focus({ preventScroll: true });
    }, failed);
  }
  function failed(error: unknown): void {
    shown = "";
    fill(list, problemBox(error, again));
  }
  keepLoading(app, interval, load, failed);
  const element = h("main", { id: "main", class: "page stack", tabindex: -1 }, h("h1", {}, "Approvals"), list);
  return { title: "Approvals", element };
}

function card(app: App, approval: JsonObject, done: () => void): HTMLElement {
  const id = textOf(approval.id);
  const said = h("div", {});
  const buttons = [
    button("Approve", () => void answer("accept"), { class: "button main" }),
    button("Decline", () => void answer("decline")),
  ];
  async function answer(action: "accept" | "decline"): Promise<void> {
    const release = hold(...buttons);
    try {
      await app.ask(`/api/approvals/${encodeURIComponent(id)}`, { method: "POST", body: { action } });
      app.announce(action === "accept" ? "Approved: it can be called now" : "Declined");
      done();
    } catch (error) {
      release();
      fill(said, problemBox(error));
    }
  }
  const left = numberOf(approval.expiresAt) - Date.now();
  return h(
    "article",
    { class: "card stack attention", "data-approval": id },
    h(
      "div",
      { class: "row between" },
      h("h2", {}, foreign(textOf(approval.principal), "approval-principal"), " wants to call"),
      h("span", { class: "muted small" }, left > 0 ? `ends in ${span(left)}` : "has ended"),
    ),
    callCard(approval),
    said,
    h("div", { class: "row" }, ...buttons),
  );
}

function nothing(): HTMLElement {
  return empty(
    "Nothing waits for you",
    h(
      "p",
      {},
      "When somebody calls a tool that wants an approval which you may give, the call is shown here before it is made.",
    ),
  );
}
