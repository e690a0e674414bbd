/** Many calls in one process, without a wire: what stays in memory afterwards. */
import { ChannelTransport, connect, createMemoryPair } from "../../src/entry/local.ts";
import type { Figures } from "../task.ts";
import { measure, settledHeap } from "./measure.ts";

/** Half of the calls share one signal of the caller; `slope` is bytes of heap that each 10,000 calls leave behind. */
export async function callInMemory(count: number): Promise<Figures> {
  const [near, far] = createMemoryPair();
  await far.open({
    text(text) {
      const { id }: { id?: string } = JSON.parse(text);
      if (id === undefined) return;
      const result = {
        content: [{ type: "text", text: "hello" }],
        resultType: "complete",
      };
      far.write([JSON.stringify({ jsonrpc: "2.0", id, result })]);
    },
    end() {},
  });
  const client = await connect(new ChannelTransport(() => near), {
    verdict: { era: "modern" },
  });
  const { signal, listeners } = countedSignal();
  const run = async (calls: number) => {
    for (let index = 0; index < calls; index++) {
      const result = await client.callTool("echo", { text: "hello" }, index % 2 === 0 ? { signal } : {});
      if (result.isError) throw new Error("the call failed");
    }
  };
  await run(Math.min(count / 5, 20_000));
  const before = await settledHeap();
  const cost = await measure(count, () => run(count));
  const after = await settledHeap();
  await client.close();
  return {
    ...cost,
    slope: (after - before) / (count / 10_000),
    listeners: listeners(),
    before,
    after,
  };
}

/** A signal that knows how many listeners it has. */
function countedSignal(): { signal: AbortSignal; listeners: () => number } {
  const { signal } = new AbortController();
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject, options?: object) => {
    count++;
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject, options?: object) => {
    count--;
    remove(type, listener, options);
  };
  return { signal, listeners: () => count };
}
