/** For blocks that need nobody: they have to end by themselves. */
import type { StandIn } from "../seam.ts";

const nothing: StandIn = async (program) => void await program.load();
export default nothing;
