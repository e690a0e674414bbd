import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { SpawnError } from "../../src/protocol/errors.ts";
import {
  inheritedNames,
  safeEnvironment,
  windowsKillPlan,
  windowsSpawnPlan,
} from "../../src/runtime/children/environment.ts";
import type { WindowsLookup } from "../../src/runtime/children/environment.ts";

describe("safeEnvironment", () => {
  const secrets = { AWS_SECRET_ACCESS_KEY: "a", GITHUB_TOKEN: "b", NODE_OPTIONS: "--require x", LD_PRELOAD: "c" };

  test("takes the six names of POSIX and nothing else", () => {
    const six = { HOME: "/h", LOGNAME: "l", PATH: "/bin", SHELL: "/bin/sh", TERM: "xterm", USER: "u" };
    assertEquals(safeEnvironment("posix", { ...six, ...secrets, path: "wrong case" }), six);
  });

  test("takes the names of Windows whatever their case, and keeps their spelling", () => {
    const all = {
      Path: "C:\\Windows",
      SystemRoot: "C:\\Windows",
      "ProgramFiles(x86)": "C:\\P",
      TEMP: "C:\\T",
      ...secrets,
    };
    const { Path, SystemRoot, TEMP } = all;
    assertEquals(safeEnvironment("windows", all), { Path, SystemRoot, "ProgramFiles(x86)": "C:\\P", TEMP });
    assertEquals(inheritedNames.windows.length, 18);
  });

  test("skips shell functions and what is not set, keeps what is empty", () => {
    assertEquals(safeEnvironment("posix", { HOME: "() { :; }; id", PATH: undefined, USER: "" }), { USER: "" });
  });

  test("the user's variables win, whatever they are called", () => {
    const extra = { HOME: "/mine", TOKEN: "secret", F: "() x" };
    assertEquals(safeEnvironment("posix", { HOME: "/h", USER: "u" }, extra), { USER: "u", ...extra });
    assertEquals(safeEnvironment("windows", { Path: "old" }, { PATH: "new" }), { PATH: "new" });
    assertEquals(safeEnvironment("posix", { PATH: "old" }, { Path: "new" }), { PATH: "old", Path: "new" });
  });
});

/** A machine with these files. */
function machine(...files: string[]): WindowsLookup {
  const known = new Set(files.map((file) => file.toLowerCase()));
  return {
    path: 'C:\\bin;"C:\\Program Files\\nodejs\\";;.;relative\\bin',
    pathExtensions: ".COM;.EXE;.BAT;.CMD;.VBS;.JS",
    systemRoot: "C:\\Windows",
    folder: "D:\\work",
    isFile: (path) => known.has(path.toLowerCase()),
  };
}

