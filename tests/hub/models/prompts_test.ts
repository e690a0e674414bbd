/** Word for word: what each provider gets of a prompt and of a resource. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import {
  toAiSdkContent,
  toAiSdkMessages,
  toAnthropicContent,
  toAnthropicMessages,
  toGoogleContents,
  toGoogleParts,
  toLangChainContent,
  toLangChainMessages,
  toOpenAiContent,
  toOpenAiInput,
  toOpenAiInputContent,
  toOpenAiMessages,
} from "../../../src/hub/models/mod.ts";
import type { GetPromptResult, ReadResourceResult } from "../../../src/protocol/types.ts";

const png = "iVBORw0KGgo=";
const url = `data:image/png;base64,${png}`;
const prompt: GetPromptResult = {
  messages: [
    { role: "user", content: { type: "text", text: "Look" } },
    { role: "user", content: { type: "image", mimeType: "image/png", data: png } },
    { role: "assistant", content: { type: "text", text: "A cat" } },
    { role: "assistant", content: { type: "image", mimeType: "image/png", data: png } },
  ],
};
const line = "[image, image/png, 8 bytes: not shown, since this model takes no such type]";
const resource: ReadResourceResult = {
  contents: [
    { uri: "file:///a.txt", mimeType: "text/plain", text: "A" },
    { uri: "file:///a.png", mimeType: "image/png", blob: png },
    { uri: "file:///a.bin", blob: "AAAA" },
  ],
};
const lines = [
  "[resource file:///a.txt, text/plain]\nA",
  "[resource file:///a.bin, application/octet-stream, 3 bytes: not shown, since this model takes no such type]",
] as const;
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };

const prompts: Record<string, [made: unknown, expected: unknown]> = {
  "OpenAI, chat completions": [toOpenAiMessages(prompt), [
    { role: "user", content: "Look" },
    { role: "user", content: [{ type: "image_url", image_url: { url } }] },
    { role: "assistant", content: "A cat" },
    { role: "assistant", content: line },
  ]],
  "OpenAI, responses": [toOpenAiInput(prompt), [
    { role: "user", content: "Look" },
    { role: "user", content: [{ type: "input_image", image_url: url, detail: "auto" }] },
    { role: "assistant", content: "A cat" },
    { role: "assistant", content: line },
  ]],
  "Anthropic": [toAnthropicMessages(prompt), [
    { role: "user", content: [{ type: "text", text: "Look" }] },
    { role: "user", content: [image] },
    { role: "assistant", content: [{ type: "text", text: "A cat" }] },
    { role: "assistant", content: [{ type: "text", text: line }] },
  ]],
  "Google": [toGoogleContents(prompt), [
    { role: "user", parts: [{ text: "Look" }] },
    { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: png } }] },
    { role: "model", parts: [{ text: "A cat" }] },
    { role: "model", parts: [{ inlineData: { mimeType: "image/png", data: png } }] },
  ]],
  "AI SDK": [toAiSdkMessages(prompt), [
    { role: "user", content: [{ type: "text", text: "Look" }] },
    { role: "user", content: [{ type: "file", data: png, mediaType: "image/png" }] },
    { role: "assistant", content: [{ type: "text", text: "A cat" }] },
    { role: "assistant", content: [{ type: "file", data: png, mediaType: "image/png" }] },
  ]],
  "LangChain": [toLangChainMessages(prompt), [
    { role: "user", content: "Look" },
    { role: "user", content: [{ type: "image_url", image_url: { url } }] },
    { role: "assistant", content: "A cat" },
    { role: "assistant", content: [{ type: "image_url", image_url: { url } }] },
  ]],
};
const resources: Record<string, [made: unknown, expected: unknown]> = {
  "OpenAI, chat completions": [toOpenAiContent(resource), [
    { type: "text", text: lines[0] },
    { type: "image_url", image_url: { url } },
    { type: "text", text: lines[1] },
  ]],
  "OpenAI, responses": [toOpenAiInputContent(resource), [
    { type: "input_text", text: lines[0] },
    { type: "input_image", image_url: url, detail: "auto" },
    { type: "input_text", text: lines[1] },
  ]],
  "Anthropic": [toAnthropicContent(resource), [
    { type: "text", text: lines[0] },
    image,
    { type: "text", text: lines[1] },
  ]],
  "Google": [toGoogleParts(resource), [
    { text: lines[0] },
    { inlineData: { mimeType: "image/png", data: png } },
    { text: lines[1] },
  ]],
  "AI SDK": [toAiSdkContent(resource), [
    { type: "text", text: lines[0] },
    { type: "file", data: png, mediaType: "image/png", filename: "file:///a.png" },
    { type: "text", text: lines[1] },
  ]],
  "LangChain": [toLangChainContent(resource), [
    { type: "text", text: lines[0] },
    { type: "image_url", image_url: { url } },
    { type: "text", text: lines[1] },
  ]],
};

describe("prompts", () => {
  for (const [name, [made, expected]] of Object.entries(prompts)) test(name, () => assertEquals(made, expected));

  test("Anthropic refuses blanks: they are left out", () => {
    assertEquals(toAnthropicMessages({ messages: [{ role: "user", content: { type: "text", text: " " } }] }), []);
  });
});

describe("resources", () => {
  for (const [name, [made, expected]] of Object.entries(resources)) test(name, () => assertEquals(made, expected));

  test("names of files are made of what is harmless", () => {
    const named = (uri: string, mimeType = "application/pdf") => {
      const [part] = toOpenAiContent({ contents: [{ uri, mimeType, blob: "AAAA" }] });
      return part?.type === "file" ? part.file.filename : undefined;
    };
    assertEquals(named("file:///a/b.pdf?x=/c.txt#d"), "b.pdf");
    assertEquals(named("file:///a/"), "file.pdf");
    assertEquals(named('data://report 1\n"x"'), "report_1_x_.pdf");
    assertEquals(named("x:/../.."), "file.pdf");
  });
});
