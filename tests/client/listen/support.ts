/**
 * What the tests of listening share.
 *
 * @module
 */
import { connect } from "../../../mod.ts";
import type { Change, Client, ListenFilter, Subscription } from "../../../mod.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import type { FetchTarget } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { url } from "../support.ts";

/** A client on a clock of its own, whose stream of changes a server has acknowledged. */
export async function listening(
  server: FetchTarget,
  filter: ListenFilter,
): Promise<{ clock: VirtualClock; client: Client; stream: Subscription }> {
  const clock = new VirtualClock();
  const client = await clock.until(connect(url, { fetch: memoryFetch(server), clock }));
  const stream = client.listen(filter);
  await clock.until(stream.acknowledged);
  return { clock, client, stream };
}

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
