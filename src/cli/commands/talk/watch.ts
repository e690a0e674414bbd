/**
 * `causeway watch <target> [uri …]`: tells of changes at a server, until it is interrupted or
 * nobody reads what it tells.
 *
 * @module
 */
import type { Subscription } from "../../../client/mod.ts";
import type { Change, ListenFilter } from "../../../protocol/mod.ts";
import type { CommandLine } from "../../command_line.ts";
import { withDeadline } from "../../deadline.ts";
import { DeadlineError, exitCodes, UsageError } from "../../failure.ts";
import { withClient } from "../../session/session.ts";
import { writeError, writeNext } from "../../terminal.ts";
import { jsonLine, oneLine } from "../../text/plain.ts";

/** Watches, and answers the exit code. With `--timeout` it ends then, and that is no failure once the server has agreed to tell of changes. */
export async function watch(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [target, ...resourceUris] = line.words;
  if (target === undefined) throw new UsageError("The target is missing: write causeway watch <target> [uri …]");
  // A stream of changes has no time of its own.
  const use = (signal: AbortSignal) =>
    withClient(target, { ...line, timeout: undefined }, {
      signal,
      async use(client, signal) {
        signal.throwIfAborted();
        const wanted = {
          ...{ tools: true, prompts: true, resources: true },
          ...(resourceUris.length > 0 && { resourceUris }),
        };
        const subscription = client.listen(wanted);
        signal.addEventListener("abort", () => subscription.close());
        try {
          return await follow(subscription, { line, label: client.label, resourceUris, signal });
        } finally {
          subscription.close();
        }
      },
    });
  return await withDeadline(signal, line.timeout, use);
}

/** What is watched, and for whom. */
interface Watching {
  readonly line: CommandLine;
  readonly label: string;
  readonly resourceUris: readonly string[];
  readonly signal: AbortSignal;
}

async function follow(subscription: Subscription, { line, label, resourceUris, signal }: Watching): Promise<number> {
  let isWatching = false;
  void subscription.acknowledged.then(async (honoured) => {
    isWatching = true;
    await writeError(`causeway: watches ${honouredText(honoured)} of "${oneLine(label)}"\n`);
    const deaf = resourceUris.filter((uri) => !honoured.resourceUris?.includes(uri));
    if (deaf.length > 0) await writeError(`causeway: it does not tell of ${oneLine(deaf.join(", "))}\n`);
  }, () => {});
  for await (const change of subscription) {
    // Who has read enough goes away.
    if (!await writeNext(line.json ? jsonLine(change) : `${changeText(change)}\n`)) return exitCodes.ok;
  }
  if (!isWatching || !(signal.reason instanceof DeadlineError)) signal.throwIfAborted();
  return exitCodes.ok;
}

function honouredText({ tools, prompts, resources, resourceUris = [] }: ListenFilter): string {
  const lists = Object.entries({ tools, prompts, resources }).flatMap(([name, is]) =>
    is ? [`the list of ${name}`] : []
  );
  const uris = resourceUris.length > 0 ? [resourceUris.map(oneLine).join(", ")] : [];
  return [...lists, ...uris].join(", ") || "nothing";
}

function changeText(change: Change): string {
  const missed = "missed" in change && change.missed ? " (some may have been missed)" : "";
  if (change.type === "task") return `task ${oneLine(change.task.taskId)}: ${oneLine(change.task.status)}`;
  if (change.type === "resource") return `resource ${oneLine(change.uri)} has changed${missed}`;
  return `the list of ${change.type} has changed${missed}`;
}
