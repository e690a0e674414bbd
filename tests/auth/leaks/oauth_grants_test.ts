/** No secret gets out: grants and given credentials. */
import { flows } from "./oauth_flows.ts";
import { testFlows } from "../../support/leak_matrix.ts";

testFlows(Object.entries(flows).slice(5));
