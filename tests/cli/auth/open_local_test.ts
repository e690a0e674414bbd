import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { openUrl, pageAddress } from "../../../src/entry/sign_in/open.ts";
import { hostile, others } from "../../auth/attacks/hostile_urls.ts";
import { stopwatch } from "../../support/clocks/stopwatch.ts";

describe("openUrl", () => {
  for (
    const [platform, program, before] of [
      ["linux", "xdg-open", []],
      ["darwin", "open", []],
      ["win32", "C:\\Windows\\System32\\rundll32.exe", ["url.dll,FileProtocolHandler"]],
    ] as const
  ) {
    test(`500 hostile texts on ${platform}: the opener with one address, or nothing`, () => {
      assert(hostile.length >= 500, `${hostile.length}`);
      let opened = 0;
      for (const text of hostile) {
        const started: [string, readonly string[]][] = [];
        const start = (command: string, args: readonly string[]): void => void started.push([command, args]);
        const went = openUrl(text, { platform, systemRoot: "C:\\Windows\\", start });
        if (!went) {
          assertEquals([text, started], [text, []]);
          continue;
        }
        opened++;
        assertEquals([text, started], [text, [[program, [...before, new URL(text).href]]]]);
        const address = started[0]?.[1].at(-1) ?? "";
        assert(/^https:\/\/|^http:\/\/127\.0\.0\.1:8080\//.test(address), address);
        assert(/^[!#$%&()*+,\-./:;=?@[\]_~\w{}]+$/.test(address), address);
      }
      // What is harmless in its place is opened: the test above is about something.
      assert(opened > 20 && opened < 150, `${opened}`);
    });
  }

  test("a Windows that does not say where it is: by the full path all the same", () => {
    const started: string[] = [];
    openUrl("https://as.example/", {
      platform: "win32",
      systemRoot: "",
      start: (command) => void started.push(command),
    });
    assertEquals(started, ["C:\\Windows\\System32\\rundll32.exe"]);
  });

  test("a long name of a host is looked at once", () => {
    const took = stopwatch();
    const name = "a".repeat(200_000);
    assertEquals(pageAddress(`https:${name}.example/`)?.length, name.length + 17);
    assertEquals(pageAddress(`https:${name}@as.example/`), undefined);
    // Work that grows with the square takes a minute.
    assert(took() < 5_000);
  });

  test("addresses of pages: https, and http on this machine", () => {
    for (
      const good of ["https://as.example/a?b=c&d=%22#e", "http://localhost:1/", "http://127.0.0.1/", "http://[::1]:8/"]
    ) {
      assertEquals(pageAddress(good), good);
    }
    assertEquals(pageAddress("HTTPS://AS.example/é"), "https://as.example/%C3%A9");
    for (const bad of others) assertEquals(pageAddress(bad), undefined, bad);
  });

  test(
    "the system's opener gets exactly this one argument",
    { skip: process.platform !== "linux" && "no xdg-open" },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "causeway-open-"));
      const opener = join(folder, "xdg-open");
      const seen = join(folder, "seen");
      writeFileSync(
        opener,
        `#!/bin/sh\nfor a in "$#" "$@"; do printf '%s\\n' "$a"; done > '${seen}.part'\nmv '${seen}.part' '${seen}'\n`,
      );
      chmodSync(opener, 0o755);
      const { PATH } = process.env;
      try {
        process.env.PATH = `${folder}${delimiter}${PATH}`;
        const address = "https://as.example/authorize?a=$(touch${IFS}x)&b=%60id%60;c#--d";
        assertEquals(openUrl(address), true);
        const end = performance.now() + 20_000;
        while (!existsSync(seen) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
        assertEquals(readFileSync(seen, "utf8"), `1\n${address}\n`);
        process.env.PATH = join(folder, "none");
        assertEquals(openUrl(address), true, "a system without an opener is no error");
        await new Promise((resolve) => setTimeout(resolve, 50));
      } finally {
        process.env.PATH = PATH;
        rmSync(folder, { recursive: true });
      }
    },
  );
});
