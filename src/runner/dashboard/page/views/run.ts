/**
 * One run: where it stands, what happened in it, and what it waits for.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { askJson, numberOf, objectOf, textOf } from "../base/api.ts";
import { inBackground } from "../base/app.ts";
import type { App } from "../base/app.ts";
import { button, fill, h, hold } from "../base/dom.ts";
import { follow } from "../base/follow.ts";
import type { StreamState } from "../base/follow.ts";
import { bytes, count, parsed } from "../base/text.ts";
import { foreign } from "../parts/foreign.ts";
import { badge, loading, setBadge } from "../parts/pieces.ts";
import type { Tone } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";
import { makeTimeline } from "./timeline.ts";

const streams: Readonly<Record<StreamState, readonly [string, Tone]>> = {
  connecting: ["connecting", "busy"],
  live: ["live", "good"],
  waiting: ["reconnecting", "warn"],
  ended: ["over", "quiet"],
};
const ends: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** A run as it goes on. */
export function runView(app: App, id: string, changed: () => void): HTMLElement {
  const path = `/api/runs/${encodeURIComponent(id)}`;
  const place = h("div", { class: "stack" }, loading("Loading the run"));
  const again = (): void =>
    inBackground(app, async () => {
      const run = await askJson(app.ask, path, { signal: app.signal });
      await show(run);
    }, (error) => fill(place, problemBox(error, again)));

  async function show(run: JsonObject): Promise<void> {
    const stream = badge("connecting", "busy");
    const usage = h("span", { class: "muted small", "data-usage": true });
    const said = h("div", { class: "stack" });
    const cancel = button("Cancel the run", () => void stop(), { class: "button", hidden: run.end !== undefined });
    const timeline = makeTimeline(app, path);
    async function stop(): Promise<void> {
      const release = hold(cancel);
      try {
        await askJson(app.ask, path, { method: "DELETE" });
      } catch (error) {
        fill(said, problemBox(error, () => void stop()));
      }
      release();
      if (document.activeElement === document.body) leave(place);
    }
    const head = h(
      "header",
      { class: "stack tight" },
      h(
        "div",
        { class: "row between" },
        h("h1", {}, foreign(textOf(run.agent), "agent-name")),
        h("div", { class: "row" }, stream, cancel),
      ),
      h("div", { class: "row" }, h("code", { class: "muted small" }, id), usage),
    );
    fill(place, head, said, timeline.element);
    await follow(`${path}/events`, {
      ask: app.ask,
      signal: app.signal,
      wait: (milliseconds) => app.wait(milliseconds, app.signal),
      state(state) {
        setBadge(stream, ...streams[state]);
        if (state !== "ended") return;
        if (document.activeElement === cancel) leave(place);
        cancel.hidden = true;
      },
      take({ event, data, size }) {
        const value = data === undefined ? undefined : parsed(data);
        if (isObject(value)) timeline.add(objectOf(value.event), numberOf(value.at));
        else timeline.tooLarge(event, bytes(size));
        if (event === "usage" || ends.has(event)) showUsage(usage, isObject(value) ? objectOf(value.event) : {});
        if (event === "question" || event === "answered" || ends.has(event)) changed();
        return ends.has(event);
      },
    });
  }
  again();
  return place;
}

/** What was pressed is gone: one goes on with the page. */
function leave(place: HTMLElement): void {
  place.closest("main")?.focus({ preventScroll: true });
}

function showUsage(place: HTMLElement, event: JsonObject): void {
  const { inputTokens, outputTokens } = objectOf(event.usage);
  const step = numberOf(event.steps) || numberOf(event.step);
  place.textContent = `${count(step, "step")} · ${numberOf(inputTokens).toLocaleString("en")} tokens in, ${
    numberOf(outputTokens).toLocaleString("en")
  } out`;
}
