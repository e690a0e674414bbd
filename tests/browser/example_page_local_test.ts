/** The page of `examples/browser`, in real Chromium: behind its own content security policy, on another origin than its server. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { startPage } from "../../examples/browser/serve.ts";
import { launchChromium, skip } from "./chromium.ts";

test("the page of examples/browser calls its server, and says when it is gone", { skip }, async () => {
  const { page: host, server, bytes } = await startPage();
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(host.url);
    const output = page.getByRole("status");
    await output.getByText("Connected to sums, 2026-07-28").waitFor();
    await page.getByLabel("First number").fill("20");
    await page.getByLabel("Second number").fill("22");
    await page.getByRole("button").click();
    await output.getByText("20 + 22 = 42").waitFor();
    assert(bytes < 13_500, `${bytes} bytes`);

    await server.close();
    await page.getByRole("button").click();
    await output.getByText(/Error/).waitFor();
    assertStringIncludes(await output.textContent() ?? "", server.url);
    assertEquals(complaints, []);
  } finally {
    await browser.close();
    await Promise.all([host.close(), server.close()]);
  }
});
