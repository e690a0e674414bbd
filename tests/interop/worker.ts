/**
 * A Worker that uses the client: `POST /` with `{ url, era }` runs one session and answers with all that it saw, as JSON.
 */
import { connect } from "../../src/entry/workers.ts";
import type { Client } from "../../src/entry/workers.ts";

/** What the Worker is asked to do: which server, and which of the two programs. */
export interface Job {
  readonly url: string;
  readonly program: "everything" | "sdk";
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { url, program }: Job = await request.json();
    const asked: (string | undefined)[] = [];
    await using client = await connect(url, {
      handlers: {
        elicitation: ({ message }) => {
          asked.push(message);
          return { action: "accept", content: { name: "Worker" } };
        },
        sampling: () => ({ role: "assistant", content: { type: "text", text: "from the edge" }, model: "edge" }),
      },
    });
    const seen = program === "everything" ? await everything(client) : await sdk(client);
    return Response.json({ era: client.era, asked, ...seen });
  },
};

async function everything(client: Client): Promise<object> {
  const { tools } = await client.listTools();
  const progress: number[] = [];
  const long = { duration: 0.05, steps: 3 };
  await client.callTool("trigger-long-running-operation", long, {
    onProgress: (at) => void progress.push(at.progress),
  });
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const sums = await Promise.all(numbers.map((a) => client.callTool("get-sum", { a, b: 1 })));
  const controller = new AbortController();
  const called = client.callTool("trigger-long-running-operation", { duration: 2, steps: 100 }, {
    signal: controller.signal,
    onProgress: () => controller.abort("called off"),
  });
  const prompt = { type: "ref/prompt" as const, name: "completable-prompt" };
  return {
    tools: tools.length,
    progress,
    sums: sums.map(({ content }) => content[0]?.type === "text" && content[0].text),
    aborted: await called.catch((error: unknown) => error),
    structured: (await client.callTool("get-structured-content", { location: "New York" })).structuredContent,
    elicited: await client.callTool("trigger-elicitation-request"),
    sampled: await client.callTool("trigger-sampling-request", { prompt: "x" }),
    contents: (await client.readResource("demo://resource/dynamic/text/1")).contents.length,
    completed: (await client.complete(prompt, { name: "department", value: "M" })).completion.values,
  };
}

async function sdk(client: Client): Promise<object> {
  const { tools } = await client.listTools();
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const sums = await Promise.all(numbers.map((a) => client.callTool("add", { a, b: 1 })));
  const changes = client.listen({ tools: true, resourceUris: ["note://watched"] });
  await changes.acknowledged;
  await client.callTool("touch");
  const heard = [(await changes.next()).value, (await changes.next()).value];
  changes.close();
  return {
    tools: tools.map(({ name }) => name),
    sums: sums.map(({ structuredContent }) => structuredContent),
    region: await client.callTool("region", { region: "Zürich", query: "q" }),
    booked: await client.callTool("book"),
    heard,
  };
}
