// `node:test` as the tests import it where many files share a process: what a file registers while it loads belongs to
// that file's suite, hooks of the whole file too, and a test or hook without a limit of its own has one of 90 seconds.
import { AsyncResource } from "node:async_hooks";
import * as original from "node:test";

const defaultTimeout = 90_000;
/** The limits of the suites whose bodies run, the innermost last: Node gives it to the tests in them. */
const limits = [];
let scope;

/** Runs all of a file's tests: what `load` registers until it resolves, as one suite of that name. */
export function runFile(name, load) {
  return original.suite(name, async () => {
    scope = new AsyncResource("TestFile");
    try {
      await load();
    } finally {
      scope = undefined;
    }
  });
}

export function describe(name, second, third) {
  const options = typeof second === "object" ? second : {};
  const body = typeof second === "function" ? second : third;
  const build = body && function (...given) {
    limits.push(options.timeout ?? limits.at(-1));
    try {
      return body.apply(this, given);
    } finally {
      limits.pop();
    }
  };
  return enter(original.describe, name, options, build);
}

export function test(name, second, third) {
  const options = typeof second === "object" ? second : {};
  const body = typeof second === "function" ? second : third;
  return enter(original.test, name, { ...options, timeout: options.timeout ?? limits.at(-1) ?? defaultTimeout }, body);
}

export const before = (hook, options) => enter(original.before, hook, { timeout: defaultTimeout, ...options });
export const after = (hook, options) => enter(original.after, hook, { timeout: defaultTimeout, ...options });
export const beforeEach = (hook, options) => enter(original.beforeEach, hook, { timeout: defaultTimeout, ...options });
export const afterEach = (hook, options) => enter(original.afterEach, hook, { timeout: defaultTimeout, ...options });
export { describe as suite, test as default, test as it };

/** In the suite of the file, unless the body of a suite of its own is being run. */
function enter(register, ...given) {
  return scope === undefined || limits.length > 0
    ? register(...given)
    : scope.runInAsyncScope(register, undefined, ...given);
}
