import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { discoverConfigs } from "../../../src/hub/config/mod.ts";
import { readConfigFile } from "../../../src/runtime/config_file.ts";
import { samples } from "./samples.ts";

describe("discovery on a real disk", () => {
  test("files are found; folders in their place, files that are too large and bytes that are no text are told", async () => {
    const root = mkdtempSync(join(tmpdir(), "causeway-discover-"));
    const write = (path: string, content: string | Uint8Array): void => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), content);
    };
    try {
      write("app/.vscode/mcp.json", samples["VS Code"] ?? "");
      write("app/.mcp.json", `{ "mcpServers": {} } //${" ".repeat(1024 * 1024)}`);
      mkdirSync(join(root, "app", "causeway.json"));
      write("home/.cursor/mcp.json", new Uint8Array([0x7b, 0xff, 0x7d]));
      write("home/.codeium/windsurf/mcp_config.json", samples.Windsurf ?? "");
      const { files, problems } = await discoverConfigs({
        folder: join(root, "app"),
        home: join(root, "home"),
        platform: "linux",
        environment: {},
        read: readConfigFile,
      });
      const unreadable = problems.filter(({ code }) => code === "unreadable");
      assertEquals(unreadable.map(({ message }) => message.slice(root.length)), [
        "/app/causeway.json: it cannot be read: it is a folder",
        "/app/.mcp.json: it cannot be read: it has more than 1048576 bytes",
        "/home/.cursor/mcp.json: it cannot be read: it is no UTF-8: save it as such",
      ]);
      assertEquals(files.map(({ client, names }) => [client, names.length]), [
        ["Causeway", 0],
        ["Claude Code", 0],
        ["VS Code", 3],
        ["Cursor", 0],
        ["Windsurf", 2],
      ]);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
