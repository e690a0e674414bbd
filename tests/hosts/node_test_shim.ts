/**
 * `node:test` for workerd, which has none, and for Node, whose own follows every promise of its process, which takes up to
 * a third of the time. Tests register while their module loads, and run inside a request, or where a program wants them to.
 * The part that the tests of this house use: test, it, describe, suite, the four hooks, the options skip, todo and timeout, `t.test`, `t.after`, `t.skip`, `t.diagnostic`.
 */

type Body<Context> = (context: Context) => unknown;
type Hook = () => unknown;
type HookName = "before" | "after" | "beforeEach" | "afterEach";

interface Options {
  readonly skip?: boolean | string;
  readonly todo?: boolean | string;
  readonly timeout?: number | undefined;
}

interface Node {
  readonly name: string;
  readonly options: Options;
  readonly body: Body<TestContext> | undefined;
  readonly children: Node[] | undefined;
  readonly hooks: Record<HookName, Hook[]>;
}

/** One line of the report; `tools/test/results.ts` reads it. */
export interface Line {
  readonly name: string;
  readonly file: string;
  readonly status: "passed" | "failed" | "skipped";
  readonly detail?: string;
}

interface Run {
  readonly file: string;
  readonly report: (line: Line) => void;
}

/** Longer than any honest test; the `timeout` of a test or of its suite comes before it. Milliseconds. */
const defaultTimeout = 30_000;
const files = new Map<string, Node>();
let current = createNode("", {}, undefined, []);

/** What a test's body is given. */
export class TestContext {
  readonly name: string;
  /** Aborts when the test has ended. */
  readonly signal: AbortSignal;
  readonly #run: Run;
  readonly #path: string;
  readonly #controller = new AbortController();
  readonly #after: Hook[] = [];
  #skipped: string | undefined;

  constructor(run: Run, path: string, name: string) {
    this.#run = run;
    this.#path = path;
    this.name = name;
    this.signal = this.#controller.signal;
  }

  diagnostic(message: string): void {
    console.log(`${this.#path}: ${message}`);
  }

  skip(reason: string = ""): void {
    this.#skipped = reason;
  }

  after(hook: Hook): void {
    this.#after.push(hook);
  }

