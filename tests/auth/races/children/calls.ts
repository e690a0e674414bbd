/** Calls of a client that is signed in, many at a time: what the programs and Workers of these tests do. */
import { connect } from "../../../../mod.ts";
import type { OAuth } from "../../../../src/auth/mod.ts";

/** What became of them. */
export interface Outcome {
  readonly succeeded: number;
  readonly failures: readonly string[];
}

/** Makes so many calls at a time, each over a connection of its own. */
export async function callAtOnce(oauth: OAuth, server: string, count: number): Promise<Outcome> {
  return await outcomeOf(count, async () => {
    await using client = await connect(server, { auth: oauth, cache: false, stream: false });
    await client.callTool("echo", { text: "hello" });
  });
}

/** Makes so many calls at a time, over one connection that was made before `start`. */
export async function callConnected(
  oauth: OAuth,
  server: string,
  count: number,
  start: () => Promise<unknown>,
): Promise<Outcome> {
  await using client = await connect(server, { auth: oauth, cache: false, stream: false });
  await start();
  return await outcomeOf(count, () => client.callTool("echo", { text: "hello" }));
}

async function outcomeOf(count: number, call: () => Promise<unknown>): Promise<Outcome> {
  const ended = await Promise.allSettled(Array.from({ length: count }, call));
  const failures = ended.flatMap((one) => one.status === "rejected" ? [String(one.reason)] : []);
  return { succeeded: count - failures.length, failures };
}
