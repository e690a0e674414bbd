/** The server that the official suite asks: every fixture of its server scenarios, written as any author would. */
import { McpServer } from "../../../src/server/mod.ts";
import { addAskingTools } from "./asking_tools.ts";
import { addContentTools } from "./content_tools.ts";
import { addChangingTools, addNoticeTools } from "./notice_tools.ts";
import { addPrompts } from "./prompts.ts";
import { addResources } from "./resources.ts";
import { addRoundTools } from "./round_tools.ts";
import { addSchemaTools } from "./schema_tools.ts";
import { addTasks } from "./tasks.ts";

/** A server of its own with all tools, resources and prompts. */
export function createEverything(): McpServer {
  const server = new McpServer({ name: "causeway-conformance", version: "1.0.0" });
  addContentTools(server);
  addNoticeTools(server);
  addChangingTools(server);
  addAskingTools(server);
  addRoundTools(server);
  addSchemaTools(server);
  addTasks(server);
  addResources(server);
  addPrompts(server);
  return server;
}
