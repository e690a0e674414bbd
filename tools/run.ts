/**
 * The commands of the house: `bun run test`, `deno task test` and their like come here. Installs what is missing, then
 * hands over to `tools/<command>.ts`. Nothing here imports a package, so that it runs in a fresh clone.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { installWhatIsMissing } from "./install.ts";
import { root } from "./programs.ts";

/** What each of them exports. */
interface Command {
  /** Runs the command and answers its exit code. */
  main(parameters: readonly string[]): Promise<number>;
}

const [name = "", ...parameters] = process.argv.slice(2);
const file = [join(root, "tools", `${name}.ts`), join(root, "tools", name, "main.ts")].find((path) => existsSync(path));
if (!/^[a-z_]+$/.test(name) || name === "run" || file === undefined) {
  console.error(`Unknown command ${JSON.stringify(name)}: try demo, start, test, check, conformance or bench`);
  process.exit(2);
}
const installed = await installWhatIsMissing();
const command: Partial<Command> = installed ? await import(pathToFileURL(file).href) : {};
if (installed && command.main === undefined) console.error(`${file} exports no main()`);
process.exit(command.main === undefined ? 2 : await command.main(parameters));
