/**
 * Keys for places that take only some names.
 *
 * @module
 */
import { sha256 } from "../../protocol/web_crypto.ts";

const marked = "=sha256:";

/**
 * Looks whether a binding is there: a name that `wrangler.toml` does not have is `undefined` in `env`.
 *
 * @throws {TypeError} When it is not, before anything is kept.
 */
export function checkBinding(what: string, binding: { get: unknown } | undefined): void {
  if (typeof binding?.get === "function") return;
  throw new TypeError(`There is no ${what}: bind one in wrangler.toml, and take it from env by that name`);
}

/**
 * The name under which a key is kept: the key itself where the place takes it, otherwise a digest of it.
 *
 * @param most The most bytes that a name may have, its prefix included.
 */
export async function fitName(prefix: string, key: string, most: number): Promise<string> {
  const name = prefix + key;
  // No character is more than three bytes; those outside of printable ASCII are left to the digest.
  const fits = /^[\x21-\x7e]+$/.test(key) && name.length * 3 <= most && !key.startsWith(marked) &&
    !/^\.\.?$/.test(name);
  // As JSON no two keys are the same bytes, not even those that are no proper Unicode.
  return fits ? name : `${prefix}${marked}${await sha256(JSON.stringify(key))}`;
}
