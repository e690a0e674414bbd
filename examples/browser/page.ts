/** What runs in the page: one connection to an MCP server on another origin, and a call for each time that the form is sent. */
import { connect } from "@causeway/mcp/client";

const form = document.querySelector("form")!;
const output = document.querySelector("output")!;
const server = document.documentElement.dataset.server!;

try {
  // The smallest client: HTTP and tools. What else it can do is passed in (`features`), or is in `@causeway/mcp`.
  const client = await connect(server);
  output.textContent = `Connected to ${client.info?.server?.name}, ${client.revision}`;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { a, b } = Object.fromEntries(new FormData(form));
    try {
      const { content, isError } = await client.callTool("add", { a: Number(a), b: Number(b) }, { timeout: 5_000 });
      const [answer] = content;
      output.textContent = `${isError ? "It failed: " : ""}${answer?.type === "text" ? answer.text : ""}`;
    } catch (error) {
      output.textContent = String(error);
    }
  });
} catch (error) {
  // The server is down, or does not allow this page's origin: the message says which it may be.
  output.textContent = String(error);
}
