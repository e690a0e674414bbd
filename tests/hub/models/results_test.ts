/** Word for word: what each provider gets of each kind of result. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import {
  runLangChainToolCalls,
  toAiSdkTools,
  toAnthropicToolMessage,
  toGoogleToolContent,
  toLangChainToolMessages,
  toLangChainTools,
  toOpenAiFunctionOutputs,
  toOpenAiToolMessages,
} from "../../../src/hub/models/mod.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { CallToolResult, ContentBlock } from "../../../src/protocol/types.ts";
import { FakeHub } from "../support/fake_hub.ts";

const png = "iVBORw0KGgo=";
const beside = { type: "text", text: "(what the tool gave stands beside this)" };
const wav = "UklGRg==";
const pdf = "JVBERi0x";

interface Row {
  readonly result: CallToolResult;
  /** The messages but for what is the same in all rows. */
  readonly chat: unknown;
  readonly responses: unknown;
  readonly anthropic: unknown;
  readonly google: unknown;
  readonly aiSdk: unknown;
  readonly langChain: unknown;
}

const rows: Record<string, Row> = {
  text: said({ content: [{ type: "text", text: "hello" }] }, "hello"),
  "two texts": {
    ...said({ content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] }, "a\nb"),
    anthropic: { content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] },
  },
  nothing: said({ content: [] }, "(the tool gave nothing)"),
  blanks: said({ content: [{ type: "text", text: " \n" }] }, "(the tool gave nothing)"),
  error: failed({ content: [{ type: "text", text: "no such file" }], isError: true }, "Tool error: no such file"),
  "an error that says so itself": failed(
    { content: [{ type: "text", text: "Tool error: again" }], isError: true },
    "Tool error: again",
  ),
  "an error without a word": failed({ content: [], isError: true }, "Tool error: it does not say why"),
  "structured content with its text": said(
    { content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } },
    '{"a":1}',
  ),
  "structured content alone": said({ content: [], structuredContent: { a: [1, null] } }, '{"a":[1,null]}'),
  "structured content beside blanks": said(
    { content: [{ type: "text", text: " " }], structuredContent: { a: 1 } },
    '{"a":1}',
  ),
  "structured content beside a link": said(
    { content: [{ type: "resource_link", uri: "file:///a", name: "a" }], structuredContent: { a: 1 } },
    '{"a":1}\n[resource "a": file:///a]',
    ['{"a":1}', '[resource "a": file:///a]'],
  ),
  "null is nothing said": said(
    spoken({
      content: [
        { type: "resource", resource: { uri: "x:a", mimeType: null, text: null, blob: "AAAA" } },
        { type: "resource", resource: { uri: "x:b", mimeType: null, text: "b", blob: null } },
      ],
      structuredContent: null,
      isError: null,
    }),
    "[resource x:a, application/octet-stream, 3 bytes: not shown, since this model takes no such type]\n[resource x:b]\nb",
    [
      "[resource x:a, application/octet-stream, 3 bytes: not shown, since this model takes no such type]",
      "[resource x:b]\nb",
    ],
  ),
  "a link and no structured content": said(
    spoken({ content: [{ type: "resource_link", uri: "file:///a", name: "a" }], structuredContent: null }),
    '[resource "a": file:///a]',
  ),
  "structured content that is null": said(spoken({ content: [], structuredContent: null }), "null"),
  "structured content that is false": said({ content: [], structuredContent: false }, "false"),
  "a link": said(
    {
      content: [{
        type: "resource_link",
        uri: "file:///a.txt",
        name: "a.txt",
        title: "A",
        mimeType: "text/plain",
        size: 12,
        description: "The first.",
      }],
    },
    '[resource "A": file:///a.txt, text/plain, 12 bytes] The first.',
  ),
  "a resource of text": said(
    { content: [{ type: "resource", resource: { uri: "file:///a.md", mimeType: "text/markdown", text: "# A" } }] },
    "[resource file:///a.md, text/markdown]\n# A",
  ),
  "a kind of content from the future": said(
    { content: [{ type: "hologram", data: 1 } as unknown as ContentBlock] },
    '{"type":"hologram","data":1}',
  ),
  "a picture that nobody takes": said(
    { content: [{ type: "image", mimeType: "image/svg+xml", data: "PHN2Zy8+" }] },
    "[image, image/svg+xml, 6 bytes: not shown, since this model takes no such type]",
  ),
  "a picture that is not base64": said(
    { content: [{ type: "image", mimeType: "image/png", data: "data:image/png;base64,AAAA" }] },
    "[image, image/png: not shown, since its data are not base64]",
  ),
  "a picture": {
    result: { content: [{ type: "image", mimeType: "image/PNG; q=1", data: png }] },
    chat: [
      { content: "(what the tool gave follows in the next message of the user)" },
      {
        role: "user",
        content: [
          { type: "text", text: 'From the tool "s__t" (call c1):' },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
        ],
      },
    ],
    responses: [{ type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "auto" }],
    anthropic: {
      content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
    },
    google: [
      { response: { output: "(what the tool gave stands beside this)" } },
      { text: 'From the tool "s__t":' },
      { inlineData: { mimeType: "image/png", data: png } },
    ],
    aiSdk: { type: "content", value: [beside, { type: "image-data", data: png, mediaType: "image/png" }] },
    langChain: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }],
  },
  "a text and a sound": {
    result: { content: [{ type: "text", text: "listen" }, { type: "audio", mimeType: "audio/x-wav", data: wav }] },
    chat: [
      { content: "listen" },
      {
        role: "user",
        content: [
          { type: "text", text: 'From the tool "s__t" (call c1):' },
          { type: "input_audio", input_audio: { data: wav, format: "wav" } },
        ],
      },
    ],
    responses: "listen\n[audio, audio/wav, 4 bytes: not shown, since this model takes no such type]",
    anthropic: {
      content: [
        { type: "text", text: "listen" },
        { type: "text", text: "[audio, audio/wav, 4 bytes: not shown, since this model takes no such type]" },
      ],
    },
    google: [
      { response: { output: "listen" } },
      { text: 'From the tool "s__t":' },
      { inlineData: { mimeType: "audio/wav", data: wav } },
    ],
    aiSdk: {
      type: "text",
      value: "listen\n[audio, audio/wav, 4 bytes: not shown, since this model takes no such type]",
    },
    langChain: [
      { type: "text", text: "listen" },
      { type: "audio", source_type: "base64", mime_type: "audio/wav", data: wav },
    ],
  },
  "a file of a resource": {
    result: {
      content: [{
        type: "resource",
        resource: { uri: "file:///b/report.pdf", mimeType: "application/pdf", blob: pdf },
      }],
    },
    chat: [
      { content: "(what the tool gave follows in the next message of the user)" },
      {
        role: "user",
        content: [
          { type: "text", text: 'From the tool "s__t" (call c1):' },
          { type: "file", file: { filename: "report.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
        ],
      },
    ],
    responses: [{ type: "input_file", filename: "report.pdf", file_data: `data:application/pdf;base64,${pdf}` }],
    anthropic: {
      content: [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf } }],
    },
    google: [
      { response: { output: "(what the tool gave stands beside this)" } },
      { text: 'From the tool "s__t":' },
      { inlineData: { mimeType: "application/pdf", data: pdf } },
    ],
    aiSdk: { type: "content", value: [beside, { type: "file-data", data: pdf, mediaType: "application/pdf" }] },
    langChain: [{ type: "file", source_type: "base64", mime_type: "application/pdf", data: pdf }],
  },
  "an error with a picture": {
    result: { content: [{ type: "image", mimeType: "image/png", data: png }], isError: true },
    chat: [
      { content: "Tool error: it does not say why" },
      {
        role: "user",
        content: [
          { type: "text", text: 'From the tool "s__t" (call c1):' },
          { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
        ],
      },
    ],
    responses: [
      { type: "input_text", text: "Tool error: it does not say why" },
      { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "auto" },
    ],
    anthropic: {
      content: [
        { type: "text", text: "Tool error: it does not say why" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
      ],
    },
    google: [
      { response: { error: "Tool error: it does not say why" } },
      { text: 'From the tool "s__t":' },
      { inlineData: { mimeType: "image/png", data: png } },
    ],
    aiSdk: {
      type: "content",
      value: [
        { type: "text", text: "Tool error: it does not say why" },
        { type: "image-data", data: png, mediaType: "image/png" },
      ],
    },
    langChain: [
      { type: "text", text: "Tool error: it does not say why" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
    ],
  },
};

describe("results", () => {
  const call = { id: "c1", name: "s__t" };
  const tool = toAiSdkTools(new FakeHub({ s: { tools: { t: {} } } }))["s__t"];

  for (const [name, row] of Object.entries(rows)) {
    const { result } = row;
    const outcomes = [{ call, result }];
    describe(name, () => {
      test("OpenAI, chat completions", () => {
        const [first, ...rest] = row.chat as [object, ...object[]];
        assertEquals<unknown>(toOpenAiToolMessages(outcomes), [
          { role: "tool", tool_call_id: "c1", ...first },
          ...rest,
        ]);
      });
      test("OpenAI, responses", () => {
        assertEquals<unknown>(toOpenAiFunctionOutputs(outcomes), [
          { type: "function_call_output", call_id: "c1", output: row.responses },
        ]);
      });
      test("Anthropic", () => {
        assertEquals<unknown>(toAnthropicToolMessage(outcomes), {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c1", ...row.anthropic as object }],
        });
      });
      test("Google", () => {
        const [first, ...rest] = row.google as [object, ...object[]];
        assertEquals<unknown>(toGoogleToolContent(outcomes), {
          role: "user",
          parts: [{ functionResponse: { id: "c1", name: "s__t", ...first } }, ...rest],
        });
      });
      test("AI SDK", () => {
        assertEquals<unknown>(tool?.toModelOutput({ output: result }), row.aiSdk);
      });
      test("LangChain", () => {
        assertEquals<unknown>(toLangChainToolMessages(outcomes), [{
          role: "tool",
          content: row.langChain,
          tool_call_id: "c1",
          name: "s__t",
          status: result.isError ? "error" : "success",
          artifact: result,
        }]);
      });
    });
  }

  test("half a character, where a server has cut a text, is none: Anthropic and OpenAI refuse the whole conversation", () => {
    const text = "cut \ud83d";
    const result = { content: [{ type: "text" as const, text }], structuredContent: { a: 1 } };
    const made = [
      toOpenAiToolMessages([{ call, result }]),
      toOpenAiFunctionOutputs([{ call, result }]),
      toAnthropicToolMessage([{ call, result }]),
      toGoogleToolContent([{ call, result }]),
      toLangChainToolMessages([{ call, result }]).map(({ content }) => content),
      tool?.toModelOutput({ output: result }),
      toOpenAiToolMessages([{ call, result: { content: [], structuredContent: { [text]: text } } }]),
    ];
    for (const one of made) {
      const json = JSON.stringify(one);
      assertEquals([json.includes("\\ud83d"), json.includes("cut \ufffd")], [false, true], json);
    }
  });

  test("LangChain: media that the model takes not in results are a line, in a tool and in answers", async () => {
    const content = [{ type: "image" as const, mimeType: "image/png", data: png }];
    const hub = new FakeHub({ s: { tools: { see: { run: () => ({ content }) } } } });
    const line = "[image, image/png, 8 bytes: not shown, since this model takes no such type]";
    const [made] = toLangChainTools(hub, { media: [] });
    assertEquals((await made?.func({}))?.[0], line);
    const calls = [{ id: "c1", name: "s__see", args: {} }];
    assertEquals((await runLangChainToolCalls(hub, calls, { media: [] }))[0]?.content, line);
  });

  test("version 5 of the AI SDK gives the result itself, and knows media of one kind", () => {
    const result = { content: [{ type: "image", mimeType: "image/png", data: png }] };
    assertEquals<unknown>(tool?.toModelOutput(result), {
      type: "content",
      value: [beside, { type: "media", data: png, mediaType: "image/png" }],
    });
    assertEquals<unknown>(tool?.toModelOutput({ content: [{ type: "text", text: "a" }] }), {
      type: "text",
      value: "a",
    });
  });

  test("answers of several calls stand before their media", () => {
    const picture: CallToolResult = { content: [{ type: "image", mimeType: "image/png", data: png }] };
    const words: CallToolResult = { content: [{ type: "text", text: "a" }] };
    const outcomes = [{ call: { id: "1", name: "s__a" }, result: picture }, {
      call: { id: "2", name: "s__b" },
      result: words,
    }];
    assertEquals(toOpenAiToolMessages(outcomes).map(({ role }) => role), ["tool", "tool", "user"]);
    assertEquals(toGoogleToolContent(outcomes).parts.map((part) => Object.keys(part)[0]), [
      "functionResponse",
      "functionResponse",
      "text",
      "inlineData",
    ]);
  });

  test("Gemini 3 reads media inside of the answer", () => {
    const result: CallToolResult = { content: [{ type: "image", mimeType: "image/png", data: png }] };
    assertEquals(toGoogleToolContent([{ call: { name: "s__t" }, result }], { multimodal: true }), {
      role: "user",
      parts: [{
        functionResponse: {
          name: "s__t",
          response: { output: "(what the tool gave stands beside this)" },
          parts: [{ inlineData: { mimeType: "image/png", data: png } }],
        },
      }],
    });
  });
});

/** A result as it may come from a server: null where there is nothing. */
function spoken(result: JsonObject): CallToolResult {
  return result as unknown as CallToolResult;
}

/** The row of a result that is one text for all. */
function said(result: CallToolResult, text: string, texts: readonly string[] = [text]): Row {
  return {
    result,
    chat: [{ content: text }],
    responses: text,
    anthropic: { content: texts.map((one) => ({ type: "text", text: one })) },
    google: [{ response: { output: text } }],
    aiSdk: { type: "text", value: text },
    langChain: text,
  };
}

function failed(result: CallToolResult, text: string): Row {
  return {
    ...said(result, text),
    anthropic: { content: [{ type: "text", text }], is_error: true },
    google: [{ response: { error: text } }],
    aiSdk: { type: "error-text", value: text },
  };
}
