import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { packagesInstalled } from "../../tools/programs.ts";
import { story } from "./support.ts";

const skip = packagesInstalled() ? false : "oauth4webapi, which verifies the tokens, is not installed";

describe("the gateway for a team", () => {
  test("shows each member what they may use, asks about releases, and drops a tool that has changed", {
    skip,
  }, async () => {
    const lines = await story("team_gateway/gateway");
    assertEquals(lines.filter((line) => line.includes(" sees ")), [
      "ada sees deploy__release deploy__status wiki__edit wiki__read",
      "ben sees deploy__status wiki__read",
      "ben sees deploy__status",
    ]);
    assertEquals(lines.filter((line) => line.startsWith("  may they")), [
      "  may they edit {}? yes",
      '  may they release {"stage":"staging"}? yes',
      '  may they release {"stage":"production"}? no',
    ]);
  });
});
