/**
 * Approvals: a call as it would be made, with everything that could hide in it, and the yes or no.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { ApiProblem, objectOf, textOf } from "../base/api.ts";
import type { App } from "../base/app.ts";
import { button, fill, h, hold } from "../base/dom.ts";
import { shownJson } from "../base/text.ts";
import { foreignBlock, hiddenWarning, seenBlock } from "./foreign.ts";
import { badge } from "./pieces.ts";
import { problemBox } from "./problem.ts";

/** A call that is shown to whoever decides on it: every character of it can be seen. */
export function callCard(call: JsonObject): HTMLElement {
  const { server, tool } = call;
  const given = JSON.stringify(call.arguments ?? {});
  const names = `${textOf(server)}${textOf(tool)}`;
  const hashes = [["Arguments", call.argumentsHash], ["Tool", call.toolHash]] as const;
  return h(
    "div",
    { class: "stack tight" },
    h(
      "dl",
      { class: "facts" },
      h("dt", {}, "Server"),
      h("dd", {}, seenBlock(textOf(server), "approval-server")),
      h("dt", {}, "Tool"),
      h("dd", {}, seenBlock(textOf(tool), "approval-tool")),
    ),
    hiddenWarning(names, "A name"),
    hiddenWarning(unescaped(given), "What would be sent"),
    foreignBlock(shownJson(call.arguments ?? {}), "approval-arguments"),
    h(
      "p",
      { class: "muted small" },
      ...hashes.flatMap(([name, hash]) =>
        textOf(hash) === "" ? [] : [`${name} `, h("code", { title: textOf(hash) }, textOf(hash).slice(0, 12)), " "]
      ),
    ),
  );
}

/** What is shown in the place of a result when the call wants an approval first; undefined for all other errors. */
export function approvalPanel(app: App, error: unknown, again: (id: string) => void): HTMLElement | undefined {
  if (!(error instanceof ApiProblem) || error.code !== "approval_required") return undefined;
  const approval = objectOf(error.body.approval);
  const id = textOf(approval.id);
  const said = h("div", { class: "stack" });
  const approve = button("Approve and call", () => void answer(), { class: "button main" });
  const call = button("It was approved: call", () => again(id));
  async function answer(): Promise<void> {
    const release = hold(approve);
    try {
      await app.ask(`/api/approvals/${id}`, { method: "POST", body: { action: "accept" } });
      again(id);
    } catch (error) {
      release();
      const isOthers = error instanceof ApiProblem && error.status === 404;
      const waiting = h(
        "div",
        { class: "notice warn" },
        h("strong", {}, "Somebody else has to approve it"),
        h("p", {}, "It waits on their page under Approvals, for ten minutes. Call again when they have."),
      );
      fill(said, isOthers ? waiting : problemBox(error));
    }
  }
  return h(
    "section",
    { class: "card stack attention", "data-approval": id },
    h("div", { class: "row" }, badge("waits", "warn"), h("h3", {}, "This call wants an approval")),
    h("p", {}, "This is exactly what would be sent. The approval is good for this call alone, once."),
    callCard(approval),
    said,
    h("div", { class: "row" }, approve, call),
  );
}

/** JSON with what it escapes written out, so that what hides in it is found. */
function unescaped(json: string): string {
  return json.replace(/\\u([\da-f]{4})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}
