/** The two forms that the suite reads field by field. */
import type { ElicitRequest, TitledValue } from "../../../src/protocol/types.ts";

/** A default for each of the five primitive types (SEP-1034). */
export function valuesWithDefaults(): ElicitRequest {
  return {
    message: "Please review these values",
    requestedSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "A name", default: "John Doe" },
        age: { type: "integer", description: "An age", default: 30 },
        score: { type: "number", description: "A score", default: 95.5 },
        status: {
          type: "string",
          description: "A status",
          enum: ["active", "inactive", "pending"],
          default: "active",
        },
        verified: { type: "boolean", description: "Whether it was verified", default: true },
      },
    },
  };
}

/** One of several and some of several, with titles and without, and the older way to write titles (SEP-1330). */
export function titledChoices(): ElicitRequest {
  const plain = ["option1", "option2", "option3"];
  return {
    message: "Please choose",
    requestedSchema: {
      type: "object",
      properties: {
        untitledSingle: { type: "string", description: "One of three", enum: plain },
        titledSingle: { type: "string", description: "One of three, with titles", oneOf: titled("Option") },
        legacyEnum: {
          type: "string",
          description: "One of three, with titles as they were",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", description: "Some of three", items: { type: "string", enum: plain } },
        titledMulti: { type: "array", description: "Some of three, with titles", items: { anyOf: titled("Choice") } },
      },
    },
  };
}

function titled(noun: string): TitledValue[] {
  return ["First", "Second", "Third"].map((rank, index) => ({ const: `value${index + 1}`, title: `${rank} ${noun}` }));
}
