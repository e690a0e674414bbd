/**
 * The secrets that a child process is given.
 *
 * @module
 */
import { Redactor } from "./redact.ts";

/** Names of variables whose values are secret. */
const secretName = /(keys?|tokens?|secrets?|passw(or)?ds?|passphrases?|_(auth|pass|pat|pwd))_?\d*$/i;
/** A user and a password within a URL, and the password alone. */
const inUrl = /\b[a-z][\w+.-]*:\/\/([^\s/?#@:]*:([^\s/?#]+))@/gi;
/** How many secrets one redactor keeps: a key in PEM has fifty lines. */
const kept = 200;

/**
 * Takes the secrets of a child's own variables out of what it says, beside those that `redact` knows. Words such as "production" stay:
 * only values whose names say that they are secret are, passwords within URLs (`DATABASE_URL`), and those of 6 characters and more.
 */
export function withoutSecrets(
  env: Readonly<Record<string, string>> | undefined,
  redact: ((text: string) => string) | undefined,
): ((text: string) => string) | undefined {
  // A program without types may name one that is not there.
  const secrets = Object.entries(env ?? {}).flatMap(([name, value]) =>
    value == null ? [] : secretsOf(name, `${value}`)
  );
  if (!secrets[0]) return redact;
  const redactors: Redactor[] = [];
  for (const [at, secret] of secrets.entries()) {
    if (at % kept === 0) redactors.push(new Redactor());
    redactors.at(-1)?.add(secret);
  }
  // They go first: one may be made of what `redact` knows, which would leave its rest.
  return (text) => {
    const clean = redactors.reduce((rest, redactor) => redactor.redact(rest), text);
    return redact?.(clean) ?? clean;
  };
}

function secretsOf(name: string, value: string): string[] {
  const secrets: string[] = [];
  for (const [, both = "", password = ""] of value.matchAll(inUrl)) {
    // A short one is found with its user alone.
    secrets.push(password.length < 6 ? both : password, unescaped(password));
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
