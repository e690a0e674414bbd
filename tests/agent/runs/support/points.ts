/**
 * The places where a process is killed.
 *
 * @module
 */
import type { Meddler } from "./database.ts";

/** The labelled points of a run's life. */
export const points = [
  "before the intent",
  "after the intent",
  "during the call",
  "after the answer",
  "after the commit",
  "alarm arm",
] as const;

/** One of them. */
export type Point = typeof points[number];

/** Finds the points in what a process does with its database. */
export function findPoints(reached: (point: Point) => void): Meddler {
  let written: Point | undefined;
  return {
    before(sql, parameters) {
      if (sql === "commit") return;
      if (sql.startsWith("insert into agent_runs")) reached("alarm arm");
      const isIntent = sql.startsWith("insert into agent_steps") && parameters[3] === 0;
      const isResult = sql.startsWith("update agent_steps set state = ?") && parameters[0] === "result" &&
        String(parameters[3]).startsWith("tool:");
      if (!isIntent && !isResult) return;
      written = isIntent ? "after the intent" : "after the commit";
      reached(isIntent ? "before the intent" : "after the answer");
    },
    after(sql) {
      if (sql !== "commit" || !written) return;
      const point = written;
      written = undefined;
      reached(point);
    },
  };
}
