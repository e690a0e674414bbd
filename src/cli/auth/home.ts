/**
 * Where the command keeps what it has to remember.
 *
 * @module
 */
import { homedir } from "node:os";
import { isAbsolute, join, win32 } from "node:path";
import process from "node:process";
import { UsageError } from "../failure.ts";
import { userHome } from "../target/place.ts";

/** What is known of the machine. */
export interface HomeOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** The person's own folder. */
  readonly home: () => string | null;
}

/**
 * The folder for sign-ins: `auth` in `CAUSEWAY_HOME`, else in `causeway` below `XDG_CONFIG_HOME`, `~/.config`, or on Windows
 * `%APPDATA%`.
 *
 * @throws {UsageError} When the person has no folder of their own.
 */
export function authFolder(
  { environment, platform, home: find }: HomeOptions = {
    environment: process.env,
    platform: process.platform,
    home: homedir,
  },
): string {
  const home = (): string => {
    const folder = userHome(find);
    if (folder) return folder;
    throw new UsageError("Cannot find your own folder: set CAUSEWAY_HOME to where sign-ins are to be kept");
  };
  const { CAUSEWAY_HOME, XDG_CONFIG_HOME, APPDATA } = environment;
  if (platform === "win32") {
    return win32.join(
      CAUSEWAY_HOME || win32.join(APPDATA || win32.join(home(), "AppData", "Roaming"), "causeway"),
      "auth",
    );
  }
  if (CAUSEWAY_HOME) return join(CAUSEWAY_HOME, "auth");
  // Relative ones are to be ignored (XDG Base Directory Specification).
  const config = XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home(), ".config");
  return join(config, "causeway", "auth");
}
