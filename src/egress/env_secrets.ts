/**
 * The secrets that a child process is given.
 *
 * @module
 */
import { Redactor } from "./redact.ts";

/** Names of variables whose values are secret. */
const secretName = /(key|token|secret|passw(or)?d|passphrase|_(auth|pass|pat|pwd))_?\d*$/i;
/** How many secrets one redactor keeps: a key in PEM has fifty lines. */
const kept = 200;

/**
 * Takes the secrets of a child's own variables out of what it says, beside those that `redact` knows. Words such as "production" stay:
 * only values whose names say that they are secret are, and those of 6 characters and more.
 */
export function withoutSecrets(
  env: Readonly<Record<string, string>> | undefined,
  redact: ((text: string) => string) | undefined,
): ((text: string) => string) | undefined {
  // A program without types may name one that is not there.
  const secrets = Object.entries(env ?? {}).filter(([name, value]) => value != null && secretName.test(name));
  if (!secrets[0]) return redact;
  // Output is told by lines.
  const parts = secrets.flatMap(([, value]) => [String(value), ...String(value).split(/\r?\n/)]);
  const redactors: Redactor[] = [];
  for (const [at, part] of parts.entries()) {
    if (at % kept === 0) redactors.push(new Redactor());
    redactors.at(-1)?.add(part);
  }
  // They go first: one may be made of what `redact` knows, which would leave its rest.
  return (text) => {
    const clean = redactors.reduce((rest, redactor) => redactor.redact(rest), text);
    return redact?.(clean) ?? clean;
  };
}
