/**
 * One caller at a time at a server, for servers that do not say whose call a question belongs to.
 *
 * @module
 */

/** Who has the turn at a server, and who waits for one. */
interface Line {
  caller: unknown;
  /** The calls of this caller that are under way. */
  count: number;
  readonly waiting: { readonly caller: unknown; readonly begin: () => void }[];
}

/** The turns at all servers, in the order in which they were asked for. */
export class Turns {
  readonly #lines = new Map<string, Line>();

  /**
   * Waits for a turn. A caller whose turn it is begins at once: a call may come of what another one of them asked.
   *
   * @param caller Undefined: somebody that nobody knows, who is the same as nobody.
   * @returns What ends it: call it once.
   * @throws {unknown} The reason of the signal, when it comes first.
   */
  async take(server: string, caller: string | undefined, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const own: unknown = caller ?? {};
    const line = this.#lines.get(server);
    if (!line) this.#lines.set(server, { caller: own, count: 1, waiting: [] });
    else if (line.caller === own) line.count++;
    else await wait(line, own, signal);
    return () => this.#end(server);
  }

  #end(server: string): void {
    const line = this.#lines.get(server);
    if (!line || --line.count) return;
    const [next] = line.waiting;
    if (!next) return void this.#lines.delete(server);
    line.caller = next.caller;
    const all = line.waiting.splice(0);
    line.waiting.push(...all.filter(({ caller }) => caller !== next.caller));
    for (const { caller, begin } of all) {
      if (caller !== next.caller) continue;
      line.count++;
      begin();
    }
  }
}

function wait({ waiting }: Line, caller: unknown, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const entry = {
      caller,
      begin: () => {
        signal.removeEventListener("abort", leave);
        resolve();
      },
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(entry), 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    waiting.push(entry);
  });
}
