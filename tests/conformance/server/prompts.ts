/** The prompts of the suite. */
import type { GetPromptResult, PromptMessage } from "../../../src/protocol/types.ts";
import type { McpServer } from "../../../src/server/mod.ts";
import { image } from "./media.ts";
import { form } from "./round_tools.ts";

/** What `arg1` may be completed to. */
const known = ["test", "testing", "tested", "paris", "park", "party"];

/** Registers the prompts. */
export function addPrompts(server: McpServer): void {
  server.prompt("test_simple_prompt", { description: "A text without arguments" }, () => {
    return "This is a simple prompt for testing.";
  });
  server.prompt("test_prompt_with_arguments", {
    description: "A text with two arguments",
    arguments: {
      arg1: {
        description: "First test argument",
        required: true,
        complete: (value) => known.filter((word) => word.startsWith(value)),
      },
      arg2: { description: "Second test argument", required: true },
    },
  }, ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`);
  server.prompt("test_prompt_with_embedded_resource", {
    description: "A resource inside of a prompt",
    arguments: { resourceUri: { description: "URI of the resource to embed", required: true } },
  }, ({ resourceUri }) => {
    const text = "Embedded resource content for testing.";
    return messages(
      { type: "resource", resource: { uri: resourceUri ?? "", mimeType: "text/plain", text } },
      { type: "text", text: "Please process the embedded resource above." },
    );
  });
  server.prompt("test_prompt_with_image", { description: "An image inside of a prompt" }, () => {
    return messages(image(), { type: "text", text: "Please analyze the image above." });
  });
  server.prompt("test_input_required_result_prompt", { description: "Asks before it answers" }, async (_, context) => {
    const question = "What context should the prompt use?";
    const answer = await form(context, "user_context", question, { context: { type: "string" } });
    return `Use this context: ${answer["context"]}`;
  });
}

function messages(...contents: PromptMessage["content"][]): GetPromptResult {
  return { messages: contents.map((content) => ({ role: "user", content })) };
}
