/**
 * Whether the command is to outlive its terminal.
 *
 * @module
 */
import { readFileSync } from "node:fs";

/** What Deno has to say of a file. Asked without a word: reading it would ask whoever sits at the terminal. */
interface Permissions {
  querySync(of: { readonly name: "read"; readonly path: string }): { readonly state: string };
}

const path = "/proc/self/status";

/**
 * Whether it was started so that a terminal which is closed does not end it (`nohup`): who listens to that signal all the same
 * would be ended by it. Linux tells, until somebody listens; Node itself listens to what was to be ignored.
 */
export const ignoresHangUp: boolean = wasToIgnore();

function wasToIgnore(): boolean {
  const { Deno } = globalThis as { readonly Deno?: { readonly permissions: Permissions } };
  try {
    if (Deno && Deno.permissions.querySync({ name: "read", path }).state !== "granted") return false;
    const [, digits = "0"] = /^SigIgn:\s*[\da-f]*([\da-f])$/m.exec(readFileSync(path, "latin1")) ?? [];
    return (Number.parseInt(digits, 16) & 1) === 1;
  } catch {
    return false;
  }
}
