/**
 * Replies of the API in which each text is a hostile one, as servers could have made them.
 *
 * @module
 */
import type { Intercept } from "./support.ts";

/** The run whose events are poisoned. */
export const poisonedRun = "run-poisoned";
/** The tool whose schema is poisoned, and whose result is. */
export const poisonedTool = "evil__all";

/** Answers with hostile texts where servers, models and callers have a word. */
export function poison(texts: readonly string[]): Intercept {
  return (request) => {
    const { pathname } = new URL(request.url);
    const { method } = request;
    const reply = (body: object): Response => Response.json(body);
    if (pathname === "/api/tools" && method === "GET") {
      return reply({ tools: [everyTool(texts), ...texts.map(toolOf)] });
    }
    if (pathname.startsWith("/api/tools/") && method === "POST") {
      return events([...texts.map(progressOf), ["result", resultOf(texts)]]);
    }
    if (pathname === "/api/servers" && method === "GET") return reply({ servers: texts.map(serverOf) });
    if (pathname === "/api/servers/server-0") return reply({ name: "server-0", instructions: texts.join("\n") });
    if (pathname === "/api/servers/server-0/events") {
      return events(texts.map((data) => ["log", { level: "info", data }]));
    }
    if (pathname === "/api/approvals") return reply({ approvals: texts.map(approvalOf) });
    if (pathname === "/api/resources") return reply({ resources: texts.map(resourceOf), templates: [] });
    if (pathname === "/api/resources/read") {
      return reply({ contents: texts.map((text) => ({ uri: text, mimeType: text, text })) });
    }
    if (pathname === "/api/prompts") return reply({ prompts: texts.map(promptOf) });
    if (pathname.startsWith("/api/prompts/")) {
      return reply({
        description: texts[0],
        messages: texts.map((text) => ({ role: "user", content: { type: "text", text } })),
      });
    }
    if (pathname === "/api/agents") return reply({ agents: [{ name: texts[0], description: texts[1] }] });
    if (pathname === "/api/runs") {
      return reply({ runs: texts.map((agent, at) => ({ ...runOf(), id: `run-${at}`, agent })) });
    }
    if (pathname === `/api/runs/${poisonedRun}`) return reply(runOf());
    if (pathname === `/api/runs/${poisonedRun}/events`) return events(runEvents(texts));
    return undefined;
  };
}

function events(list: readonly (readonly [string, object])[]): Response {
  const text = list.map(([event, data], at) => `id: ${at + 1}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
}

function toolOf(text: string, at: number): object {
  const icons = [{ src: text }, { src: `data:image/svg+xml;base64,${btoa("<svg onload='alert(1)'/>")}` }];
  return {
    name: `evil__${at}`,
    server: "evil",
    approval: false,
    tool: { name: text, title: text, description: text, icons, inputSchema: { type: "object" } },
  };
}

function everyTool(texts: readonly string[]): object {
  const properties = texts.map((text) =>
    [text, { type: "string", title: `${text} `, description: text, default: text }] as const
  );
  const choices = ["every choice", { type: "string", enum: texts }] as const;
  const inputSchema = { type: "object", properties: Object.fromEntries([...properties, choices]) };
  return {
    name: poisonedTool,
    server: "evil",
    approval: false,
    tool: { name: "all", title: "All", description: "", icons: [{ src: texts[0] }], inputSchema },
  };
}

function progressOf(message: string): readonly [string, object] {
  return ["progress", { progress: 1, total: 2, message }];
}

function resultOf(texts: readonly string[]): object {
  return {
    isError: true,
    content: texts.flatMap((text) => [
      { type: "text", text },
      { type: "resource_link", uri: text, name: text, title: text, description: text, mimeType: text },
      { type: "resource", resource: { uri: text, mimeType: text, text } },
      { type: "image", data: text, mimeType: text },
      { type: text, data: text },
    ]).slice(0, 500),
    structuredContent: { texts },
  };
}

function serverOf(text: string, at: number): object {
  return {
    name: `server-${at}`,
    state: "failed",
    tools: 0,
    resources: 0,
    prompts: 0,
    added: false,
    lastError: { name: text, message: text },
  };
}

function approvalOf(text: string, at: number): object {
  return {
    id: `approval-${at}`,
    principal: text,
    server: text,
    tool: text,
    arguments: { text },
    argumentsHash: text,
    toolHash: text,
    expiresAt: Date.now() + 600_000,
  };
}

function resourceOf(text: string): object {
  return { server: text, resource: { uri: text, name: text, title: text, description: text, mimeType: text } };
}

function promptOf(text: string): object {
  return {
    name: text,
    server: text,
    prompt: { name: text, description: text, arguments: [{ name: text, description: text }] },
  };
}

function runOf(): object {
  return {
    id: poisonedRun,
    agent: "assistant",
    principal: "ada",
    state: "running",
    createdAt: Date.now(),
    updatedAt: Date.now(),
    steps: 1,
    usage: {},
    questions: [],
    unknown: [],
  };
}

/** Each event that a run can tell, for each text. */
function runEvents(texts: readonly string[]): readonly (readonly [string, object])[] {
  const list = texts.flatMap((text, at): object[] => {
    const call = {
      id: `call-${at}`,
      server: text,
      tool: text,
      name: text,
      arguments: { text },
      argumentsHash: text,
      hidden: [text],
    };
    const shared = { server: text, message: text, askedAt: 0 };
    return [
      { type: "step", step: at + 1 },
      { type: "text", step: at + 1, text },
      { type: "reasoning", step: at + 1, text },
      { type: "restarted", step: at + 1, reason: text },
      { type: "tool_call", step: at + 1, call },
      { type: "progress", step: at + 1, id: call.id, progress: 1, message: text },
      {
        type: "observation",
        observation: {
          ...call,
          step: at + 1,
          at: 0,
          took: 1,
          outcome: text,
          validation: text,
          size: 1,
          provenance: { serverInfo: { name: text, version: text } },
          result: { content: [{ type: "text", text }] },
        },
      },
      { type: "question", question: { ...shared, id: `approval-${at}`, kind: "approval", call } },
      {
        type: "question",
        question: {
          ...shared,
          id: `form-${at}`,
          kind: "elicitation",
          message: `${text}.`,
          request: {
            message: text,
            requestedSchema: {
              type: "object",
              properties: { field: { type: "string", title: text, description: text } },
            },
          },
        },
      },
      {
        type: "question",
        question: {
          ...shared,
          id: `url-${at}`,
          kind: "elicitation",
          request: { mode: "url", message: text, url: text },
        },
      },
      { type: "question", question: { ...shared, id: `sampling-${at}`, kind: "sampling", request: { text } } },
    ];
  });
  const all = [...list, { type: "failed", error: { code: texts[0], message: texts[1] }, usage: {}, steps: 1 }];
  return all.map((event, at) => [String((event as { type: string }).type), { sequence: at + 1, at: 0, event }]);
}
