// Lets Node 20 run the TypeScript sources in place: `node --import "file:///…/loader.mjs?compiled=<folder URL>"`.
// What tools/test/node.ts compiled beforehand is served under the address of its source, so that `import.meta.url`,
// relative addresses and stack traces stay true. Plain JavaScript, because Node 20 cannot strip types.
import { register } from "node:module";

const root = new URL("../../../", import.meta.url).href;
const compiled = new URL(import.meta.url).searchParams.get("compiled");
register("./hooks.mjs", { parentURL: import.meta.url, data: { root, compiled } });
