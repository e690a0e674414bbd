/**
 * Agents that others use: as MCP servers, as models in OpenAI's form, and by plain HTTP.
 *
 * @module
 */
export { McpAgent, unknownTool } from "./mcp_agent.ts";
export type { McpAgentShape, McpToolDefinition, PromptReturn } from "./mcp_agent.ts";
export { toMcpServer } from "./mcp_server.ts";
export { ApiAgent, isApiAgent, ModelError, textOfMessage, withApiAgent } from "./api_agent.ts";
export type {
  AgentClass,
  ApiAgentShape,
  ChatMessage,
  ModelContext,
  ModelInfo,
  ModelReply,
  ModelReturn,
  ReplyEnd,
  ReplyPieces,
  TokenUsage,
  ToolCall,
  WithApiAgent,
} from "./api_agent.ts";
export { createModelHandler } from "./model_handler.ts";
export { createBridgeHandler } from "./bridge.ts";
export type { BridgeOptions } from "./bridge.ts";
export { createAgentHandler } from "./serve_agent.ts";
export type { AgentHandlerOptions } from "./serve_agent.ts";
export type { RouteOptions } from "./http/front.ts";
export { LanguageModelError } from "./model/seam.ts";
export type {
  LanguageModel,
  LanguageModelEnd,
  LanguageModelMessage,
  LanguageModelOptions,
  LanguageModelPart,
  LanguageModelRequest,
  LanguageModelTool,
  LanguageModelToolCall,
} from "./model/seam.ts";
export { openAiModel } from "./model/openai_model.ts";
export type { OpenAiModelOptions } from "./model/openai_model.ts";
export { aiSdkModel } from "./model/ai_sdk_model.ts";
export type { AiSdkLanguageModel, AiSdkModelOptions } from "./model/ai_sdk_model.ts";
export { workersAiModel } from "./model/workers_ai_model.ts";
export type { WorkersAiBinding, WorkersAiModelOptions } from "./model/workers_ai_model.ts";
export { directiveModel } from "./model/directive_model.ts";
export { scriptedModel } from "./model/scripted_model.ts";
export type {
  ScriptedAnswer,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptedTurn,
} from "./model/scripted_model.ts";
export type { ModelLimits } from "./model/wire/body.ts";
export type { ModelTimeouts } from "./model/wire/patience.ts";
export { Agent } from "./loop/agent.ts";
export type { AgentOptions, AnswerQuestion, ApproveCall, RunOptions } from "./loop/options.ts";
export { AgentRun, AgentRunError } from "./loop/run.ts";
export type { AgentResult } from "./loop/run.ts";
export { RunCancelledError } from "./loop/seam.ts";
export { createRuns } from "./runs/durable_runs.ts";
export type { DurableRuns, FindAgent, RunLimits, RunsOptions } from "./runs/options.ts";
export { createObjectRuns } from "./runs/object_runs.ts";
export type { ObjectAlarm, ObjectRuns, ObjectRunsOptions } from "./runs/object_runs.ts";
export { RunLeftError, StepUnknownError } from "./runs/steps.ts";
export type { LeaveReason, StepOptions, Steps } from "./runs/steps.ts";
export type { AnswerOutcome, RunEvent, RunRecord, Runs, RunState, StartRun } from "./runs/seam.ts";
export type {
  AgentAnswer,
  AgentEnd,
  AgentEvent,
  AgentQuestion,
  AgentTask,
  AnswerSettings,
  Observation,
  ObservationOutcome,
  ProposedCall,
  RunnableAgent,
  RunWorld,
} from "./loop/seam.ts";
export type { AgentTool, AgentToolContext, AgentToolReturn } from "./loop/calls/own_tools.ts";
export { samplingHandler } from "./loop/turns/sampling.ts";
export type { SamplingPolicy } from "./loop/turns/sampling.ts";
export type { Relay, RelayOptions } from "../hub/gateway/mod.ts";
export type { RelayedCall } from "../hub/relayed_call.ts";
export type { SqlCipher, SqlDatabase, SqlRow, SqlValue } from "../ports.ts";
export { callOnce, createStoreMarker, workflowSteps } from "./runs/workflow_steps.ts";
export type { IntentMarker, WorkflowStepLike } from "./runs/workflow_steps.ts";
// What these take and give, so that who imports nothing else can name it: compilers want that for declarations.
export type { Features } from "../client/features.ts";
export type { Handlers, SamplingHandler } from "../client/input/seam.ts";
export type { Middleware } from "../client/options.ts";
export type { TaskSupport } from "../client/task_support.ts";
export type { Logger, Store } from "../ports.ts";
export type { InvalidParamsError } from "../protocol/errors.ts";
export type { Implementation, JsonObject, JsonValue, Prompt, Resource } from "../protocol/types.ts";
