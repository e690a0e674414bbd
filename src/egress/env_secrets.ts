/**
 * The secrets that a child process is given.
 *
 * @module
 */
import { Redactor } from "./redact.ts";

/** Names of variables whose values are secret. */
const secretName = /(key|token|secret|passw(or)?d|passphrase|_(auth|pass|pat|pwd))_?\d*$/i;

/**
 * Takes the secrets of a child's own variables out of what it says, beside those that `redact` knows. Words such as "production" stay:
 * only values whose names say that they are secret are, and those of 6 characters and more.
 */
export function withoutSecrets(
  env: Readonly<Record<string, string>> | undefined,
  redact: ((text: string) => string) | undefined,
): ((text: string) => string) | undefined {
  const secrets = Object.entries(env ?? {}).filter(([name]) => secretName.test(name));
  if (!secrets[0]) return redact;
  const redactor = new Redactor();
  for (const [, value] of secrets) redactor.add(String(value));
  return (text) => redactor.redact(redact?.(text) ?? text);
}
