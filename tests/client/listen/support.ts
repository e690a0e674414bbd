/**
 * What the tests of listening share.
 *
 * @module
 */
import type { Change, Subscription } from "../../../mod.ts";

/** The next so many changes; fewer when the stream ends before. */
export async function take(stream: Subscription, count: number): Promise<Change[]> {
  const changes: Change[] = [];
  while (changes.length < count) {
    const { done, value } = await stream.next();
    if (done) break;
    changes.push(value);
  }
  return changes;
}
