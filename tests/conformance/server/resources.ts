/** The resources of the suite: a text, bytes, one that is watched, and one of a template. */
import type { McpServer } from "../../../src/server/mod.ts";
import { redPixel } from "./media.ts";

/** Registers the resources and the template. */
export function addResources(server: McpServer): void {
  server.resource("test://static-text", {
    name: "static-text",
    description: "A text that never changes",
    mimeType: "text/plain",
    cache: { ttlMs: 60_000, cacheScope: "public" },
  }, () => "This is the content of the static text resource.");
  server.resource("test://static-binary", {
    name: "static-binary",
    description: "An image that never changes",
    mimeType: "image/png",
  }, () => Uint8Array.from(atob(redPixel), (character) => character.charCodeAt(0)));
  server.resource("test://watched-resource", {
    name: "watched-resource",
    description: "A text that can be watched",
    mimeType: "text/plain",
  }, () => "Watched resource content");
  server.template("test://template/{id}/data", {
    name: "template",
    description: "Data by its id",
    mimeType: "application/json",
  }, (_, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }));
}
