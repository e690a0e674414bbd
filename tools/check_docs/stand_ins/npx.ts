/** The official example server, by `npx`. */
import type { StandIn } from "../seam.ts";
import { expect, standInForNpx } from "../world.ts";

const npx: StandIn = async (program) => {
  standInForNpx();
  await program.load();
  expect(program.lines.some((line) => line.includes("The sum of 1 and 2 is 3")), "called get-sum");
};
export default npx;
