/** The smallest media that are whole: what the fixtures hand out where the suite asks for an image or a sound. */
import type { AudioContent, ImageContent } from "../../../src/protocol/types.ts";

/** A PNG with one red pixel, in base64. */
export const redPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

/** A WAV with two samples of silence, in base64. */
const silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/** {@linkcode redPixel} as content of a message. */
export function image(): ImageContent {
  return { type: "image", data: redPixel, mimeType: "image/png" };
}

/** A moment of silence as content of a message. */
export function sound(): AudioContent {
  return { type: "audio", data: silence, mimeType: "audio/wav" };
}
