/** What the bench asks of each client, so that the cells are the same program for all. */

/** A server to connect to. `era` is `auto` where the client has to find it out. */
export type BenchTarget =
  | { readonly kind: "http"; readonly url: string; readonly era: BenchEra }
  | {
    readonly kind: "stdio";
    readonly command: string;
    readonly args: readonly string[];
    readonly era: BenchEra;
  };

/** What the client is told of the server. */
export type BenchEra = "modern" | "legacy" | "auto";

/** What differs from one call to another. */
export interface BenchCallOptions {
  /** Hears each progress notice. */
  readonly onProgress?: (() => void) | undefined;
  /** Milliseconds; the client's own default without it. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One client, connected once. */
export interface BenchClient {
  connect(target: BenchTarget): Promise<void>;
  /** Calls a tool and answers the text of the first content block. */
  call(name: string, args: Record<string, string | number>, options?: BenchCallOptions): Promise<string>;
  /** Lists the tools and answers how many there are. */
  list(): Promise<number>;
  close(): Promise<void>;
}

/** The runtimes of the bench. */
export type Runtime = "bun" | "deno" | "node";

/** The text of a tool result's first content block. */
export function firstText(result: unknown): string {
  const { content } = result as { content?: readonly { text?: string }[] };
  const text = content?.[0]?.text;
  if (text === undefined) throw new Error("the tool result has no text");
  return text;
}
