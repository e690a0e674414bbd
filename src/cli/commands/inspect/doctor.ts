/**
 * `causeway doctor [name …]` and `causeway servers doctor [name …]`: what works here, and what does not.
 *
 * @module
 */
import { resolve } from "node:path";
import process from "node:process";
import { didYouMean } from "../../../hub/config/nearest.ts";
import { proxyOf } from "../../../runtime/node_proxy.ts";
import { version } from "../../../version.ts";
import type { AuthWorld } from "../../auth/oauth.ts";
import { readKept } from "../../auth/kept.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { findConfigs, noConfig } from "../../target/config.ts";
import type { Config } from "../../target/place.ts";
import { createSpinner, hasColors, terminalWidth, writeOut, writeWarning } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";
import { columns } from "../../text/table.ts";
import { examine } from "./examine.ts";
import type { Examined } from "./examine.ts";

/** One thing that was looked at. */
interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly says: string;
}

/** Looks at all of it, and answers the exit code: that of the first thing that is wrong. */
export async function doctor(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  const leftOut: Finding[] = [];
  const configs = await findConfigs(line.config, {
    leaveOut: (says) => void leftOut.push({ what: "config", ok: false, says }),
  });
  const findings = [
    runtimeFinding(),
    ...await proxyFinding(),
    ...configs.map(configFinding),
    ...leftOut,
    await signInFinding(world),
  ];
  if (configs.length === 0) {
    findings.splice(1, 0, { what: "config", ok: true, says: `${noConfig}: causeway servers add makes one` });
  }
  const servers = await examineAll(configs, line, signal);
  await tell(findings, servers, line);
  const isWrong = findings.some(({ ok }) => !ok);
  return servers.find(({ exitCode }) => exitCode !== exitCodes.ok)?.exitCode ??
    (isWrong ? exitCodes.usage : exitCodes.ok);
}

/** Looks at the servers alone. */
export async function serversDoctor(line: CommandLine, signal: AbortSignal): Promise<number> {
  const configs = await findConfigs(line.config, { leaveOut: writeWarning });
  if (configs.length === 0) throw new UsageError(`${noConfig}: causeway servers add makes one`);
  const servers = await examineAll(configs, line, signal);
  await tell([], servers, line);
  return servers.find(({ exitCode }) => exitCode !== exitCodes.ok)?.exitCode ?? exitCodes.ok;
}

async function examineAll(configs: readonly Config[], line: CommandLine, signal: AbortSignal): Promise<Examined[]> {
  const known = [...new Set(configs.flatMap(({ names }) => names))];
  const unknown = line.words.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`Unknown server "${unknown}"${didYouMean(unknown, known)}: causeway servers list shows them`);
  }
  const wanted = line.words.length > 0 ? line.words : known;
  const spinner = createSpinner(`asks ${wanted.length} ${wanted.length === 1 ? "server" : "servers"}`);
  try {
    return await Promise.all(wanted.map((name) => examine(name, line, signal)));
  } finally {
    spinner.clear();
  }
}

async function tell(findings: readonly Finding[], servers: readonly Examined[], line: CommandLine): Promise<void> {
  if (line.json) {
    const shown = findings.length > 0 ? { findings, servers } : { servers };
    return await writeOut(plainJson(shown) + "\n");
  }
  const rows = [
    ...findings.map(({ what, ok, says }) => [mark(ok), what, says]),
    ...servers.map((
      { name, ok, says, milliseconds },
    ) => [mark(ok), name, `${says}${ok ? `, ${milliseconds} ms` : ""}`]),
  ];
  await writeOut(painted(columns(rows.map((row) => row.map(oneLine)), terminalWidth(), { wrapsLast: true })));
}

function mark(ok: boolean): string {
  return ok ? "ok" : "!!";
}

/** Green and red, where a terminal shows colours. */
function painted(text: string): string {
  if (!hasColors()) return text;
  const escape = String.fromCharCode(27);
  return text.replace(/^(ok|!!)/gm, (found) => `${escape}[${found === "ok" ? 32 : 31}m${found}${escape}[0m`);
}

function runtimeFinding(): Finding {
  const { bun, deno, node } = process.versions;
  const name = bun !== undefined ? `Bun ${bun}` : deno !== undefined ? `Deno ${deno}` : `Node ${node}`;
  const isOld = bun === undefined && deno === undefined && Number(node.split(".", 1)[0]) < 20;
  const says = `causeway ${version} on ${name}, ${process.platform} ${process.arch}`;
  return { what: "runtime", ok: !isOld, says: isOld ? `${says}: use Node 20 or newer` : says };
}

/** A proxy that is wanted and not used looks like a network that is broken. */
async function proxyFinding(): Promise<Finding[]> {
  const names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"].filter((name) =>
    process.env[name]
  );
  if (names.length === 0) return [];
  const isUsed = "Bun" in globalThis || "Deno" in globalThis || await isUsedByNode();
  const says = isUsed
    ? "is set, and the runtime uses it"
    : "is set, and not used here: set NODE_USE_ENV_PROXY=1 on Node 24.5 or later, or use Bun or Deno";
  return [{ what: "network", ok: isUsed, says: `${names[0]} ${says}` }];
}

/** Node's own agent has what it was told of a proxy, and ours takes it from there. */
async function isUsedByNode(): Promise<boolean> {
  const { globalAgent } = await import("node:http");
  return proxyOf(globalAgent) !== undefined;
}

function configFinding({ path, names }: Config): Finding {
  return {
    what: "config",
    ok: true,
    says: `${resolve(path)}: ${names.length} ${names.length === 1 ? "server" : "servers"}`,
  };
}

async function signInFinding(world: AuthWorld): Promise<Finding> {
  try {
    const { length } = await readKept(world.openStore());
    return { what: "sign-ins", ok: true, says: length === 0 ? "none" : `${length} kept: causeway whoami shows them` };
  } catch (error) {
    return { what: "sign-ins", ok: false, says: error instanceof Error ? error.message : String(error) };
  }
}
