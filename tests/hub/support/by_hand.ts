/**
 * A server of 2025-06-18 at a pipe in memory, by hand: it answers no call, and asks when a test says so.
 *
 * @module
 */
import { ChannelTransport, createMemoryPair } from "../../../mod.ts";
import type { AttachedServer } from "../../../src/hub/seam.ts";

const replies: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "by hand", version: "1" },
  },
  "tools/list": { tools: [{ name: "hang", inputSchema: { type: "object" } }] },
};

/** The server. */
export interface AskingServer {
  readonly config: AttachedServer;
  /** How many calls have reached it. */
  readonly calls: number;
  /** Asks for a form, on no call in particular; gives what came back. */
  ask(): Promise<{ readonly result?: { readonly action: string }; readonly error?: { readonly message: string } }>;
}

/** Makes one with a tool `hang`. */
export function askingServer(options: Omit<AttachedServer, "transport"> = {}): AskingServer {
  const waiting: ((answer: object) => void)[] = [];
  let calls = 0;
  let write = (_: object): void => {};
  const transport = () =>
    new ChannelTransport(() => {
      const [near, far] = createMemoryPair();
      write = (message) => void far.write([JSON.stringify({ jsonrpc: "2.0", ...message })]);
      void far.open({
        text: (text) => {
          const { id, method, ...answer } = JSON.parse(text);
          if (method === "tools/call") return void calls++;
          if (id === undefined) return;
          if (method === undefined) return waiting.shift()?.(answer);
          const result = replies[method];
          write(result ? { id, result } : { id, error: { code: -32601, message: "unknown" } });
        },
        end() {},
      });
      return near;
    });
  return {
    config: { ...options, transport },
    get calls() {
      return calls;
    },
    ask: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        const params = { message: "Whose?", requestedSchema: { type: "object", properties: {} } };
        write({ id: `q${calls}`, method: "elicitation/create", params });
      }),
  };
}
