/**
 * The demo's server as a program, on its standard input and output.
 *
 * @module
 */
import { serveStdio } from "../../src/entry/local.ts";
import { createDemoServer } from "./server.ts";

await serveStdio(createDemoServer("program"));
