/** What a mistake is, as a row of the tables beside this file. */

/** One mistake, and what the command has to say of it. */
export interface Mistake {
  /** Its number: it stays the same, and no two have the same. */
  readonly number: number;
  readonly title: string;
  /**
   * What is typed, as bash takes it, in a folder that holds `files` alone. `$PEER` is a server that is a program, `$SELF` is this command,
   * `$HTTP` begins the URLs of a server that answers badly, `$PORT` is its port. At the port `$SHUT` nobody listens, `$TLS` wants https.
   */
  readonly typed: string;
  /** The exit code. */
  readonly code: number;
  /**
   * The whole standard error, line by line: `causeway: ` stands before each. The variables are filled in, and `…` stands for anything.
   */
  readonly says: string | readonly string[];
  /** What is on the standard output, where it is not empty: the result that there is all the same. */
  readonly out?: string;
  /** Files by their names; a name that ends in `/` is a folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What the standard input holds before it ends (nothing). */
  readonly input?: string;
  /** It is left out where there is none: on Node before 22.13. */
  readonly needs?: "sqlite";
  /** The signal that the whole process group gets, as by Ctrl-C, once the file `ready` is there. */
  readonly signal?: "SIGINT" | "SIGTERM";
}
