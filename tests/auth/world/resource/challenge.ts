/**
 * Challenges (RFC 9110, section 11.6.1), as odd as the grammar allows.
 *
 * @module
 */

/** How values are written. */
export type Quoting = "quoted" | "token" | "escaped" | "spaced";

/** Writes a challenge. Fields without a value are left out. */
export function writeChallenge(
  scheme: string,
  fields: Readonly<Record<string, string | undefined>>,
  quoting: Quoting,
): string {
  const written = Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [write(name, value)]);
  return `${scheme} ${written.join(quoting === "spaced" ? " ,\t , " : ", ")}`.trimEnd();

  function write(name: string, value: string): string {
    const isToken = /^[\w!#$%&'*+.^`|~-]+$/.test(value);
    switch (quoting) {
      case "token":
        return isToken ? `${name}=${value}` : `${name}="${value}"`;
      case "escaped":
        return `${name.toUpperCase()}="${value.replace(/(.)/g, "\\$1")}"`;
      case "spaced":
        return `${name} = "${value}"`;
      default:
        return `${name}="${value}"`;
    }
  }
}
