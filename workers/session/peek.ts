/**
 * Looking at a short body before the request goes on.
 *
 * @module
 */
import { systemClock } from "../../src/ports.ts";
import { defaultLimits, workersLimits } from "../../src/protocol/limits.ts";
import { readBody } from "../../src/server/http/body.ts";

/** The most that is looked at, in bytes: a handshake is short. */
const limits = { ...defaultLimits, ...workersLimits, messageBytes: 65_536 };

/** The body of a request as JSON, where it is short and JSON; undefined otherwise. The request itself stays unread. */
export async function peek(request: Request): Promise<unknown> {
  if (request.method !== "POST" || Number(request.headers.get("content-length")) > limits.messageBytes) {
    return undefined;
  }
  const read = await readBody(request.clone(), { limits, clock: systemClock });
  return "value" in read ? read.value : undefined;
}
