// A reporter for `node --test`: one JSON line for each test as it ends, so that a run that is killed still tells.
import { inspect } from "node:util";

export default async function* report(events) {
  const path = [];
  const written = new Map();
  for await (const { type, data } of events) {
    if (type === "test:start") path.splice(data.nesting, path.length, data.name);
    // Why a whole file failed stands only on its standard error.
    if (type === "test:stderr") written.set(data.file, ((written.get(data.file) ?? "") + data.message).slice(-4096));
    if (type !== "test:pass" && type !== "test:fail") continue;
    const names = [...path.slice(0, data.nesting), data.name];
    const suite = data.details?.type === "suite";
    const skipped = isMarked(data.skip) || isMarked(data.todo);
    const error = data.details?.error;
    const ownFailure = error?.failureType !== "subtestsFailed";
    if (type === "test:pass" && suite && !skipped) continue;
    if (type === "test:fail" && !ownFailure) continue;
    const reason = [data.skip, data.todo].find((value) => typeof value === "string") ?? "";
    const status = skipped ? "skipped" : type === "test:pass" ? "passed" : "failed";
    const cause = error === undefined ? "" : inspect(error.cause ?? error, { depth: 6 });
    const wholeFile = data.nesting === 0 && data.file !== undefined && data.name === data.file;
    const detail = skipped ? reason : wholeFile ? `${cause}\n${written.get(data.file) ?? ""}` : cause;
    const milliseconds = data.details?.duration_ms;
    yield JSON.stringify({ name: names.join(" > "), file: data.file, status, detail, milliseconds }) + "\n";
  }
}

function isMarked(value) {
  return value !== undefined && value !== false;
}
