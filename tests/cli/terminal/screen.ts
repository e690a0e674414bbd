/** A terminal of so many columns, as tmux has it, with a program in it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { program, quote } from "../support.ts";

/** Why there is no terminal here; false where there is one. */
export const withoutTmux: string | false = spawnSync("tmux", ["-V"]).status === 0 ? false : "tmux is not installed";

/** What is run, and where. */
export interface ScreenOptions {
  readonly width: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the shell whose terminal it is takes its time to end when it is closed, as on a busy machine. Then there is no Ctrl-C. */
  readonly endsSlowly?: boolean;
}

/** How long something may take to be seen, in milliseconds: the machine may be busy with other runtimes. */
const patience = 20_000;
const height = 200;

/** The command line that runs `causeway` with these words. */
export function commandLine(words: readonly string[]): string {
  return [...program("src/cli/main.ts"), ...words].map(quote).join(" ");
}

/** One terminal, with one command line in it. */
export class Screen implements AsyncDisposable {
  readonly #folder: string = mkdtempSync(join(tmpdir(), "causeway-screen-"));
  readonly #socket: string = basename(this.#folder);

  /** @param command What is run, as bash takes it. */
  constructor(command: string, { width, cwd, env = {}, endsSlowly = false }: ScreenOptions) {
    const script = join(this.#folder, "script");
    // Ctrl-C is for the command. The shell says how it ended, and keeps the terminal open until it is looked at.
    writeFileSync(script, `trap : INT\n${command}\necho $? > ${quote(this.#codeFile)}\nexec sleep 600\n`);
    const slow = join(this.#folder, "slow");
    writeFileSync(slow, `trap 'sleep 0.5' HUP\nbash ${quote(script)} <&0 &\nwait\n`);
    const config = join(this.#folder, "tmux.conf");
    writeFileSync(config, "set -g status off\nset -g history-limit 5000\n");
    const size = ["-x", String(width), "-y", String(height)];
    // Emptied and not left out: Deno hands its own on, whatever it is given.
    const inherited = { ...process.env, TMUX: "", NO_COLOR: "" };
    this.#tmux(["-u", "-f", config, "new-session", "-d", ...size, "bash", endsSlowly ? slow : script], {
      cwd: cwd ?? process.cwd(),
      env: { ...inherited, CAUSEWAY_HOME: join(this.#folder, "home"), LC_ALL: "C.UTF-8", ...env },
    });
  }

  /** What is on it, a line for each line that was written: one that did not fit is longer than the terminal is wide. */
  lines(): string[] {
    const text = this.#tmux(["capture-pane", "-p", "-J", "-S", "-"]);
    return text.split("\n").map((line) => line.trimEnd()).join("\n").trimEnd().split("\n");
  }

  /** The same with what colours it. */
  colored(): string {
    return this.#tmux(["capture-pane", "-p", "-e", "-S", "-"]);
  }

  /** Waits until this can be read on it. */
  async shows(pattern: RegExp): Promise<string> {
    return await this.#until(() => {
      const text = this.lines().join("\n");
      return pattern.test(text) ? text : undefined;
    }, String(pattern));
  }

  /** Presses keys: `Enter`, `C-c`, or a text. */
  press(...keys: readonly string[]): void {
    this.#tmux(["send-keys", ...keys]);
  }

  /** Waits until the command has ended, and gives its exit code. */
  async end(): Promise<number> {
    return await this.#until(() => {
      if (!existsSync(this.#codeFile)) return undefined;
      const text = readFileSync(this.#codeFile, "utf8");
      return text.endsWith("\n") ? Number(text) : undefined;
    }, "the end");
  }

  [Symbol.asyncDispose](): Promise<void> {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"]);
    rmSync(this.#folder, { recursive: true, force: true });
    return Promise.resolve();
  }

  get #codeFile(): string {
    return join(this.#folder, "code");
  }

  #tmux(words: readonly string[], options: { cwd?: string; env?: Record<string, string | undefined> } = {}): string {
    const { status, stdout, stderr } = spawnSync("tmux", ["-L", this.#socket, ...words], options);
    if (status === 0) return String(stdout);
    throw new Error(`tmux ${words.join(" ")}: ${String(stderr)}`);
  }

  async #until<Value>(look: () => Value | undefined, what: string): Promise<Value> {
    const end = performance.now() + patience;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (performance.now() > end) throw new Error(`waited for ${what}, and saw:\n${this.lines().join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}
