/**
 * Stand-ins for the global of a runtime.
 *
 * @module
 */

/** Does something while a runtime's global has other members: it must be over with them when it returns. */
export function standingIn<Result>(name: string, members: Record<string, unknown>, work: () => Result): Result {
  const globals = globalThis as Record<string, unknown>;
  const own = globals[name] as Record<string, unknown> | undefined;
  if (own === undefined) {
    globals[name] = members;
    try {
      return work();
    } finally {
      delete globals[name];
    }
  }
  const before = Object.keys(members).map((key) => [key, own[key]]);
  Object.assign(own, members);
  try {
    return work();
  } finally {
    Object.assign(own, Object.fromEntries(before));
  }
}