describe("windowsSpawnPlan: finding the program", () => {
  const npx = "C:\\Program Files\\nodejs\\npx.cmd";

  test("a program is started directly, by its full path", () => {
    const lookup = machine("C:\\bin\\tool.exe", "C:\\bin\\tool.cmd");
    const plan = { command: "C:\\bin\\tool.exe", args: ["a b", "%x%"], verbatim: false };
    for (const command of ["tool", "tool.exe"]) {
      assertEquals(windowsSpawnPlan(command, ["a b", "%x%"], lookup), plan);
    }
  });

  test("a batch file is started by cmd.exe, with or without its extension", () => {
    for (const command of ["npx", "npx.cmd", npx]) {
      assertEquals(windowsSpawnPlan(command, ["-y", "pkg"], machine(npx)), {
        command: "C:\\Windows\\System32\\cmd.exe",
        args: ["/d", "/e:ON", "/v:OFF", "/s", "/c", `""${npx}" "-y" "pkg""`],
        verbatim: true,
      });
    }
  });

  test("PATHEXT decides the order; scripts of other hosts are no programs", () => {
    const lookup = { ...machine("C:\\bin\\a.exe", "C:\\bin\\a.cmd", "C:\\bin\\b.js"), pathExtensions: ".CMD;.EXE;.JS" };
    assertEquals(windowsSpawnPlan("a", [], lookup).verbatim, true);
    assertEquals(windowsSpawnPlan("b", [], lookup), { command: "b", args: [], verbatim: false });
  });

  test("whatever stands beside a batch file without an extension is no program; capitals make no difference", () => {
    // So npm installs its commands: a shell script, and a batch file of the same name.
    const script = "C:\\Program Files\\nodejs\\npx";
    assertEquals(windowsSpawnPlan("npx", [], machine(script, npx)), windowsSpawnPlan("npx", [], machine(npx)));
    for (const name of ["NPX.CMD", npx.toUpperCase()]) {
      assertEquals(windowsSpawnPlan(name, ["%x%"], machine(npx)).verbatim, true);
    }
    assertEquals(windowsSpawnPlan("TOOL.EXE", [], machine("C:\\bin\\tool.exe")).command, "C:\\bin\\TOOL.EXE");
    const program = machine("C:\\bin\\tool.cmd.exe");
    assertEquals(windowsSpawnPlan("tool.cmd.exe", ["a b"], program), {
      command: "C:\\bin\\tool.cmd.exe",
      args: ["a b"],
      verbatim: false,
    });
  });

  test("without PATHEXT the usual extensions count; folders of the PATH may have blanks and quotes around them", () => {
    const places = { path: ' C:\\bin ; "D:\\my tools" ', pathExtensions: undefined };
    for (const file of ["C:\\bin\\tool.exe", "D:\\my tools\\tool.com"]) {
      assertEquals(windowsSpawnPlan("tool", [], { ...machine(file), ...places }).command, file);
    }
    for (const path of ["rel\\\\bin", "rel\\C:\\bin", '"C:\\bin']) {
      const lookup = { ...machine(`${path}\\tool.exe`, "C:\\bin\\tool.exe"), path };
      assertEquals(windowsSpawnPlan("tool", [], lookup).command, "tool", path);
    }
  });

  test("the current folder is searched for a path, never for a name", () => {
    const lookup = machine(
      "D:\\work\\evil.cmd",
      "D:\\work\\tools\\run.cmd",
      "relative\\bin\\evil.cmd",
      "D:\\work\\.\\evil.cmd",
    );
    assertEquals(windowsSpawnPlan("evil", [], lookup), { command: "evil", args: [], verbatim: false });
    assert(windowsSpawnPlan("tools\\run", [], lookup).args.at(-1)?.includes("D:\\work\\tools\\run.cmd"));
    assert(windowsSpawnPlan(".\\evil", [], lookup).args.at(-1)?.includes("D:\\work\\.\\evil.cmd"));
  });

  test("nor by the system, which would look there before the PATH", () => {
    for (const [name, file] of [["evil", "evil.exe"], ["evil", "evil.com"], ["evil.bin", "evil.bin"]] as const) {
      const lookup = machine(`D:\\work\\${file}`);
      const error = assertThrows(() => windowsSpawnPlan(name, [], lookup), SpawnError, `"${name}"`);
      assert(error.message.includes(`.\\${name}`), error.message);
    }
    assertEquals(windowsSpawnPlan("python", [], machine("D:\\work\\python")).command, "python");
    // One that is on the PATH is started by its full path.
    const both = machine("D:\\work\\tool.exe", "C:\\bin\\tool.exe");
    assertEquals(windowsSpawnPlan("tool", [], both).command, "C:\\bin\\tool.exe");
  });

  test("a path is taken from the folder in which the child starts, wherever that is seen from", () => {
    const current = "D:\\work";
    for (const folder of ["server", "server\\", ".\\server"]) {
      const at = folder.replace(/\\?$/, "\\");
      const lookup = { ...machine(`${current}\\${at}bin\\run.exe`), current, folder };
      assertEquals(windowsSpawnPlan("bin\\run", [], lookup).command, `${current}\\${at}bin\\run.exe`);
    }
    const other = { ...machine("E:\\bin\\run.exe", "D:\\work\\bin\\run.exe"), current };
    assertEquals(windowsSpawnPlan("bin\\run", [], { ...other, folder: "E:\\" }).command, "E:\\bin\\run.exe");
    assertEquals(windowsSpawnPlan("bin\\run", [], { ...other, folder: undefined }).command, "D:\\work\\bin\\run.exe");
  });

  test("what cannot be quoted is refused", () => {
    for (const argument of ["a\nb", "a\rb", "a\0b"]) {
      assertThrows(() => windowsSpawnPlan("npx", [argument], machine(npx)), SpawnError, '"npx"');
    }
    assertThrows(() => windowsSpawnPlan("missing.cmd", [], machine()), SpawnError, "missing.cmd");
    assertThrows(() => windowsSpawnPlan("missing.bat. .", ["x"], machine()), SpawnError);
    assertThrows(() => windowsSpawnPlan("C:\\%x%.cmd", [], machine("C:\\%x%.cmd")), SpawnError);
    assertEquals(windowsSpawnPlan("tool.exe", ["a\nb"], machine("C:\\bin\\tool.exe")).args, ["a\nb"]);
  });
});

/** Variables as a command line (not a batch file) knows them: what is unknown, and a sign before a sign, stays. */
function expandVariables(line: string): string {
  const variables: Record<string, string> = { PATH: "C:\\secret", CD: "D:\\work", CMDCMDLINE: 'cmd.exe "', "=": "x" };
  let result = "";
  for (let i = 0; i < line.length; i++) {
    const [whole = "", name = "", modifier] = /^%([^%:]+)(:[^%]*)?%/.exec(line.slice(i)) ?? [];
    const value = variables[name.toUpperCase()];
    if (value === undefined) result += line[i];
    else {
      result += modifier === ":~," ? "" : value;
      i += whole.length - 1;
    }
  }
  return result;
}

