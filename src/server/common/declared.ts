/**
 * What a server declares.
 *
 * @module
 */
import type { ServerCapabilities } from "../../protocol/types.ts";

/** What is there, with what both eras make of it: changes are told, log messages are sent to those who want them. */
export function declared({ tasks: _, tools, prompts, resources, ...others }: ServerCapabilities): ServerCapabilities {
  return {
    ...others,
    logging: {},
    ...(tools && { tools: { ...tools, listChanged: true } }),
    ...(prompts && { prompts: { ...prompts, listChanged: true } }),
    ...(resources && { resources: { ...resources, subscribe: true, listChanged: true } }),
  };
}
