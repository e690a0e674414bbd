// A reporter for program.mjs: one JSON line for each test as it ends, so that a run that is killed still tells, and one
// that says that a file has ended. The suites outside of all others are the files.
import { appendFileSync } from "node:fs";
import { Transform } from "node:stream";
import { inspect } from "node:util";

let report = "";
let ended;

/** Where the lines go. */
export function openReport(file) {
  report = file;
}

/** Adds a line. */
export function tell(line) {
  appendFileSync(report, `${JSON.stringify(line)}\n`);
}

/** Resolves when the end of a file has been told. */
export function nextEnd() {
  return new Promise((resolve) => {
    ended = resolve;
  });
}

export default class Reporter extends Transform {
  #path = [];
  #told = 0;

  constructor() {
    super({ writableObjectMode: true });
  }

  _transform({ type, data }, _encoding, done) {
    if (type === "test:start") this.#path.splice(data.nesting, this.#path.length, data.name);
    if (type === "test:pass" || type === "test:fail") this.#take(type === "test:pass", data);
    done();
  }

  #take(passed, { name, nesting, details, skip, todo }) {
    const skipped = isMarked(skip) || isMarked(todo);
    const error = details?.error;
    const file = nesting === 0 ? name : this.#path[0];
    // What is in a suite is told by itself, unless it is not run.
    const isGroup = passed ? details?.type === "suite" && !skipped : error?.failureType === "subtestsFailed";
    if (!isGroup) {
      const names = [...this.#path.slice(1, nesting), name];
      const status = skipped ? "skipped" : passed ? "passed" : "failed";
      const reason = [skip, todo].find((value) => typeof value === "string") ?? "";
      const detail = skipped ? reason : error === undefined ? "" : inspect(error.cause ?? error, { depth: 6 });
      const own = nesting === 0 ? "the file as a whole" : names.join(" > ");
      this.#told++;
      tell({ name: own, file, status, detail, milliseconds: details?.duration_ms });
    }
    if (nesting > 0) return;
    if (this.#told === 0) tell({ name: "the file as a whole", file, status: "failed", detail: "it reported no test" });
    this.#told = 0;
    tell({ ended: file });
    ended?.();
  }
}

function isMarked(value) {
  return value !== undefined && value !== false;
}
