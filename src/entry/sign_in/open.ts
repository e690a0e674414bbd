/**
 * Shows a page in the person's browser. Its address comes from a server: no shell ever sees it, and it can be nothing but
 * the address of a page.
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { isLoopbackHost } from "../../egress/address.ts";
import { readUrl } from "../../egress/url.ts";
import { systemProgram } from "../../runtime/children/environment.ts";

/** Starts a program: an argument vector, never a shell line. */
export type StartOpener = (command: string, args: readonly string[]) => void;

/** What is known of the machine. */
export interface OpenerOptions {
  /** Default: of this process. */
  readonly platform?: string | undefined;
  /** `SystemRoot` of Windows. Default: of this process. */
  readonly systemRoot?: string | undefined;
  /** Default: a process of its own, whose output nobody reads. */
  readonly start?: StartOpener | undefined;
}

/** What could end an argument, a quote or a line somewhere on the way to the browser. */
const forbidden = /[\p{Cc}\p{Zl}\p{Zp}\s"'`\\<>^|]/u;

/**
 * The address of a page in the form in which it may be shown and opened; undefined for everything else: other schemes than
 * https (http on this machine), credentials in it, quotes, backslashes, white space, control characters.
 */
export function pageAddress(text: string): string | undefined {
  const url = forbidden.test(text) || text.startsWith("-") ? undefined : readUrl(text);
  if (!url) return undefined;
  const { protocol, hostname, href } = url;
  const isPage = protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname));
  const hasUser = /^[^/?#]*(?:\/+[^/?#]*)?@/.test(text);
  return isPage && !hasUser && !forbidden.test(href) ? href : undefined;
}

/**
 * Opens a page in the browser: the system's opener gets its address as the one argument. That it cannot be opened is no
 * error, since it is printed too.
 *
 * @returns False when it is no address of a page: then nothing is started.
 */
export function openUrl(text: string, options: OpenerOptions = {}): boolean {
  const address = pageAddress(text);
  if (address === undefined) return false;
  const { platform = process.platform, start = startOpener } = options;
  if (platform === "win32") {
    const { systemRoot = process.env.SystemRoot } = options;
    start(systemProgram("rundll32.exe", systemRoot), ["url.dll,FileProtocolHandler", address]);
  } else start(platform === "darwin" ? "open" : "xdg-open", [address]);
  return true;
}

function startOpener(command: string, args: readonly string[]): void {
  try {
    spawn(command, args, { detached: true, stdio: "ignore", shell: false, windowsHide: true })
      .on("error", () => {})
      .unref();
  } catch {
    // There is no such program, or none may be started: the address is on the terminal.
  }
}
