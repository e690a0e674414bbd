/**
 * What a tool, a resource or a prompt gave: texts as text, pictures of safe types, all else named.
 *
 * @module
 */
import type { JsonObject } from "../../../../protocol/json_rpc.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../base/api.ts";
import { h } from "../base/dom.ts";
import { pictureOf } from "../base/links.ts";
import type { CutText } from "../base/stream.ts";
import { bytes, shownJson } from "../base/text.ts";
import { foreign, foreignBlock, outsideLink } from "./foreign.ts";
import { badge, disclosure } from "./pieces.ts";

/** Blocks of one result that are shown; more stand in its JSON. */
const mostBlocks = 500;

/** The result of a tool. */
export function resultView(result: JsonObject): HTMLElement {
  const blocks = objectsOf(result.content);
  const { structuredContent, isError } = result;
  return h(
    "div",
    { class: "stack result" },
    isError === true &&
      h(
        "div",
        { class: "notice bad", role: "alert" },
        h("strong", {}, "The tool failed"),
        h("p", {}, "What it says stands below. Change the arguments, or look at the server."),
      ),
    ...blocks.slice(0, mostBlocks).map(blockView),
    blocks.length > mostBlocks &&
      h("p", { class: "muted" }, `${blocks.length - mostBlocks} more blocks are in the JSON.`),
    structuredContent !== undefined &&
      h(
        "section",
        { class: "stack tight" },
        h("h3", { class: "sub" }, "Structured"),
        foreignBlock(shownJson(structuredContent), "structured"),
      ),
    blocks.length === 0 && structuredContent === undefined && h("p", { class: "muted" }, "It gave nothing."),
    disclosure("As JSON", () => foreignBlock(shownJson(result), "result-json")),
  );
}

/** A result that is longer than what is read: its beginning, as it came. */
export function cutView({ text, size }: CutText): HTMLElement {
  return h(
    "div",
    { class: "stack result", "data-cut": true },
    h(
      "div",
      { class: "notice warn" },
      h("strong", {}, `The result has ${bytes(size)}: its beginning is shown`),
      h("p", {}, "Copy the call as curl to get all of it."),
    ),
    text !== "" && foreignBlock(text.slice(0, 262_144), "result-cut"),
  );
}

/** One block of content. */
function blockView(block: JsonObject): HTMLElement {
  switch (block.type) {
    case "text":
      return foreignBlock(textOf(block.text), "result-text", "prose");
    case "image":
      return pictureView(block);
    case "audio":
      return named("Audio", block.mimeType, sizeOf(block.data));
    case "resource":
      return contentsView(objectOf(block.resource));
    case "resource_link":
      return h(
        "div",
        { class: "card inner stack tight" },
        h(
          "div",
          { class: "row" },
          badge("link"),
          h("strong", {}, foreign(textOf(block.title, textOf(block.name)), "link-name")),
          mimeOf(block.mimeType),
        ),
        textOf(block.description) !== "" && h("p", {}, foreign(textOf(block.description), "link-description")),
        outsideLink(textOf(block.uri), "link-uri"),
      );
    default:
      return foreignBlock(shownJson(block), "result-other");
  }
}

/** The contents of a resource. */
export function contentsView(contents: JsonObject): HTMLElement {
  const { text, blob, mimeType } = contents;
  const picture = pictureOf(mimeType, blob);
  return h(
    "div",
    { class: "card inner stack tight" },
    h(
      "div",
      { class: "row" },
      badge("resource"),
      h("code", {}, foreign(textOf(contents.uri), "resource-uri")),
      mimeOf(mimeType),
    ),
    typeof text === "string" && foreignBlock(text, "resource-text"),
    picture !== undefined && shownPicture(picture),
    typeof text !== "string" && picture === undefined &&
      h("p", { class: "muted" }, `${bytes(sizeOf(blob))} that are not shown here.`),
  );
}

/** Messages of a prompt. */
export function messagesView(result: JsonObject): HTMLElement {
  const messages = objectsOf(result.messages).slice(0, mostBlocks);
  return h(
    "div",
    { class: "stack result" },
    textOf(result.description) !== "" && h("p", {}, foreign(textOf(result.description), "prompt-description")),
    ...messages.map((message) =>
      h(
        "section",
        { class: "stack tight" },
        h("h4", {}, foreign(textOf(message.role), "prompt-role")),
        blockView(objectOf(message.content)),
      )
    ),
    disclosure("As JSON", () => foreignBlock(shownJson(result), "result-json")),
  );
}

function pictureView({ data, mimeType }: JsonObject): HTMLElement {
  const picture = pictureOf(mimeType, data);
  if (picture === undefined) return named("An image of a type that is not shown", mimeType, sizeOf(data));
  return h(
    "figure",
    {},
    shownPicture(picture),
    h("figcaption", { class: "muted small" }, mimeOf(mimeType), ` ${bytes(sizeOf(data))}`),
  );
}

/** A picture whose address was judged: it holds pixels alone. */
function shownPicture(source: string): HTMLElement {
  const image = h("img", { alt: "A picture that the server gave", decoding: "async" });
  image.src = source;
  return image;
}

function named(what: string, type: unknown, size: number): HTMLElement {
  return h("p", { class: "muted" }, `${what}, `, mimeOf(type), `, ${bytes(size)}: not shown here.`);
}

function mimeOf(type: unknown): HTMLElement | undefined {
  return typeof type === "string" ? h("code", { class: "muted small" }, foreign(type, "mime")) : undefined;
}

function sizeOf(data: unknown): number {
  return typeof data === "string" ? Math.floor(data.length * 3 / 4) : numberOf(data);
}
