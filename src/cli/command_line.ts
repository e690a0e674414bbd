/**
 * What the words after `causeway` mean, once they are read.
 *
 * @module
 */
import type { SignInOptions } from "./auth/options.ts";
import type { ServeOptions } from "./serve/options.ts";

/** What the user asked for. */
export interface CommandLine {
  /** `tools`, `servers list`; also `help` and `version`. */
  readonly command: string;
  /** What follows the command. */
  readonly words: readonly string[];
  /** Print exactly the MCP object. */
  readonly json: boolean;
  /** Milliseconds for the whole command. */
  readonly timeout: number | undefined;
  /** By name, as written. */
  readonly headers: Readonly<Record<string, string>>;
  /** The path of the config file. */
  readonly config: string | undefined;
  /** The arguments of the call as one JSON object. */
  readonly args: string | undefined;
  /** How to sign in: `login` alone has it. */
  readonly signIn?: SignInOptions;
  /** How to serve: `serve` and `bridge` alone have it. */
  readonly serve?: ServeOptions;
  /** Shows what goes over the wire. */
  readonly verbose?: true;
  /** The file that what goes over the wire is written to. */
  readonly record?: string;
  /** Told once when that file takes no more. */
  readonly unrecorded?: (error: Error) => void;
  /** The options of the other commands, by name: of one without a value, empty texts. */
  readonly options?: Readonly<Record<string, readonly string[]>>;
}

/** The last value of an option that not every command has; undefined where it was not given. */
export function optionOf(line: CommandLine, name: string): string | undefined {
  return line.options?.[name]?.at(-1);
}
