import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { bunSpawn } from "../../src/runtime/bun.ts";
import { commandSpawn, denoSpawn } from "../../src/runtime/deno.ts";
import { spawnFailure } from "../../src/runtime/children/child.ts";
import { nodeSpawn } from "../../src/runtime/node.ts";
import { runProcess } from "../../tools/process.ts";
import { root } from "../../tools/programs.ts";
import { newerNodePath } from "../../tools/test/newer_node.ts";
import { spawnSuite, until } from "../suites/spawn.ts";

// Each runtime proves its own adapter. On Deno there are two ways, of which the adapter takes one for each program.
if ("Bun" in globalThis) spawnSuite("bunSpawn", bunSpawn);
if ("Deno" in globalThis) {
  spawnSuite("denoSpawn", denoSpawn);
  spawnSuite("commandSpawn", commandSpawn);
}
if (!("Bun" in globalThis)) spawnSuite("nodeSpawn", nodeSpawn);

test("timers fire beside a child that writes faster than it is read", {
  // The others turn by themselves, each in its own time.
  skip: process.platform === "win32" || !("Bun" in globalThis),
}, async () => {
  const most = 40;
  let chunks = 0;
  let isOver = false;
  let firedAt: number | undefined;
  const started = await bunSpawn({
    command: "/bin/sh",
    args: ["-c", "exec cat /dev/zero"],
    env: { PATH: "/bin:/usr/bin" },
  }, {
    output() {
      if (++chunks === 1) setTimeout(() => firedAt = chunks, 1);
      if (chunks >= most) started.kill("SIGKILL");
      // Slower than it writes, however busy the machine is.
      for (const end = performance.now() + 20; performance.now() < end;);
    },
    outputEnd() {},
    errorOutput() {},
    exit: () => void (isOver = true),
  });
  await until(() => isOver, "its end");
  assert(firedAt !== undefined && firedAt <= 10, `the timer fired after ${firedAt} of ${chunks} chunks`);
});

