// Lets Node 20 run the TypeScript sources in place: `node --import "file:///…/loader.mjs?compiled=<folder URL>"`.
// What tools/test/node.ts compiled beforehand is served under the address of its source, so that `import.meta.url`,
// relative addresses and stack traces stay true. Plain JavaScript, because Node 20 cannot strip types.
import { register } from "node:module";

const root = new URL("../../../", import.meta.url).href;
const compiled = new URL(import.meta.url).searchParams.get("compiled");
// Deprecated from Node 26 on; what comes in its place is not in Node 20. The word for it would stand among what tests look at.
const { noDeprecation } = process;
process.noDeprecation = true;
register("./hooks.mjs", { parentURL: import.meta.url, data: { root, compiled } });
process.noDeprecation = noDeprecation;
