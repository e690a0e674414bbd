/** The figures of all processes, and the medians and ratios that are read from them. */
import type { ClientName } from "./build.ts";
import type { Runtime } from "./clients/client.ts";
import type { Figures } from "./task.ts";

/** What one process gave, or why it gave nothing. */
export interface Sample {
  readonly runtime: Runtime;
  readonly cell: string;
  readonly client: ClientName;
  readonly round: number;
  readonly figures: Figures;
  readonly failure?: string;
}

/** Looks figures up. */
export class Results {
  readonly samples: readonly Sample[];

  constructor(samples: readonly Sample[]) {
    this.samples = samples;
  }

  /** One cell in one runtime. */
  cell(runtime: Runtime, cell: string): CellResults {
    return new CellResults(this.samples.filter((sample) => sample.runtime === runtime && sample.cell === cell));
  }
}

/** The samples of one cell in one runtime. */
export class CellResults {
  readonly #samples: readonly Sample[];

  constructor(samples: readonly Sample[]) {
    this.#samples = samples;
  }

  /** The median over the rounds; undefined when there is no figure. */
  median(client: ClientName, figure: string): number | undefined {
    return median(this.#of(client).map(({ figures }) => figures[figure]));
  }

  /** The largest over the rounds. */
  worst(client: ClientName, figure: string): number | undefined {
    const values = this.#of(client).flatMap(({ figures }) => figures[figure] ?? []);
    return values.length === 0 ? undefined : Math.max(...values);
  }

  /** The names of a client's figures. */
  names(client: ClientName): string[] {
    return [...new Set(this.#of(client).flatMap(({ figures }) => Object.keys(figures)))];
  }

  /** The median of the ratios inside each round: what drifts from round to round falls out. */
  ratio(client: ClientName, other: ClientName, figure: string): number | undefined {
    const others = new Map(this.#of(other).map(({ round, figures }) => [round, figures[figure]]));
    return median(
      this.#of(client).map(({ round, figures }) => {
        const [own, base] = [figures[figure], others.get(round)];
        return own === undefined || base === undefined ? undefined : own / base;
      }),
    );
  }

  /** Why a client gave nothing, if it never did. */
  failure(client: ClientName): string | undefined {
    const samples = this.#samples.filter((sample) => sample.client === client);
    return samples.every(({ failure }) => failure !== undefined) ? samples[0]?.failure : undefined;
  }

  #of(client: ClientName): Sample[] {
    return this.#samples.filter((sample) => sample.client === client && sample.failure === undefined);
  }
}

/** The median of what is there; undefined when nothing is. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const sorted = values.filter((value) => value !== undefined).sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return undefined;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
