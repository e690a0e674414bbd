/**
 * Where configs are on this machine.
 *
 * @module
 */
import { homedir } from "node:os";
import process from "node:process";
import type { Platform } from "../../hub/config/types.ts";

/** A config file that was read. */
export interface Config {
  readonly path: string;
  /** The names of its servers; each is checked when it is asked for. */
  readonly names: readonly string[];
  readonly text: string;
}

const platforms: Readonly<Record<string, Platform>> = { darwin: "mac", win32: "windows" };

/** The system that paths are those of. */
export function platformHere(): Platform {
  return platforms[process.platform] ?? "linux";
}

/** The person's own folder; undefined where there is none. */
export function userHome(find: () => string | null = homedir): string | undefined {
  try {
    return find() || undefined;
  } catch (error) {
    // Deno wants a permission, and says which.
    if ((error as Partial<Error>).name === "NotCapable") throw error;
    // Node throws where the system knows no such user, as in a container that runs as any number, without HOME.
    return undefined;
  }
}

/**
 * Whether a file may say what runs as this person: their own, or the administrator's. Who is that by `sudo` is still the person, too. Windows
 * tells of no owner.
 */
export function isTrustedOwner(
  owner: number,
  user: number | undefined = userId(),
  environment: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (user === undefined || owner === user || owner === 0) return true;
  return user === 0 && String(owner) === environment.SUDO_UID;
}

function userId(): number | undefined {
  try {
    return process.getuid?.();
  } catch {
    // Deno asks for a permission.
    return undefined;
  }
}