test("a name that the system refuses for a folder of the PATH that may not be looked into is one that is not there", {
  skip: process.platform === "win32",
}, async () => {
  const folder = mkdtempSync(`${tmpdir()}/causeway-path-`);
  try {
    writeFileSync(`${folder}/there`, "", { mode: 0o600 });
    const said = async (command: string) => {
      const refused = Object.assign(new Error(`spawn ${command} EACCES`), { code: "EACCES" });
      return (await spawnFailure({ command, args: [], env: { PATH: `/hidden:${folder}` } }, refused)).message;
    };
    const absent = "there is no such program on the PATH; install it, or give its full path";
    assertEquals(await said("absent"), `Cannot start "absent": ${absent}`);
    assertMatch(await said("there"), /it may not be executed; make the file executable/);
    assertMatch(await said(`${folder}/there`), /it may not be executed; make the file executable/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a path that begins with ~ is told as what a shell alone knows", async () => {
  const said = async (command: string, cwd?: string) => {
    const refused = Object.assign(new Error(`spawn ${command} ENOENT`), { code: "ENOENT" });
    return (await spawnFailure({ command, args: [], env: {}, cwd }, refused)).message;
  };
  assertMatch(
    await said("~/bin/server"),
    /"~\/bin\/server": there is no such file, .* only a shell knows "~": write the/,
  );
  assertMatch(
    await said("node", `${root}/~/work`),
    /the working folder .* only a shell knows "~": write the whole path$/,
  );
  assertMatch(await said("node", "~"), /the working folder "~" .* only a shell knows "~": write the whole path$/);
  assertMatch(await said("/bin/~server"), /is missing; correct the path$/);
  assertMatch(await said("node", `${root}/none~`), /is no folder; correct "cwd"$/);
});

test("a name that the system refuses is one that is not there only where every folder of the PATH was looked into", {
  skip: process.platform === "win32" || "Deno" in globalThis,
}, async () => {
  const querySync = ({ path }: { path: string }) => ({ state: path.startsWith("/seen/") ? "granted" : "prompt" });
  Object.assign(globalThis, { Deno: { permissions: { querySync } } });
  try {
    const refused = Object.assign(new Error("Permission denied"), { name: "PermissionDenied" });
    const said = async (PATH: string) =>
      (await spawnFailure({ command: "tool", args: [], env: { PATH } }, refused)).message;
    assertMatch(await said("/seen/a:/seen/b"), /there is no such program on the PATH/);
    assertMatch(await said("/seen/a:/unseen"), /it may not be executed/);
  } finally {
    Reflect.deleteProperty(globalThis, "Deno");
  }
});

test("whatever is thrown in the place of an error is told", async () => {
  for (const thrown of [undefined, null, "no more processes", { message: "no more processes" }]) {
    const { message } = await spawnFailure({ command: "there", args: [], env: {} }, thrown);
    assertEquals(message, `Cannot start "there": ${thrown ? "no more processes" : thrown}`);
  }
});

test("Deno itself gets the permissions that its arguments give, and no more", {
  skip: !("Deno" in globalThis),
}, async () => {
  for (const [args, expected] of [[[], "prompt"], [["--allow-env"], "granted"]] as const) {
    let said = "";
    let over = false;
    await denoSpawn(
      {
        command: process.execPath,
        args: [...args, `${process.cwd()}/tests/servers/children/permission.mjs`],
        env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      },
      {
        output: (chunk) => void (said += new TextDecoder().decode(chunk)),
        outputEnd() {},
        errorOutput: (chunk) => void (said += new TextDecoder().decode(chunk)),
        exit: () => over = true,
      },
    );
    await until(() => over, "the end");
    assertEquals(said.trim(), expected);
  }
});

test("why a program cannot be started is looked up on Deno only where nobody has to be asked", {
  skip: !("Deno" in globalThis),
}, async () => {
  const { permissions } = (globalThis as unknown as { Deno: { permissions: { querySync(of: object): object } } }).Deno;
  const folder = mkdtempSync(`${tmpdir()}/causeway-spawn-`);
  const query = permissions.querySync;
  try {
    writeFileSync(`${folder}/old-tool`, "#!/no/such/python3\n", { mode: 0o755 });
    permissions.querySync = (of) => "path" in of ? { state: "prompt" } : query.call(permissions, of);
    const events = { output() {}, outputEnd() {}, errorOutput() {}, exit() {} };
    const spawning = () => denoSpawn({ command: "old-tool", args: [], env: { PATH: folder } }, events);
    await assertRejects(spawning, Error, "there is no such program on the PATH");
  } finally {
    permissions.querySync = query;
    rmSync(folder, { recursive: true });
  }
});

test("a whole line as the program is told what arguments are for", async () => {
  const spawn = "Bun" in globalThis ? bunSpawn : "Deno" in globalThis ? denoSpawn : nodeSpawn;
  const events = { output() {}, outputEnd() {}, errorOutput() {}, exit() {} };
  for (const command of ["no-such-program -y server", "no-such-program -y @scope/server /tmp"]) {
    const spawning = async () => await spawn({ command, args: [], env: {} }, events);
    await assertRejects(spawning, Error, 'what follows a program belongs into "args"');
  }
});

test("a working folder that Node's permissions hide is not told as one that is missing", {
  skip: process.platform === "win32" || !("Bun" in globalThis),
}, async () => {
  const node = await newerNodePath();
  assert(node, "no Node from 22.13 on was found, and none could be fetched");
  const hidden = mkdtempSync(`${tmpdir()}/causeway-hidden-`);
  const program = `
    import { nodeSpawn } from ${JSON.stringify(pathToFileURL(`${root}/src/runtime/children/node_spawn.ts`).href)};
    const command = { command: "causeway-none", args: [], env: { PATH: "/none" }, cwd: ${JSON.stringify(hidden)} };
    await nodeSpawn(command, {}).catch(({ message }) => console.log(message));`;
  const said = async (...more: string[]) => {
    const flags = ["--no-warnings", "--experimental-strip-types", "--permission", `--allow-fs-read=${root}`, ...more];
    const given = [node, ...flags, "--input-type=module", "--eval", program];
    return (await runProcess(given)).standardOutput.trim();
  };
  try {
    const denied = "this process may not start programs; run Node with --allow-child-process";
    const absent = "there is no such program on the PATH; install it, or give its full path";
    assertEquals(await said(), `Cannot start "causeway-none": ${denied}`);
    assertEquals(await said("--allow-child-process"), `Cannot start "causeway-none": ${absent}`);
  } finally {
    rmSync(hidden, { recursive: true });
  }
});
