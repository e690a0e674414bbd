/** Tools that only answer: each kind of content, several kinds at once, and an error. */
import type { McpServer } from "../../../src/server/mod.ts";
import { image, sound } from "./media.ts";

/** Registers the tools whose results the suite looks into. */
export function addContentTools(server: McpServer): void {
  server.tool("test_simple_text", { description: "Answers with a text" }, () => {
    return "This is a simple text response for testing.";
  });
  server.tool("test_image_content", { description: "Answers with an image" }, () => ({ content: [image()] }));
  server.tool("test_audio_content", { description: "Answers with a sound" }, () => ({ content: [sound()] }));
  server.tool("test_embedded_resource", { description: "Answers with a resource inside" }, () => ({
    content: [{
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }],
  }));
  server.tool("test_multiple_content_types", { description: "Answers with text, image and resource" }, () => ({
    content: [{ type: "text", text: "Multiple content types test:" }, image(), {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: JSON.stringify({ test: "data", value: 123 }),
      },
    }],
  }));
  server.tool("test_error_handling", { description: "Always throws" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
}
