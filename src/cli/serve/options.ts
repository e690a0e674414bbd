/**
 * The options of `causeway serve` and `causeway bridge`.
 *
 * @module
 */
import { isLoopbackHost } from "../../egress/address.ts";
import { UsageError } from "../failure.ts";

/** How it is served. */
export type ServeOptions =
  /** The names of the servers that are wanted; undefined: all. */
  & {
    readonly servers: readonly string[] | undefined;
    /** Callers take turns at servers that do not say whose call a question belongs to. */
    readonly takesTurns?: boolean;
  }
  & (
    | { readonly http?: undefined }
    | {
      readonly http: {
        readonly port: number;
        readonly hostname: string;
        /** The path of the file that holds the token which callers have to send. */
        readonly tokenFile: string | undefined;
      };
    }
  );

const defaultPort = 8080;

/**
 * Reads the options.
 *
 * @param given What was written, by name.
 * @throws {UsageError} When they cannot be understood, or do not go together.
 */
export function readServeOptions(given: Readonly<Record<string, readonly string[]>>): ServeOptions {
  const last = (name: string): string | undefined => given[name]?.at(-1);
  const names = last("servers")?.split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (names?.length === 0) throw new UsageError("Cannot read --servers: write names, as in --servers github,files");
  const [port, hostname = "127.0.0.1", tokenFile] = [last("port"), last("hostname"), last("token-file")];
  const isHttp = given.port ?? given.hostname ?? given["token-file"];
  const takesTurns = given["take-turns"] !== undefined;
  if (!isHttp) return { servers: names, takesTurns };
  if (given.stdio) throw new UsageError("Cannot use --stdio with --port, --hostname or --token-file: leave one out");
  if (!isLoopbackHost(hostname) && tokenFile === undefined) {
    throw new UsageError(
      `Cannot serve at "${hostname}" to everybody who reaches it: add --token-file <file>, and callers send its token`,
    );
  }
  return { servers: names, takesTurns, http: { port: readPort(port), hostname, tokenFile } };
}

/**
 * Reads `--port`.
 *
 * @throws {UsageError} When it is none.
 */
export function readPort(text: string | undefined, byDefault: number = defaultPort): number {
  const port = text === undefined ? byDefault : /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`Cannot read --port "${text}": write a number from 0 to 65535`);
}
