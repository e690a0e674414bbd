/**
 * Real Chromium for a test: where it is, and how it is started without any traffic of its own.
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import type { Browser } from "playwright-core";
import { nodePath, packagesInstalled } from "../../tools/programs.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const path = process.env["CHROMIUM_PATH"] ?? found();

/**
 * Why there is no browser test here; false when there is. One runtime is enough, as the page is the same: Node, else Bun.
 * With `CI=true` a missing Chromium is a failure.
 */
export const skip: string | false = !packagesInstalled()
  ? "playwright-core and esbuild are not installed"
  : !drives()
  ? "Node drives the browser; the page is the same"
  : path === undefined && process.env["CI"] !== "true"
  ? "there is no Chromium (apt-get install chromium, or set CHROMIUM_PATH)"
  : false;

/** Starts it with a new, empty profile. */
export async function launchChromium(): Promise<Browser> {
  if (path === undefined) throw new Error("There is no Chromium: apt-get install chromium, or set CHROMIUM_PATH");
  const { chromium } = await import("playwright-core");
  return await chromium.launch({
    executablePath: path,
    headless: true,
    timeout: 20_000,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
}

function drives(): boolean {
  if ("Deno" in globalThis) return false;
  return !("Bun" in globalThis) || nodePath() === undefined;
}

function found(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
}
