/**
 * A process with the tokens of a file store: `program.mjs <work> <folder> <server> <count> <timeout>`. It waits at the server's barrier,
 * makes so many calls at a time, and tells what became of them. It is bundled by `processes_local_test.ts`.
 */
import process from "node:process";
import { createOAuth } from "../../../../src/auth/mod.ts";
import { createFileStore } from "../../../../src/runtime/stores/file_store.ts";
import { callAtOnce, callConnected } from "./calls.ts";

const [work = "", folder = "", server = "", count = "0", timeout = "10000"] = process.argv.slice(2);
const oauth = createOAuth({
  redirectUri: "https://app.example.com/callback",
  store: createFileStore(folder),
  timeout: Number(timeout),
  authorize: () => Promise.reject(new Error("nobody is here to sign in")),
});
const start = async (): Promise<void> => void await (await fetch(new URL("/barrier", server))).text();
const makeCalls = async () => {
  if (work === "connected") return await callConnected(oauth, server, Number(count), start);
  await start();
  return await callAtOnce(oauth, server, Number(count));
};
const outcome = await makeCalls();
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit(0));