  /** Runs a test of its own at once; its failure is reported and fails this test too. */
  async test(name: string, second?: Options | Body<TestContext>, third?: Body<TestContext>): Promise<void> {
    const passed = await runNode(this.#run, createTest(name, second, third), this.#path, []);
    if (!passed) throw new Error("a subtest failed");
  }

  /** Ends the context and answers the reason given to `skip`. For the shim only. */
  async end(): Promise<string | undefined> {
    this.#controller.abort();
    for (const hook of this.#after) await hook();
    return this.#skipped;
  }
}

export function test(name: string, body?: Body<TestContext>): void;
export function test(name: string, options: Options, body?: Body<TestContext>): void;
export function test(name: string, second?: Options | Body<TestContext>, third?: Body<TestContext>): void {
  current.children?.push(createTest(name, second, third));
}

export function describe(name: string, second?: Options | Hook, third?: Hook): void {
  const body = typeof second === "function" ? second : third;
  const node = createNode(name, optionsOf(second), undefined, []);
  const outer = current;
  outer.children?.push(node);
  current = node;
  try {
    body?.();
  } finally {
    current = outer;
  }
}

export const before = (hook: Hook): number => current.hooks.before.push(hook);
export const after = (hook: Hook): number => current.hooks.after.push(hook);
export const beforeEach = (hook: Hook): number => current.hooks.beforeEach.push(hook);
export const afterEach = (hook: Hook): number => current.hooks.afterEach.push(hook);
export { describe as suite, test as default, test as it };

/** Loads a test file's module and keeps what it registers; a module that throws becomes a failed test. */
export async function collect(
  file: string,
  load: () => Promise<unknown>,
  timeout: number = defaultTimeout,
): Promise<void> {
  const node = createNode("", { timeout }, undefined, []);
  files.set(file, node);
  current = node;
  try {
    await load();
  } catch (error) {
    test("the module loads", () => {
      throw error;
    });
  }
}

/** Runs a file's tests, once; false: there is no such file. */
export async function runFile(file: string, report: (line: Line) => void): Promise<boolean> {
  const node = files.get(file);
  if (node === undefined) return false;
  files.delete(file);
  await runNode({ file, report }, node, "", []);
  return true;
}

/** Answers `?file=…` with the results of that file's tests, one JSON line each, as they come. */
export function handleRequest(request: Request): Response {
  const file = new URL(request.url).searchParams.get("file") ?? "";
  if (!files.has(file)) return new Response(`no such test file: ${file}`, { status: 404 });
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      await runFile(file, (line) => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`)));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "application/jsonl" } });
}

function createNode(name: string, options: Options, body: Body<TestContext> | undefined, children?: Node[]): Node {
  return { name, options, body, children, hooks: { before: [], after: [], beforeEach: [], afterEach: [] } };
}

function createTest(name: string, second?: Options | Body<TestContext>, third?: Body<TestContext>): Node {
  return createNode(name, optionsOf(second), typeof second === "function" ? second : third);
}

/** With the time that its suite gives it. */
function optionsOf(given: unknown): Options {
  return { timeout: current.options.timeout, ...(typeof given === "object" ? given : {}) };
}

/** Runs a suite or a test with all that is in it; answers whether nothing failed. */
async function runNode(run: Run, node: Node, parent: string, suites: readonly Node[]): Promise<boolean> {
  const path = parent === "" ? node.name : `${parent} > ${node.name}`;
  const { skip, todo } = node.options;
  const mark = skip !== undefined && skip !== false ? skip : todo;
  const place = { name: path === "" ? "the hooks of the file" : path, file: run.file };
  if (mark !== undefined && mark !== false) {
    run.report({ ...place, status: "skipped", detail: mark === true ? "" : mark });
    return true;
  }
  if (node.children === undefined) return await runTest(run, node, path, suites);
  let passed = true;
  const fail = (error: unknown): void => {
    run.report({ ...place, status: "failed", detail: describeError(error) });
    passed = false;
  };
  try {
    for (const hook of node.hooks.before) await within(node.options.timeout, hook);
    for (const child of node.children) passed = await runNode(run, child, path, [...suites, node]) && passed;
  } catch (error) {
    fail(error);
  }
  // Also what a failed hook has begun is tidied up.
  for (const hook of node.hooks.after) await within(node.options.timeout, hook).catch(fail);
  return passed;
}

async function runTest(run: Run, node: Node, path: string, suites: readonly Node[]): Promise<boolean> {
  const place = { name: path, file: run.file };
  const context = new TestContext(run, path, node.name);
  const errors: unknown[] = [];
  const attempt = async (action: () => unknown): Promise<void> => {
    try {
      await within(node.options.timeout, action);
    } catch (error) {
      errors.push(error);
    }
  };
  for (const hook of suites.flatMap((suite) => suite.hooks.beforeEach)) await attempt(hook);
  if (errors.length === 0) await attempt(() => node.body?.(context));
  let skipped: string | undefined;
  await attempt(async () => skipped = await context.end());
  for (const hook of suites.toReversed().flatMap((suite) => suite.hooks.afterEach)) await attempt(hook);
  if (errors.length > 0) {
    run.report({ ...place, status: "failed", detail: errors.map(describeError).join("\n") });
    return false;
  }
  run.report(skipped === undefined ? { ...place, status: "passed" } : { ...place, status: "skipped", detail: skipped });
  return true;
}

async function within(milliseconds = defaultTimeout, action: () => unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the test did not end within ${milliseconds} ms`)), milliseconds);
  });
  try {
    await Promise.race([action(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${String(error)}`;
  const stack = error.stack ?? "";
  const text = stack.includes(error.message) ? stack : `${error.name}: ${error.message}\n${stack}`;
  return error.cause === undefined ? text : `${text}\ncaused by ${describeError(error.cause)}`;
}
