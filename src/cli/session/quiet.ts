/**
 * The end of a program that has answered everything: it gets SIGTERM once it has nothing to do.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";

/** How often is looked whether a program sleeps, in milliseconds. The second look that finds it asleep counts. */
const lookInterval = 2;

/**
 * How many looks have to find a program asleep that has not stirred since its input was closed: it may not have heard of it.
 */
const deafLooks = 100;

/**
 * How many looks may find its input open still. Bun closes it on another thread, which has to wait for its turn on a busy machine:
 * what the program does until then is no answer to it.
 */
const openLooks = 1_000;

/**
 * How long a program may take to end by itself where its sleep cannot be seen, in milliseconds. Those with nothing left to
 * do need 5 to 25; others sit out their timers and open connections.
 */
const blindTime = 50;

/** What the system tells of processes. */
export interface ProcessView {
  /** The processes of a group; undefined where they cannot be seen. */
  membersOf(group: number): number[] | undefined;
  /** How often their threads have gone to sleep; NaN while one is at work. */
  sleepsOf(pids: readonly number[]): number;
  /** Tells from now on whether all that is open here is open still; undefined where what is closed is closed at once. */
  watchOpen?: (() => () => boolean) | undefined;
}

/** What is done to a program that ends. */
export interface Ending {
  /** Closes its input, once, at the begin. */
  closeInput(): void;
  /** Ends it, once. */
  end(): void;
}

/**
 * Closes the input of a program, waits until it has nothing to do, and ends it then. One that is at work is left alone.
 *
 * @param group The number of its process group.
 * @param ending What is done to it.
 * @param view What the system tells. Default: Linux's own files; undefined on systems that do not tell.
 * @returns What gives the waiting up.
 */
export function endWhenQuiet(
  group: number,
  { closeInput, end }: Ending,
  view: ProcessView | undefined = viewOf(group),
): () => void {
  if (!view) {
    closeInput();
    const blind = setTimeout(end, blindTime);
    return () => clearTimeout(blind);
  }
  let members = view.membersOf(group);
  let isOpen = view.watchOpen?.();
  let openLeft = openLooks;
  let atFirst = members && view.sleepsOf(members);
  closeInput();
  let hasStirred = false;
  let before: number | undefined;
  let quiet = 0;
  const isQuiet = (now: number | undefined): boolean => {
    hasStirred ||= now !== atFirst;
    quiet = now === before ? quiet + 1 : 0;
    before = now;
    if (quiet < (hasStirred ? 2 : deafLooks)) return false;
    // What it has started may be at work. While they were listed one may have woken, and start another right now.
    const found = view.membersOf(group);
    if (found?.join() === members?.join() && (!members || view.sleepsOf(members) === now)) return true;
    members = found;
    quiet = 0;
    return false;
  };
  const look = (): void => {
    if (openLeft-- === 0 || isOpen?.() === false) isOpen = undefined;
    const now = members && view.sleepsOf(members);
    if (isOpen) atFirst = now;
    else if (isQuiet(now)) return end();
    timer = setTimeout(look, lookInterval);
  };
  let timer = setTimeout(look, 1);
  return () => clearTimeout(timer);
}

/** Whether a program ends for the first time with this folder for its code: it is written down there, once. */
export function isFirstEnd(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${folder}/.begun`, "", { flag: "wx" });
    return true;
  } catch {
    // It was there already, or nothing can be kept here.
    return false;
  }
}

/** Linux shows its processes as files; other systems have none. */
function viewOf(pid: number): ProcessView | undefined {
  if (read(`/proc/${pid}/stat`) === undefined) return undefined;
  return { membersOf, sleepsOf, watchOpen: "Bun" in globalThis ? watchOpen : undefined };
}

/** By the pipes and sockets that this program holds: which of them leads to the other one's input, no system tells. */
function watchOpen(): () => boolean {
  const atFirst = openHere();
  return () => {
    const now = new Set(openHere());
    return atFirst.every((one) => now.has(one));
  };
}

function openHere(): string[] {
  return list("/proc/self/fd").flatMap((number) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${number}`);
      return /^(pipe|socket):/.test(target) ? [`${number} ${target}`] : [];
    } catch {
      // It was what the list was read with.
      return [];
    }
  });
}

/** The processes of a group; undefined where they cannot be seen. */
function membersOf(group: number): number[] | undefined {
  const pids = list("/proc").map(Number).filter((pid) => pid > 0 && groupOf(pid) === group);
  return pids.length > 0 ? pids : undefined;
}

/** The group of a process; undefined when it is gone. */
function groupOf(pid: number): number | undefined {
  // What stands in parentheses is the program's own name, with whatever is in it.
  const fields = read(`/proc/${pid}/stat`)?.split(") ").pop()?.split(" ");
  return fields && Number(fields[2]);
}

/** How often the threads of these have gone to sleep, as the system counts it; NaN while one runs, waits for a disk, or was stopped. */
function sleepsOf(pids: readonly number[]): number {
  let sum = 0;
  for (const pid of pids) {
    for (const thread of list(`/proc/${pid}/task`)) {
      const status = read(`/proc/${pid}/task/${thread}/status`) ?? "";
      if (/^State:\s+[RDTt]/m.test(status)) return NaN;
      for (const [, count] of status.matchAll(/^(?:non)?voluntary_ctxt_switches:\s+(\d+)/gm)) sum += Number(count);
    }
  }
  return sum;
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
