/** No secret gets out: the code flow. */
import { flows } from "./oauth_flows.ts";
import { testFlows } from "../../support/leak_matrix.ts";

testFlows(Object.entries(flows).slice(0, 1));
