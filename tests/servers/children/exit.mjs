// exit.mjs <code> [text]: writes the text to its standard error and ends with the code.
import { writeSync } from "node:fs";
import process from "node:process";

const [code, text = ""] = process.argv.slice(2);
if (text !== "") writeSync(2, text + "\n");
process.exit(Number(code));
