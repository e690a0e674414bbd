/**
 * The tools, prompts and resources of a hub for models of the usual providers, and their calls back to the hub. Nothing here
 * needs a provider's library: the shapes are theirs.
 *
 * @module
 */
export { runToolCall, runToolCalls } from "./call/call.ts";
export type { ModelToolCall, ModelToolOutcome, RunToolOptions } from "./call/call.ts";
export type { ModelToolsOptions, ToolProblem } from "./tools.ts";
export {
  runOpenAiToolCalls,
  toOpenAiContent,
  toOpenAiMessages,
  toOpenAiToolMessages,
  toOpenAiTools,
} from "./openai.ts";
export type { OpenAiMessage, OpenAiPart, OpenAiResponsesTool, OpenAiTool, OpenAiToolCall } from "./openai.ts";
export {
  runOpenAiFunctionCalls,
  toOpenAiFunctionOutputs,
  toOpenAiInput,
  toOpenAiInputContent,
} from "./openai_responses.ts";
export type {
  OpenAiFunctionOutput,
  OpenAiInputMessage,
  OpenAiInputPart,
  OpenAiOutputItem,
} from "./openai_responses.ts";
export {
  runAnthropicToolUses,
  toAnthropicContent,
  toAnthropicMessages,
  toAnthropicToolMessage,
  toAnthropicTools,
} from "./anthropic.ts";
export type {
  AnthropicBlock,
  AnthropicImageType,
  AnthropicMessage,
  AnthropicOutputBlock,
  AnthropicTool,
  AnthropicToolMessage,
  AnthropicToolResult,
} from "./anthropic.ts";
export {
  runGoogleFunctionCalls,
  toGoogleContents,
  toGoogleParts,
  toGoogleToolContent,
  toGoogleTools,
} from "./google.ts";
export type {
  GoogleAnswerOptions,
  GoogleContent,
  GoogleFunctionDeclaration,
  GoogleFunctionResponse,
  GoogleInlineData,
  GoogleOutputPart,
  GooglePart,
  GoogleTool,
} from "./google.ts";
export type { GoogleSchema } from "./schema/google.ts";
export { toAiSdkContent, toAiSdkMessages, toAiSdkTools } from "./ai_sdk.ts";
export type {
  AiSdkCallOptions,
  AiSdkMessage,
  AiSdkOptions,
  AiSdkOutput,
  AiSdkPart,
  AiSdkSchema,
  AiSdkToModelOutput,
  AiSdkTool,
} from "./ai_sdk.ts";
export {
  runLangChainToolCalls,
  toLangChainContent,
  toLangChainMessages,
  toLangChainToolMessages,
  toLangChainTools,
} from "./langchain.ts";
export type {
  LangChainContent,
  LangChainMediaOptions,
  LangChainMessage,
  LangChainPart,
  LangChainTool,
  LangChainToolCall,
  LangChainToolMessage,
} from "./langchain.ts";
