/** A program that serves `tables` over HTTP, and says where: called by a client of each era. */
import { connect } from "../../../src/entry/local.ts";
import type { StandIn } from "../seam.ts";
import { expect } from "../world.ts";

const sumsHttp: StandIn = async (program) => {
  await program.load();
  const url = program.lines.map((line) => /http:\S+/.exec(line)?.[0]).find((found) => found !== undefined);
  if (url === undefined) throw new Error("The program should have said where it serves");
  for (const era of ["modern", "legacy"] as const) {
    await using client = await connect(url, { verdict: { era } });
    const { structuredContent } = await client.callTool("add", { a: 1, b: 2 });
    expect(JSON.stringify(structuredContent) === '{"sum":3}', `added in the ${era} era`);
  }
};
export default sumsHttp;
