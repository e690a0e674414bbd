/**
 * Resources and prompts.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { askJson, objectOf, objectsOf, textOf } from "../base/api.ts";
import { inBackground } from "../base/app.ts";
import type { App, View } from "../base/app.ts";
import { button, fill, h, hold } from "../base/dom.ts";
import { fieldsOf } from "../form/fields.ts";
import { makeForm } from "../form/form.ts";
import { foreign } from "../parts/foreign.ts";
import { badge, disclosure, empty, loading } from "../parts/pieces.ts";
import { problemBox } from "../parts/problem.ts";
import { contentsView, messagesView } from "../parts/result.ts";

/** The view of resources and prompts. */
export function libraryView(app: App): View {
  const resources = h("div", { class: "stack" }, loading("Loading resources"));
  const prompts = h("div", { class: "stack" }, loading("Loading prompts"));
  const load = (place: HTMLElement, path: string, show: (reply: JsonObject) => readonly HTMLElement[]): void => {
    const again = (): void =>
      inBackground(
        app,
        async () => fill(place, ...show(await askJson(app.ask, path, { signal: app.signal }))),
        (error) => fill(place, problemBox(error, again)),
      );
    again();
  };
  load(resources, "/api/resources", (reply) => {
    const found = objectsOf(reply.resources).map((entry) => resourceCard(app, entry));
    const templates = objectsOf(reply.templates).map((entry) => templateCard(app, entry));
    const cards = [...found, ...templates];
    return cards.length
      ? cards
      : [empty("No resources", h("p", {}, "None of your servers offers any that you may read."))];
  });
  load(prompts, "/api/prompts", (reply) => {
    const cards = objectsOf(reply.prompts).map((entry, at) => promptCard(app, entry, at));
    return cards.length
      ? cards
      : [empty("No prompts", h("p", {}, "None of your servers offers any that you may read."))];
  });
  const element = h(
    "main",
    { id: "main", class: "page stack", tabindex: -1 },
    h("h1", {}, "Library"),
    h("section", { class: "stack" }, h("h2", {}, "Resources"), resources),
    h("section", { class: "stack" }, h("h2", {}, "Prompts"), prompts),
  );
  return { title: "Library", element };
}

function resourceCard(app: App, { server, resource: given }: JsonObject): HTMLElement {
  const resource = objectOf(given);
  const uri = textOf(resource.uri);
  return h(
    "article",
    { class: "card stack tight" },
    headOf(resource, server, "resource"),
    h("code", { class: "wrap" }, foreign(uri, "resource-uri")),
    textOf(resource.mimeType) !== "" &&
      h("code", { class: "muted small" }, foreign(textOf(resource.mimeType), "resource-mime")),
    textOf(resource.description) !== "" && h("p", {}, foreign(textOf(resource.description), "resource-description")),
    reader(app, () => ({ uri, server: textOf(server) })),
  );
}

function templateCard(app: App, { server, template: given }: JsonObject): HTMLElement {
  const template = objectOf(given);
  const uri = textOf(template.uriTemplate);
  const address = h("input", { type: "text", "aria-label": "Address", autocomplete: "off", spellcheck: "false" });
  address.value = uri;
  return h(
    "article",
    { class: "card stack tight" },
    headOf(template, server, "template"),
    h("code", { class: "wrap" }, foreign(uri, "template-uri")),
    textOf(template.description) !== "" && h("p", {}, foreign(textOf(template.description), "resource-description")),
    h("p", { class: "hint" }, "Put values in the place of what stands in braces."),
    address,
    reader(app, () => ({ uri: address.value, server: textOf(server) })),
  );
}

function headOf(item: JsonObject, server: unknown, kind: string): HTMLElement {
  const name = textOf(item.title, textOf(item.name));
  return h(
    "div",
    { class: "row" },
    h("h3", {}, foreign(name, `${kind}-name`)),
    kind === "template" && badge("template"),
    h("span", { class: "muted" }, "at ", foreign(textOf(server), "server-name")),
  );
}

function reader(app: App, target: () => JsonObject): HTMLElement {
  const output = h("div", { class: "stack" });
  const read = button("Read", () => void begin());
  async function begin(): Promise<void> {
    const release = hold(read);
    fill(output, loading("Reading", 2));
    try {
      const reply = await askJson(app.ask, "/api/resources/read", {
        method: "POST",
        body: target(),
        signal: app.signal,
      });
      const contents = objectsOf(reply.contents).map(contentsView);
      fill(output, ...contents.length ? contents : [h("p", { class: "muted" }, "It is empty.")]);
    } catch (error) {
      if (!app.signal.aborted) fill(output, problemBox(error, () => void begin()));
    } finally {
      release();
    }
  }
  return h("div", { class: "stack tight" }, h("div", { class: "row" }, read), output);
}

function promptCard(app: App, entry: JsonObject, at: number): HTMLElement {
  const prompt = objectOf(entry.prompt);
  const name = textOf(entry.name);
  const properties = objectsOf(prompt.arguments).map((one) =>
    [textOf(one.name), { type: "string", title: one.title, description: one.description }] as const
  );
  const required = objectsOf(prompt.arguments).filter((one) => one.required === true).map((one) => textOf(one.name));
  const form = makeForm(
    fieldsOf({ type: "object", properties: Object.fromEntries(properties), required }) ?? [],
    `prompt-${at}`,
  );
  const output = h("div", { class: "stack" });
  const get = button("Fill in", () => void begin());
  async function begin(): Promise<void> {
    const { value, problems } = form.read();
    form.mark(problems);
    if (problems.length) return;
    const release = hold(get);
    try {
      const reply = await askJson(app.ask, `/api/prompts/${encodeURIComponent(name)}`, {
        method: "POST",
        body: { arguments: value },
        signal: app.signal,
      });
      fill(output, messagesView(reply));
    } catch (error) {
      if (!app.signal.aborted) fill(output, problemBox(error, () => void begin()));
    } finally {
      release();
    }
  }
  return h(
    "article",
    { class: "card stack tight" },
    headOf({ ...prompt, name: textOf(prompt.name, name) }, entry.server, "prompt"),
    textOf(prompt.description) !== "" && h("p", {}, foreign(textOf(prompt.description), "prompt-description")),
    disclosure("Try it", () => h("div", { class: "stack" }, form.element, h("div", { class: "row" }, get), output)),
  );
}
