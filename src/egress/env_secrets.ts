/**
 * The secrets that a child process is given.
 *
 * @module
 */
import { Redactor } from "./redact.ts";

/** Names of variables whose values are secret. */
const secretName =
  /(keys?|tokens?|secrets?|passw(or)?ds?|passphrases?|_(auth|pass|pat|pwd)|authorization|cookie)_?\d*$/i;
/** A user and a password within a URL, and the password alone. */
const inUrl = /\b[a-z][\w+.-]*:\/\/([^\s/?#@:]*:([^\s/?#]+))@/gi;

/** What a child is started with. */
interface Started {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly args?: readonly string[] | undefined;
}

/**
 * Takes the secrets of a child's own variables and arguments out of what it says, beside those that `redact` knows. Words such as
 * "production" stay: only values whose names say that they are secret are, passwords within URLs (`DATABASE_URL`), and those of 6
 * characters and more.
 */
export function withoutSecrets(
  { env, args }: Started,
  redact: ((text: string) => string) | undefined,
): ((text: string) => string) | undefined {
  // A program without types may name one that is not there.
  const secrets = [...Object.entries(env ?? {}), ...named(args ?? [])]
    .flatMap(([name, value]) => value == null ? [] : secretsOf(name, `${value}`));
  if (!secrets[0]) return redact;
  // None pushes another out: a key in PEM alone has fifty lines.
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret, Infinity);
  // They go first: one may be made of what `redact` knows, which would leave its rest.
  return (text) => {
    const clean = redactor.redact(text);
    return redact?.(clean) ?? clean;
  };
}

/** Arguments, and those with names: `--token x`, `--token=x`, `TOKEN=x`, and headers (`X-Token: x`). */
function named(args: readonly string[]): [string, string | undefined][] {
  return args.flatMap((arg, at) => {
    const [, flag, name = flag, value = args[at + 1]] =
      /^(?:--?([\w-]+)|(?:--?)?([\w-]+)[=:]\s*(.+))$/s.exec(`${arg}`) ?? [];
    // What follows a flag may be another one; and where a key is, is none.
    const isOne = name !== undefined && !(flag && `${value}`.startsWith("-")) && !/^[./~]|^\w:\\/.test(`${value}`);
    return [["", arg], [isOne ? `_${name.replaceAll("-", "_")}` : "", value]];
  });
}

function secretsOf(name: string, value: string): string[] {
  const secrets: string[] = [];
  for (const [, both = "", password = ""] of value.matchAll(inUrl)) {
    // A short one is found with its user alone.
    secrets.push(password.length < 6 ? both : password, unescaped(password));
  }
  // The fields of a connection string.
  for (const field of value.includes(";") ? value.split(";") : []) {
    const [, key = "", part = ""] = /^\s*([\w ]+?)\s*=\s*(.+)$/s.exec(field) ?? [];
    if (secretName.test(`_${key}`)) secrets.push(part.trimEnd());
  }
  if (!secretName.test(name)) return secrets;
  // Output is told by lines, names in the plural are of lists, and a token may be told without its scheme.
  const parts = value.split(/[^s]s_?\d*$/i.test(name) ? /[\s,;]+/ : /\r?\n/);
  return secrets.concat(value, parts, /^(?:bearer|basic|token)\s+(\S+)$/i.exec(value)?.[1] ?? []);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
