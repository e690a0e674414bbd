/**
 * An agent that reads and writes files below one folder, and nowhere else.
 *
 * `bun examples/file_agent.ts [folder] [--http [port]]`; without a folder it works in the current one.
 */
import { constants, statSync } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, sep } from "node:path";
import process from "node:process";
import { McpAgent, type McpToolDefinition, unknownTool } from "@causeway/mcp/agent";
import type { JsonObject } from "@causeway/mcp/protocol";
import { startWhenMain } from "./start.ts";

const mostBytes = 1_048_576;
// Windows has neither of them.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
const path = { type: "string", minLength: 1, maxLength: 4_096, description: "Relative to the agent's folder" };

/** Reads and writes texts below a folder. */
export class FileAgent extends McpAgent {
  readonly #root: string;

  /** @param root The folder that it is kept to. */
  constructor(root: string) {
    super();
    this.#root = root;
  }

  getMcpToolDefinitions(): McpToolDefinition[] {
    return [
      {
        name: "read-file",
        description: "Reads a text file",
        inputSchema: { type: "object", properties: { path }, required: ["path"], additionalProperties: false },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      {
        name: "write-file",
        description: "Writes a text file; its folder has to be there",
        inputSchema: {
          type: "object",
          properties: { path, content: { type: "string" } },
          required: ["path", "content"],
          additionalProperties: false,
        },
        annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
      },
    ];
  }

  async executeMcpTool(name: string, args: JsonObject): Promise<string> {
    if (name === "read-file") return await this.#read(String(args.path));
    if (name === "write-file") return await this.#write(String(args.path), String(args.content));
    throw unknownTool(name);
  }

  async #read(path: string): Promise<string> {
    const place = await this.#find(path);
    const file = await open(place, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error) => refuse(path, error));
    try {
      const status = await file.stat();
      if (!status.isFile()) throw new Error(`Cannot read "${path}": it is no file`);
      if (status.size > mostBytes) throw new Error(`Cannot read "${path}": it has more than ${mostBytes} bytes`);
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  }

  async #write(path: string, content: string): Promise<string> {
    const bytes = new TextEncoder().encode(content);
    if (bytes.length > mostBytes) throw new Error(`Cannot write "${path}": more than ${mostBytes} bytes`);
    const place = await this.#find(path);
    const flags = constants.O_WRONLY | constants.O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    const file = await open(place, flags, 0o644).catch((error) => refuse(path, error));
    try {
      if (!(await file.stat()).isFile()) throw new Error(`Cannot write "${path}": it is no file`);
      await file.truncate(0);
      await file.writeFile(bytes);
    } finally {
      await file.close();
    }
    return `Wrote ${bytes.length} bytes to ${path}`;
  }

  /** The place of a path, without links in it. */
  async #find(path: string): Promise<string> {
    const parts = path.split(/[\\/]/);
    // A colon names a drive or a stream on Windows.
    if (isAbsolute(path) || parts[0] === "" || parts.includes("..") || /[\0:]/.test(path)) {
      throw new Error(`Cannot use "${path}": expected a relative path without ".."`);
    }
    const root = await realpath(this.#root).catch(() => {
      throw new Error(`Cannot use "${path}": the agent's folder is not there`);
    });
    const wanted = join(root, ...parts);
    const folder = await realpath(dirname(wanted)).catch((error) => refuse(path, error));
    const place = join(folder, parts.filter((part) => part !== "" && part !== ".").at(-1) ?? ".");
    const status = await lstat(place).catch(() => undefined);
    const real = status?.isSymbolicLink() ? await realpath(place).catch((error) => refuse(path, error)) : place;
    if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) {
      throw new Error(`Cannot use "${path}": it leads out of the folder`);
    }
    return real;
  }
}

/** Says what is wrong in words that do not tell where the folder is. */
function refuse(path: string, error: unknown): never {
  const code: unknown = Object(error).code;
  const reason = code === "ENOENT" ? "it is not there" : typeof code === "string" ? code : "it failed";
  throw new Error(`Cannot use "${path}": ${reason}`, { cause: error });
}

await startWhenMain(import.meta, ([root = process.cwd()]) => {
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`"${root}" is no folder`);
  return new FileAgent(root);
});
