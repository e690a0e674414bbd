/**
 * Calls that wait for somebody's yes.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { askJson, numberOf, objectsOf, textOf } from "../base/api.ts";
import { inBackground, keepLoading } from "../base/app.ts";
import type { App, View } from "../base/app.ts";
import { button, fill, h, hold, refocus } from "../base/dom.ts";
import { span } from "../base/text.ts";
import { foreign } from "../parts/foreign.ts";
import { empty, loading } from "../parts/pieces.ts";
import { problemBox, showProblem } from "../parts/problem.ts";
import { callCard } from "../parts/approval.ts";

const interval = 5_000;
const ended = "has ended";

/** The view of approvals. */
export function approvalsView(app: App): View {
  const list = h("div", { class: "stack" }, loading("Loading approvals"));
  /** By the ids of their calls, as they stand on the page. */
  const cards = new Map<string, Card>();
  const none = nothing();
  /** What goes wrong is told below them: what waits stays, and can be answered. */
  const trouble = h("div", { class: "stack" });
  /** Counts what was asked for: what comes late is not shown. */
  let turn = 0;
  async function load(signal: AbortSignal): Promise<void> {
    const mine = ++turn;
    const reply = await askJson(app.ask, "/api/approvals", { signal });
    if (mine !== turn) return;
    fill(trouble);
    const approvals = new Map(objectsOf(reply.approvals).map((approval) => [textOf(approval.id), approval]));
    if (approvals.size === 0) cards.clear();
    if (cards.size === 0) fill(list, approvals.size === 0 && none);
    // What one is about to press does not move, and keeps the focus: what is gone stays in its place, and what is new comes below.
    for (const [id, { end }] of cards) if (!approvals.has(id)) end();
    for (const [id, approval] of approvals) {
      let shown = cards.get(id);
      if (!shown) {
        shown = card(app, approval, again);
        cards.set(id, shown);
        list.append(shown.element);
      }
      shown.tick(approval);
    }
    forget(cards);
  }
  function again(): void {
    inBackground(app, async () => {
      await load(app.signal);
      refocus(element);
    }, failed);
  }
  function failed(error: unknown): void {
    if (cards.size === 0) fill(list);
    showProblem(trouble, error, again);
  }
  keepLoading(app, interval, load, failed);
  const title = h("h1", {}, "Approvals");
  const element = h("main", { id: "main", class: "page stack approvals", tabindex: -1 }, title, list, trouble);
  return { title: "Approvals", element };
}

/** A call on the page. */
interface Card {
  readonly element: HTMLElement;
  hasEnded(): boolean;
  /** It waits, and says how long still. */
  tick(approval: JsonObject): void;
  /** It waits no more: nothing of it can be pressed. */
  end(): void;
}

/** What has ended goes when it is out of sight: there may come calls without end. What is in sight does not move. */
function forget(cards: Map<string, Card>): void {
  const isInSight = ({ element }: Card): boolean => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const gone = [...cards].filter(([, card]) => card.hasEnded() && !isInSight(card));
  if (gone.length === 0) return;
  const stays = [...cards.values()].find(isInSight)?.element;
  const place = (): number => stays?.getBoundingClientRect().top ?? 0;
  const before = place();
  for (const [id, { element }] of gone) {
    cards.delete(id);
    element.remove();
  }
  scrollBy(0, place() - before);
}

function card(app: App, approval: JsonObject, done: () => void): Card {
  const id = textOf(approval.id);
  const said = h("div", {});
  let isOver = false;
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
      if (isOver) end();
      fill(said, problemBox(error));
    }
  }
  const time = h("span", { class: "muted small time" });
  const element = h(
    "article",
    { class: "card stack attention", "data-approval": id },
    h(
      "div",
      { class: "row between" },
      h("h2", {}, foreign(textOf(approval.principal), "approval-principal"), " wants to call"),
      time,
    ),
    callCard(approval),
    said,
    h("div", { class: "row" }, ...buttons),
  );
  function end(): void {
    isOver = true;
    for (const one of buttons) one.disabled = true;
    // On its line: what stands below must not move.
    time.textContent = ended;
  }
  function tick({ expiresAt }: JsonObject): void {
    if (isOver) { for (const one of buttons) one.disabled = false; }
    isOver = false;
    const left = numberOf(expiresAt) - app.now();
    time.textContent = left > 0 ? `ends in ${span(left)}` : ended;
  }
  return { element, hasEnded: () => isOver, end, tick };
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
