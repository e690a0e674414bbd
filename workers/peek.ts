/**
 * Looking at a short body before the request goes on.
 *
 * @module
 */

/** The most that is looked at, in bytes: a handshake is short. */
const longest = 65_536;

/** The body of a request as JSON, where it is short and JSON; undefined otherwise. The request itself stays unread. */
export async function peek(request: Request): Promise<unknown> {
  const { headers } = request;
  if (request.method !== "POST" || Number(headers.get("content-length") ?? 0) > longest) return undefined;
  const reader = request.clone().body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let left = longest; reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    left -= value.byteLength;
    if (left < 0) {
      void reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
