/**
 * Counts what the runtime's cryptography has under way: it runs on other threads, and a clock by hand must not move on meanwhile.
 *
 * @module
 */
const names = [
  ...[
    "decrypt",
    "deriveBits",
    "deriveKey",
    "digest",
    "encrypt",
    "exportKey",
    "generateKey",
    "importKey",
    "sign",
    "verify",
  ],
] as const;

const counts = { underWay: 0, digests: 0 };

/** Whether something is under way. */
export function isCryptoBusy(): boolean {
  return counts.underWay > 0;
}

/** How many digests this program has asked for so far. */
export function digestsMade(): number {
  return counts.digests;
}

function ended(): void {
  counts.underWay--;
}

const prototype: object = Object.getPrototypeOf(crypto.subtle);
for (const name of names) {
  const original: unknown = Reflect.get(prototype, name);
  if (typeof original !== "function") continue;
  const counted = function (this: unknown, ...given: unknown[]): Promise<unknown> {
    const work: Promise<unknown> = Reflect.apply(original, this, given);
    counts.underWay++;
    if (name === "digest") counts.digests++;
    work.then(ended, ended);
    return work;
  };
  Reflect.defineProperty(prototype, name, { value: counted, writable: true, configurable: true });
}
