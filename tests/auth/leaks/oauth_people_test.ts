/** No secret gets out: people. */
import { flows } from "./oauth_flows.ts";
import { testFlows } from "../../support/leak_matrix.ts";

testFlows(Object.entries(flows).slice(1, 5));
