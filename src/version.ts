/** This package's version, as it is told to servers. Kept equal to `deno.json` and `package.json` by `bun run check`. */
export const version = "0.1.0";
