/**
 * What happens at a server, line by line.
 *
 * @module
 */
import { isObject } from "../../../../protocol/json_rpc.ts";
import { textOf } from "../base/api.ts";
import { inBackground } from "../base/app.ts";
import type { App } from "../base/app.ts";
import { fill, h } from "../base/dom.ts";
import { follow } from "../base/follow.ts";
import { parsed } from "../base/text.ts";
import { foreign } from "../parts/foreign.ts";
import { problemBox } from "../parts/problem.ts";

const mostLines = 500;

/** Follows what a server tells. */
export function logView(app: App, path: string): HTMLElement {
  const lines = h("ol", { class: "log", "aria-label": "Log", tabindex: 0 });
  const nothing = h("p", { class: "muted" }, "Nothing yet.");
  const place = h("div", { class: "stack tight" }, nothing, lines);
  inBackground(app, () =>
    follow(path, {
      ask: app.ask,
      signal: app.signal,
      state: () => {},
      wait: (milliseconds) => app.wait(milliseconds, app.signal),
      take({ event, data }) {
        const value = data === undefined ? undefined : parsed(data);
        if (!isObject(value)) return false;
        nothing.remove();
        const said = event === "log" ? value.data : `${textOf(value.from)} → ${textOf(value.to)}`;
        const text = typeof said === "string" ? said : JSON.stringify(said) ?? "";
        lines.append(
          h("li", {}, h("span", { class: "muted" }, textOf(value.level, event)), " ", foreign(text, "log-line")),
        );
        if (lines.children.length > mostLines) lines.firstElementChild?.remove();
        return false;
      },
    }), (error) => fill(place, problemBox(error)));
  return place;
}