/**
 * What `cmd.exe` makes of a line: variables first, then the special characters outside of quotes. Returns the line, and
 * the special characters that it would act on.
 */
function cmdPass(line: string, expands: boolean): { line: string; acted: string } {
  const text = expands ? expandVariables(line) : line;
  let quoted = false;
  let acted = "";
  let result = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? "";
    if (c === '"') quoted = !quoted;
    else if (!quoted && c === "^") {
      acted += c;
      result += text[++i] ?? "";
      continue;
    } else if (!quoted && "&|<>()\n".includes(c)) acted += c;
    result += c;
  }
  return { line: result, acted: acted + (quoted ? "[open quote]" : "") };
}

/** How the usual C library of Windows takes a line apart. */
function parseArguments(line: string): string[] {
  const all: string[] = [];
  let current: string | undefined;
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const slashes = /^\\*/.exec(line.slice(i))?.[0].length ?? 0;
    if (slashes > 0) {
      const beforeQuote = line[i + slashes] === '"';
      current = (current ?? "") + "\\".repeat(beforeQuote ? slashes >> 1 : slashes);
      i += slashes - 1;
      if (beforeQuote && slashes % 2 === 1) {
        current += '"';
        i++;
      }
    } else if (line[i] === '"') {
      current ??= "";
      if (quoted && line[i + 1] === '"') current += line[++i];
      else quoted = !quoted;
    } else if (!quoted && (line[i] === " " || line[i] === "\t")) {
      if (current !== undefined) all.push(current);
      current = undefined;
    } else current = (current ?? "") + line[i];
  }
  return current === undefined ? all : [...all, current];
}

describe("windowsSpawnPlan: no argument breaks out of a batch file", () => {
  const file = "C:\\bin\\run me (1) & co.cmd";

  function arrives(args: string[]): void {
    const plan = windowsSpawnPlan(file, args, machine(file));
    const outer = plan.args.at(-1) ?? "";
    assert(outer.startsWith('"') && outer.endsWith('"'));
    // The first pass reads the line that we give; the second reads `program %*` inside of the batch file.
    const first = cmdPass(outer.slice(1, -1), true);
    assertEquals(first.acted, "", "nothing acts in the first pass");
    const rest = first.line.slice(`"${file}" `.length);
    const second = cmdPass(rest, false);
    assertEquals(second.acted, "", "nothing acts in the second pass");
    assertEquals(parseArguments(second.line), args, "the program gets what was meant");
  }

  test("the reference takes lines apart as Windows does", () => {
    assertEquals(parseArguments(`a "b c" "d\\\\" "e\\"f" "g""h" \\x ""`), ["a", "b c", "d\\", 'e"f', 'g"h', "\\x", ""]);
    assertEquals(cmdPass('"a" & calc', true).acted, "&");
    assertEquals(cmdPass("%PATH%", true).line, "C:\\secret");
    assertEquals(cmdPass("%%cd:~,%PATH%%cd:~,%", true).line, "%PATH%");
  });

  test("known attacks", () => {
    for (
      const attack of [
        '"&calc.exe',
        '" & calc & "',
        'a"b"&c',
        "%PATH%",
        "%CMDCMDLINE:~-1%&calc",
        "^&calc",
        "!PATH!",
        'x\\"&calc',
        "(a)",
        "a|b",
        "a>b<c",
        "\\",
        "a\\\\",
        '\\"',
        '""',
        "",
        " ",
        "%",
        "%%",
        "=",
        ";",
        ",",
        "--flag=%x%",
        "a b\\",
        "é",
      ]
    ) arrives([attack, "after"]);
  });

  test("any argument arrives as it is", () => {
    const character = fc.constantFrom(..."\"\\%^&|<>()! \tab=:~,;'*?".split(""));
    const argument = fc.oneof(
      fc.string({ unit: character, maxLength: 12 }),
      fc.string().filter((x) => !/[\0\r\n]/.test(x)),
    );
    const property = fc.property(fc.array(argument, { minLength: 1, maxLength: 4 }), arrives);
    fc.assert(property, { numRuns: 2_000 });
  });
});

describe("windowsKillPlan", () => {
  const command = "C:\\Windows\\System32\\taskkill.exe";

  test("ends the tree, by force only for SIGKILL", () => {
    assertEquals(windowsKillPlan(7, "SIGTERM", "C:\\Windows"), { command, args: ["/pid", "7", "/T"] });
    assertEquals(windowsKillPlan(7, "SIGKILL", "C:\\Windows"), { command, args: ["/pid", "7", "/T", "/F"] });
  });

  test("is never looked for in the current folder", () => {
    assertEquals(windowsKillPlan(7, "SIGKILL", "C:\\Windows\\").command, command);
    // Where nobody says it: a bare name would be looked for in the folder one happens to be in.
    for (const unknown of [undefined, ""]) assertEquals(windowsKillPlan(7, "SIGKILL", unknown).command, command);
  });
});
