/** The Worker's side of `conformance_worker.ts`: runs the conformance client inside a request, as a program is run. */
import process from "node:process";

/** What the host sends: the arguments and the environment that the suite gave to it. */
export interface ProgramRequest {
  readonly parameters: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How the program ended. */
export interface ProgramResponse {
  readonly code: number;
  readonly problem?: string;
}

class ProgramExit extends Error {}

/** Gives the program its arguments and environment, loads it, and answers how it ended. */
export async function answer(request: Request, load: () => Promise<unknown>): Promise<Response> {
  const { parameters, env }: ProgramRequest = await request.json();
  process.argv.splice(0, process.argv.length, "workerd", "client.ts", ...parameters);
  Object.assign(process.env, env);
  let code: number | undefined;
  process.exit = (status): never => {
    code ??= Number(status ?? process.exitCode ?? 0);
    throw new ProgramExit(`exit ${code}`);
  };
  let problem: string | undefined;
  try {
    await load();
  } catch (error) {
    if (!(error instanceof ProgramExit)) {
      problem = error instanceof Error ? error.stack ?? error.message : String(error);
    }
  }
  const status = problem === undefined ? code ?? Number(process.exitCode ?? 0) : 1;
  const body: ProgramResponse = problem === undefined ? { code: status } : { code: status, problem };
  return Response.json(body);
}
