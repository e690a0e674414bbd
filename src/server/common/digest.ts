/**
 * Digests.
 *
 * @module
 */
import { toHex } from "../../ports.ts";

/** The SHA-256 of a text (in UTF-8) or of bytes, in hexadecimal digits. */
export async function sha256(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
