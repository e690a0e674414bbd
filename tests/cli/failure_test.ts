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
