/**
 * Headers that are about to be sent.
 *
 * @module
 */

/**
 * Makes headers of what the operator gave. What runtimes throw for a value that cannot be sent repeats it, and it is often a credential.
 *
 * @throws {TypeError} When one cannot be sent: its name is told, and not its value.
 */
export function readHeaders(given: RequestInit["headers"]): Headers {
  try {
    return new Headers(given);
  } catch {
    const entries = (Symbol.iterator in given! ? [...given] : Object.entries(given!)) as [string, string][];
    const [name = ""] = entries.find((entry) => !isSendable(entry)) ?? [];
    throw new TypeError(`Cannot send the header "${name}": its name or its value has a character that no header takes`);
  }
}

function isSendable([name = "", value = ""]: readonly string[]): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}
