import { assertEquals } from "@std/assert";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { describe, it } from "node:test";
import { readCommandLine } from "../../cli/session/read_line.ts";
import { commandSnippet, curlSnippet } from "../../../src/runner/dashboard/page/snippets.ts";

const texts: readonly string[] = [
  ...[
    "plain",
    "it's",
    '"quoted"',
    "$HOME",
    "$(touch /tmp/x)",
    "`id`",
    "a\\",
    "a\nb",
    "!!",
    "* ?",
    "; rm -rf ~",
    "' ' '",
    "\u202e",
    "é 🎉",
  ],
  ...["%s", "--", "-x", "#", "&", "|", "<>", "\t", "~", "{a,b}", "\\n", "''", "\u2028"],
];

/** What a shell makes of a line: the words that the program gets. */
function words(line: string, program: string): readonly string[] {
  const script = `${program}() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${line}\n`;
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", script], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], CAUSEWAY_KEY: "the key" },
  });
  assertEquals([status, stderr], [0, ""], line);
  return stdout.split("\0").slice(0, -1);
}

const skip = process.platform === "win32" ? "there is no POSIX shell" : false;

describe("copied calls", () => {
  it("mean in a shell exactly what they say, whatever the arguments hold", { skip }, () => {
    for (const text of texts) {
      const call = { origin: "http://localhost:8080", tool: "alpha__echo", arguments: { text, [text]: 1 } };
      const [silent, url, ...rest] = words(curlSnippet(call), "curl");
      assertEquals([silent, url], ["-sS", "http://localhost:8080/api/tools/alpha__echo"]);
      assertEquals(rest.slice(0, 4), ["-H", "Authorization: Bearer the key", "-H", "Content-Type: application/json"]);
      assertEquals([rest[4], JSON.parse(rest[5] ?? "")], ["--data-raw", call.arguments]);
    }
  });

  it("are understood by our own command", { skip }, () => {
    for (const tool of ["alpha__echo", "--json", "-x", "it's"]) {
      for (const text of texts) {
        const given = words(commandSnippet({ origin: "http://localhost:8080", tool, arguments: { text } }), "causeway");
        const line = readCommandLine(given);
        assertEquals([line.command, line.words], ["call", ["http://localhost:8080/mcp", tool]]);
        assertEquals(JSON.parse(line.args ?? ""), { text });
        assertEquals(line.headers, { Authorization: "Bearer the key" });
      }
    }
  });
});
