/** The tables of the command's bench: medians, ratios inside each round, and the verdict on each target. */
import { loadavg } from "node:os";
import { median } from "../results.ts";
import type { CommandFigures, CommandRow, LifeRow, Part } from "./run.ts";

interface Line {
  readonly what: string;
  readonly value: number | undefined;
  readonly unit: string;
  /** The most that it may be; without it nothing is demanded. */
  readonly most?: number;
}

const titles: Readonly<Record<Part, string>> = {
  help: "--help",
  everything: "call, server-everything",
  tiny: "call, a tiny server",
};

/** Writes the tables, and counts the verdicts. */
export function writeCommandReport(figures: CommandFigures): { text: string; met: number; missed: number } {
  const lines = judged(figures).filter(({ value }) => value !== undefined && Number.isFinite(value));
  const verdicts = lines.map(({ value = NaN, most }) => most === undefined ? "" : value <= most ? "met" : "MISSED");
  const text = [
    "",
    "THE COMMAND: from the start of its process to its end, medians in milliseconds",
    ...table(figures),
    "",
    ...lines.map((line, at) => written(line, verdicts[at] ?? "")),
    "",
    ...figures.notes.map((note) => `${note}.`),
    ...failures(figures),
    `Ratios are medians of the ratios inside each round (load ${loadavg()[0]?.toFixed(1)} in the end).`,
  ].join("\n");
  const met = verdicts.filter((verdict) => verdict === "met").length;
  return { text, met, missed: verdicts.filter((verdict) => verdict === "MISSED").length };
}

function table({ rows, lives }: CommandFigures): string[] {
  const parts = (["help", "everything", "tiny"] as const).filter((part) => rows.some((row) => row.part === part));
  const line = (name: string, values: readonly (number | undefined)[]): string =>
    ` ${name.padEnd(46)}${values.map((value) => (value?.toFixed(0) ?? "–").padStart(26)).join("")}`;
  const life = (name: string, read: (row: LifeRow) => number): string =>
    line(name, parts.map((part) => median(lives.filter((row) => row.part === part).map(read))));
  return [
    ` ${"".padEnd(46)}${parts.map((part) => titles[part].padStart(26)).join("")}`,
    life("the server alone: initialize is answered", ({ greeted }) => greeted),
    life("  a call is answered", ({ called }) => called),
    life("  it has ended by itself", ({ gone }) => gone),
    ...names(rows).map((name) =>
      line(name, parts.map((part) => median(rows.filter((row) => row.part === part && row.name === name).map(tookOf))))
    ),
  ];
}

function judged({ rows, lives }: CommandFigures): Line[] {
  const own = names(rows.filter(({ isOurs }) => isOurs));
  const of = (part: Part, name: string): CommandRow[] => rows.filter((row) => row.part === part && row.name === name);
  const lines: Line[] = own.map((name, at) => ({
    ...{ what: `${name}: --help`, value: median(of("help", name).map(tookOf)), unit: " ms" },
    ...(at === 0 && { most: 120 }),
  }));
  for (const part of ["help", "everything", "tiny"] as const) {
    lines.push({
      what: `${own[0]}: ${titles[part]} ÷ the fastest peer`,
      value: median(of(part, own[0] ?? "").map(({ took, round }) => ratio(took, fastestPeer(rows, part, round)))),
      ...{ unit: " ×", most: 1 },
    });
  }
  for (const part of ["everything", "tiny"] as const) {
    const over = (name: string, base: (life: LifeRow) => number, read = tookOf): number | undefined =>
      median(
        of(part, name).map((row) => {
          const life = lives.find((life) => life.part === part && life.round === row.round);
          return ratio(read(row), life && base(life));
        }),
      );
    for (const [at, name] of own.entries()) {
      const most = at === 0 ? { most: 1.2 } : {};
      const what = `${name}: ${titles[part]}`;
      lines.push({
        what: `${what}: shown ÷ answered by hand`,
        value: over(name, ({ called }) => called, ({ shown }) => shown),
        unit: " ×",
        ...most,
      });
      lines.push({
        what: `${what} ÷ the same life by hand`,
        value: over(name, ({ gone }) => gone),
        unit: " ×",
        ...most,
      });
      lines.push({
        ...{ what: `${what} ÷ its answer to initialize`, value: over(name, ({ greeted }) => greeted), unit: " ×" },
        ...most,
      });
    }
  }
  return lines;
}

/** Who failed at what, with the reason of the first time. */
function failures({ rows }: CommandFigures): string[] {
  const failed = rows.filter(({ failure }) => failure !== undefined);
  const names = new Set(failed.map(({ name, part }) => `${name}, ${titles[part]}`));
  return [...names].map((name) => {
    const times = failed.filter((row) => `${row.name}, ${titles[row.part]}` === name);
    return `${name}: failed ${times.length} times, first with ${JSON.stringify(times[0]?.failure)}.`;
  });
}

/** The least that a peer took in a round. */
function fastestPeer(rows: readonly CommandRow[], part: Part, round: number): number | undefined {
  const took = rows.flatMap((row) => row.part === part && row.round === round && !row.isOurs ? row.took ?? [] : []);
  return took.length === 0 ? undefined : Math.min(...took);
}

function ratio(own: number | undefined, base: number | undefined): number | undefined {
  return own === undefined || base === undefined ? undefined : own / base;
}

function names(rows: readonly CommandRow[]): string[] {
  return [...new Set(rows.filter(({ round }) => round === 0).map(({ name }) => name))];
}

function tookOf({ took }: CommandRow): number | undefined {
  return took;
}

function written({ what, value = NaN, unit, most }: Line, verdict: string): string {
  const target = most === undefined ? "" : `≤ ${most}${unit}`;
  return ` ${what.padEnd(66)}${`${value.toFixed(2)}${unit}`.padStart(14)}${target.padStart(12)}  ${verdict}`.trimEnd();
}
