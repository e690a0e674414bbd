/** Tools that ask the client's user or model, as every revision can, and what a client may not have. */
import type { CreateMessageRequest, CreateMessageResult, ElicitRequest } from "../../../src/protocol/types.ts";
import type { McpServer } from "../../../src/server/mod.ts";
import { titledChoices, valuesWithDefaults } from "./forms.ts";

/** Registers the tools that ask. */
export function addAskingTools(server: McpServer): void {
  server.tool("test_sampling", {
    description: "Passes a prompt on to the client's model",
    input: textArgument("prompt", "The prompt to send to the LLM"),
  }, async (args, context) => `LLM response: ${textOf(await context.sample(ask(String(args["prompt"]), 100)))}`);
  server.tool("test_elicitation", {
    description: "Asks the user for name and address",
    input: textArgument("message", "The message to show the user"),
  }, async (args, context) => {
    const { action, content } = await context.elicit(whoAreYou(String(args["message"])));
    return `User response: action=${action}, content=${JSON.stringify(content ?? {})}`;
  });
  for (
    const [name, description, form] of [
      ["test_elicitation_sep1034_defaults", "Asks for values that have defaults", valuesWithDefaults],
      ["test_elicitation_sep1330_enums", "Asks for choices of every kind", titledChoices],
    ] as const
  ) {
    server.tool(name, { description }, async (_, context) => {
      const { action, content } = await context.elicit(form());
      return `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
    });
  }
  server.tool(
    "test_missing_capability",
    { description: "Cannot do without the client's model" },
    async (_, context) => {
      return textOf(await context.sample(ask("Are you there?", 10)));
    },
  );
  server.tool("test_streaming_elicitation", { description: "Tells something, then asks" }, async (_, context) => {
    context.log("info", "About to ask");
    const { action } = await context.elicit(whoAreYou("Who are you?"));
    return `The user said: ${action}`;
  });
}

/** A question for the client's model. */
export function ask(text: string, maxTokens: number): CreateMessageRequest {
  return { messages: [{ role: "user", content: { type: "text", text } }], maxTokens };
}

/** The texts of what the model said. */
export function textOf({ content }: CreateMessageResult): string {
  return [content].flat().map((block) => block.type === "text" ? block.text : `[${block.type}]`).join("\n");
}

function whoAreYou(message: string): ElicitRequest {
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      },
      required: ["username", "email"],
    },
  };
}

function textArgument(name: string, description: string) {
  return { type: "object", properties: { [name]: { type: "string", description } }, required: [name] };
}
