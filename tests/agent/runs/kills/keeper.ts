/**
 * A process that keeps runs, to be killed: `keeper <database> <ledger> <first run> <runs> [<point> <nth> <rounds> <secret>]`. It tells which runs were
 * accepted, answers each question, and, where it is told a point, kills itself there.
 */
import process from "node:process";
import { createRuns } from "../../../../src/agent/mod.ts";
import { meddleWith, openAnyDatabase } from "../support/database.ts";
import { findPoints } from "../support/points.ts";
import { callLedger, idOf, rounds, version } from "./plan.ts";
import { createScriptedAgent } from "../support/scripted_agent.ts";

const [path = "", ledger = "", first = "0", count = "0", point = "", nth = "1", most = rounds, secret = ""] = process
  .argv.slice(2);
let left = Number(nth);
const reached = (now: string): void => {
  if (now === point && --left === 0) process.kill(process.pid, "SIGKILL");
};
const database = meddleWith(await openAnyDatabase(path), findPoints(reached));
const call = async (key: string, signal: AbortSignal): Promise<string> => {
  const answer = callLedger(ledger, key, signal);
  if (point === "during the call") setTimeout(() => reached("during the call"), 8);
  return await answer;
};
const agent = createScriptedAgent({
  rounds: Number(most),
  askAfter: 3,
  call,
  isLonger: version > 1,
  think: () => new Promise((resolve) => setTimeout(resolve, 2)),
});
const runs = createRuns({
  database,
  agents: { agent },
  watchdog: 1_000,
  ...secret === "" ? {} : { secret },
  // More processes die here than in a run of anybody's.
  limits: { resumes: 1_000 },
  logger: ({ level, message, fields }) => console.error(level, message, JSON.stringify(fields)),
});
console.log("ready");
await runs.resume();
for (let at = Number(first); at < Number(first) + Number(count); at++) {
  const { id } = await runs.start({ agent: "agent", principal: "ada", input: "go", id: idOf(at) });
  console.log(`accepted ${id}`);
}
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const { id, questions } of await runs.list({ state: "needs_input", limit: 100 })) {
    for (const question of questions) await runs.answer(id, question.id, { action: "accept" });
  }
}
