/**
 * What is looked at when an agent is made: which methods its class has, and what it is called.
 *
 * @module
 */

/**
 * Looks whether a class has the methods that it has to have. Types say so too; plain JavaScript does not hear them.
 *
 * @param made The class that is constructed: `new.target`.
 * @param methods The names of the methods.
 * @throws {TypeError} Naming each method that is missing.
 */
export function checkClass(
  made: { readonly name: string; readonly prototype: object },
  methods: readonly string[],
): void {
  const missing = missingMethods(made.prototype, methods);
  if (missing) {
    throw new TypeError(`Cannot construct "${made.name}": it has no ${missing}, expected methods of its class`);
  }
}

/** The methods that an object lacks, as they may stand in a message; undefined when it has them all. */
export function missingMethods(object: object, methods: readonly string[]): string | undefined {
  const missing = methods.filter((method) => typeof Reflect.get(object, method) !== "function");
  return missing.length ? missing.map((method) => `"${method}"`).join(" and no ") : undefined;
}

/** The name of an agent's class; "Agent" for what has no class of its own. */
export function classNameOf(agent: object): string {
  const name: unknown = agent.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? name : "Agent";
}

/** A name as models and tools are called: `CodeAgent` is `code-agent`. */
export function toDashes(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, "$1$3-$2$4").replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "").toLowerCase();
}
