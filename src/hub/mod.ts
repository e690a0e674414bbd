/**
 * Many MCP servers as one, and what goes around it: configs, catalogs that are stored, filters, approval, pins, a budget for results,
 * search, and the shapes of models. Each part is a function of its own: a bundle has what it imports. `openHub` comes with the entry
 * points, which know how to connect.
 *
 * @module
 */
export { Hub } from "./hub.ts";
export { createOpenHub } from "./open_hub.ts";
export type { OpenHub } from "./open_hub.ts";
export type { HubCallOptions, HubOptions, OpenHubOptions } from "./options.ts";
export type { HubEvents } from "./events.ts";
export type * from "./seam.ts";
export { createCatalogView } from "./catalog/catalog.ts";
export type { CatalogView } from "./catalog/catalog.ts";
export { readCatalog } from "./catalog/read.ts";
export { findTemplates } from "./catalog/templates.ts";
export type { FoundTemplate } from "./catalog/templates.ts";
export { withTemplates } from "./catalog/with_templates.ts";
export * from "./config/mod.ts";
export * from "./models/mod.ts";
export * from "./pins/mod.ts";
export { withApproval } from "./pins/approval.ts";
export type { ApprovalAnswer, ApprovalOptions, ApprovalRequest, Approve } from "./pins/approval.ts";
export { withFilter } from "./pins/filter.ts";
export type { FilterOptions } from "./pins/filter.ts";
export { withResultBudget } from "./budget/result_budget.ts";
export type { ResultBudgetOptions } from "./budget/result_budget.ts";
export { createToolSearch, searchTools } from "./search/tool_search.ts";
export type { FoundTool, SearchOptions, ToolSearch, ToolSource } from "./search/tool_search.ts";
export { createDiscoveryTools } from "./search/discovery.ts";
export type { DiscoveryOptions } from "./search/discovery.ts";
// What the verbs take and give, so that who imports nothing else can name it: compilers want that for declarations.
export type { Client } from "../client/client.ts";
export type { RequestOptions } from "../client/session/request.ts";
export type { Authorizer } from "../ports.ts";
export type {
  CallToolResult,
  CompleteResult,
  ContentBlock,
  GetPromptResult,
  JsonObject,
  JsonValue,
  ReadResourceResult,
} from "../protocol/types.ts";
