/** What the command says of a failure, where it is not told by a whole command. */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { describeFailure } from "../../src/cli/failure.ts";
import { ConnectError } from "../../src/protocol/errors.ts";

test("who may not connect is told of the permission alone", () => {
  for (const runtime of ["Deno", "Node"]) {
    const said =
      `Cannot connect to "http://a.test": this process may not connect there; run ${runtime} with --allow-net`;
    const { line } = describeFailure(new ConnectError(said, { server: "http://a.test/mcp" }));
    assertEquals(line, said);
  }
});

test("a folder that was removed under the command is told as that, and is no fault of a server", () => {
  const said = [
    "ENOENT: no such file or directory, uv_cwd",
    "ENOENT: process.cwd failed with error no such file or directory, the current working directory was likely removed without changing the working directory, uv_cwd",
  ];
  for (const message of said) {
    const line = "The folder that you are in is not there any more, or has a name that is not UTF-8: go to another";
    assertEquals(describeFailure(new Error(message)), { exitCode: 2, line });
  }
});
