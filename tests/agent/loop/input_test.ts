import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent, LanguageModelError, samplingHandler } from "../../../src/agent/mod.ts";
import type { AgentAnswer, AgentOptions, AgentQuestion } from "../../../src/agent/mod.ts";
import type { CreateMessageRequest } from "../../../mod.ts";
import { isSensitive } from "../../../src/agent/loop/calls/sensitive.ts";
import { TestJournal } from "./support/journal.ts";
import { gather, openScene } from "./support/scene.ts";
import { call, type Line, ScriptedModel } from "./support/scripted.ts";

const approve = "allow";
const eras = ["modern", "legacy"] as const;

function textsOf(content: readonly { type: string; text?: unknown }[] | undefined): string {
  return content?.map(({ text }) => String(text)).join() ?? "";
}

/** Calls one tool, and tells what it gave, what was asked, and what happened. */
async function callOne(
  era: "modern" | "legacy",
  tool: string,
  parts: {
    readonly options?: Partial<AgentOptions>;
    readonly lines?: readonly Line[];
    readonly answer?: (question: AgentQuestion) => AgentAnswer;
  } = {},
) {
  await using scene = await openScene(era);
  const asked: AgentQuestion[] = [];
  const { lines = [], options, answer } = parts;
  const model = new ScriptedModel([{ calls: [call(`data__${tool}`)] }, ...lines, { text: "done" }]);
  const agent = new Agent({ model, hub: scene.hub, relay: scene.relay, approve, ...options });
  const run = agent.run("Go", {
    questions: answer && ((question) => {
      asked.push(question);
      return answer(question);
    }),
  });
  const events = await gather(run);
  const [observation] = run.observations;
  const end = await run.end;
  return { text: textsOf(observation?.result.content), observation, asked, events, model, scene, end };
}

for (const era of eras) {
  describe(`what a ${era} server asks in a call of an agent`, () => {
    test("a form is filled in by a person, round after round; what was filled in is in no event", async () => {
      const { text, asked, events, scene, observation } = await callOne(era, "register", {
        answer: ({ message }) => ({
          action: "accept",
          content: message.includes("town") ? { town: "York" } : { name: "Ada Lovelace" },
        }),
      });
      assertEquals([text, observation?.outcome], ["Ada Lovelace of York", "ok"]);
      assertEquals(asked.map(({ kind, server, message }) => [kind, server, message]), [
        ["elicitation", "data", "Which name?"],
        ["elicitation", "data", "Which town, Ada Lovelace?"],
      ]);
      assertEquals(scene.ledger, ['register {"name":"Ada Lovelace","town":"York"}']);
      const answered = events.filter(({ type }) => type === "answered");
      assertEquals(answered.length, 2);
      assert(!JSON.stringify(answered).includes("Ada"), "the answer was told");
      const [question] = asked;
      assert(question?.kind === "elicitation" && question.call?.tool === "register");
    });

    test("what does not fit the form is asked for again, and not sent", async () => {
      let count = 0;
      const { text, asked } = await callOne(era, "register", {
        answer: () => ({ action: "accept", content: ++count < 3 ? { name: "x" } : { name: "Bob", town: "Ely" } }),
      });
      // The third one fits, and the second question after it gets what fits it.
      assertEquals([text, asked.length], ["Bob of Ely", 4]);
      assertEquals(new Set(asked.map(({ id }) => id)).size, 4);
      const never = await callOne(era, "register", { answer: () => ({ action: "accept", content: { name: 1 } }) });
      assertEquals([never.text, never.asked.length], ["no name: cancel", 3]);
    });

    test("a no, and nobody to ask, reach the server as such", async () => {
      assertEquals(
        (await callOne(era, "register", { answer: () => ({ action: "decline" }) })).text,
        "no name: decline",
      );
      assertEquals((await callOne(era, "register")).text, "no name: decline");
      assertEquals((await callOne(era, "register", { answer: () => ({ action: "skip" }) })).text, "no name: cancel");
    });

    test("a password is not asked for by a form: it is declined, and nobody is asked", async () => {
      const { text, asked, events } = await callOne(era, "login", {
        answer: () => ({ action: "accept", content: { password: "hunter2" } }),
      });
      assertEquals([text, asked.length], ["password: decline", 0]);
      const told = events.map(({ type }) => type).filter((type) => type === "question" || type === "answered");
      assertEquals(told, ["question", "answered"], "it is told of all the same");
      assert(events.some((event) => event.type === "answered" && event.action === "decline"));
      assert(!JSON.stringify(events).includes("hunter2"));
    });

    test("a page is visited after a yes", async () => {
      const { text, asked } = await callOne(era, "visit", { answer: () => ({ action: "accept" }) });
      assertEquals(text, "visited: accept");
      const [question] = asked;
      assertEquals(question?.kind === "elicitation" && question.request.url, "https://example.com/a");
    });

    test("the model is asked after a person's yes, with the server's words and bounds", async () => {
      const said = { lines: [{ text: "in short", usage: { inputTokens: 100, outputTokens: 50 } }] };
      const { text, asked, model, end } = await callOne(era, "summarize", {
        ...said,
        answer: () => ({ action: "accept" }),
      });
      assertEquals(text, "in short (endTurn, scripted)");
      assertEquals(asked.map(({ kind }) => kind), ["sampling"]);
      assertEquals(model.asked[1]?.messages, [{ role: "system", content: "Be brief" }, {
        role: "user",
        content: "Summarize",
      }]);
      assertEquals(model.asked[1]?.maxOutputTokens, 50);
      assertEquals(end.usage, { inputTokens: 120, outputTokens: 60 });
    });

    test("an answer of the model that cannot be given to the server was paid for all the same", async () => {
      const { observation, end } = await callOne(era, "summarize", {
        lines: [{ calls: [call("x", "{oops")], usage: { inputTokens: 100, outputTokens: 50 } }],
        answer: () => ({ action: "accept" }),
      });
      assertEquals([observation?.outcome, end.type], ["tool_error", "succeeded"]);
      assertEquals(end.usage, { inputTokens: 120, outputTokens: 60 });
    });

    test("sampling is refused where nobody can be asked, by policy, and for servers that are not named", async () => {
      const nobody = await callOne(era, "summarize");
      const policies = await Promise.all([
        callOne(era, "summarize", { options: { sampling: "deny" }, answer: () => ({ action: "accept" }) }),
        callOne(era, "summarize", { options: { sampling: { policy: "allow", servers: ["other"] } } }),
        callOne(era, "summarize", { answer: () => ({ action: "decline" }) }),
      ]);
      for (const { observation, model, end } of [nobody, ...policies]) {
        assert(observation?.outcome === "denied" || observation?.outcome === "tool_error", observation?.outcome);
        assertEquals([observation?.result.isError, model.asked.length, end.type], [true, 2, "succeeded"]);
      }
      const allowed = await callOne(era, "summarize", {
        options: { sampling: { policy: "allow", maxTokens: 7 } },
        lines: [{ text: "cut", reason: "length" }],
      });
      assertEquals([allowed.text, allowed.model.asked[1]?.maxOutputTokens], ["cut (maxTokens, scripted)", 7]);
    });

    test("roots are told", async () => {
      assertEquals(
        (await callOne(era, "look", { options: { roots: [{ uri: "file:///work" }] } })).text,
        "file:///work",
      );
      assertEquals((await callOne(era, "look")).text, "");
    });
  });
}

describe("a run that waits", () => {
  test("in another process it goes on with the answers: a modern server's state is in the journal", async () => {
    await using scene = await openScene("modern");
    const script = new ScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool" ? { text: "done" } : { calls: [call("data__register"), call("data__summarize")] }
    );
    const agent = new Agent({ model: script, hub: scene.hub, relay: scene.relay, approve, sampling: "ask" });
    const journal = new TestJournal();
    const { end } = await journal.run(agent, { input: "Go" }, {
      answer: ({ kind, message }) =>
        kind === "sampling"
          ? { action: "decline" }
          : { action: "accept", content: message.includes("town") ? { town: "Rye" } : { name: "Eve" } },
    });
    assertEquals(end.type, "succeeded");
    assertEquals(scene.ledger, ['register {"name":"Eve","town":"Rye"}']);
    assertEquals(script.asked.length, 2);
    const seen = [...journal.events.values()].flatMap((event) =>
      event.type === "observation" ? [event.observation] : []
    );
    assertEquals(seen.map(({ tool, outcome }) => `${tool} ${outcome}`).sort(), ["register ok", "summarize denied"]);
  });

  test("what the model did not answer stays so in another process, and the run goes on", async () => {
    for (const failure of ["the model", "the question"]) {
      await using scene = await openScene("modern");
      const script = new ScriptedModel(({ messages }) => {
        if (messages[0]?.role === "system") {
          if (failure === "the model") return { error: new LanguageModelError("It is out of order") };
          return { calls: [call("odd", "no object")] };
        }
        const turns = messages.filter(({ role }) => role === "assistant").length;
        return [{ calls: [call("data__summarize")] }, { calls: [call("data__write", { text: "A" })] }][turns] ??
          { text: "done" };
      });
      const readOnly = ["*.summarize"];
      const agent = new Agent({ model: script, hub: scene.hub, relay: scene.relay, sampling: "allow", readOnly });
      const journal = new TestJournal();
      const { end } = await journal.run(agent, { input: "Go" }, { answer: () => ({ action: "accept" }) });
      assertEquals([end.type, scene.ledger], ["succeeded", ['write {"text":"A"}']], failure);
      assertEquals(script.asked.length, 4);
      const seen = [...journal.events.values()].flatMap((event) =>
        event.type === "observation" ? [event.observation] : []
      );
      assertEquals(seen.map(({ tool, outcome }) => `${tool} ${outcome}`), ["summarize tool_error", "write ok"]);
    }
  });

  test("a legacy server's question waits in the process that has the call open", async () => {
    await using scene = await openScene("legacy");
    const script = new ScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool" ? { text: "done" } : { calls: [call("data__register")] }
    );
    const agent = new Agent({ model: script, hub: scene.hub, relay: scene.relay, approve });
    const journal = new TestJournal();
    const answering = setInterval(() => {
      for (const [id, { message }] of journal.questions) {
        const content: Record<string, string> = message.includes("town") ? { town: "Rye" } : { name: "Eve" };
        journal.answers.set(id, { action: "accept", content });
      }
    }, 1);
    const { end } = await journal.run(agent, { input: "Go" });
    clearInterval(answering);
    assertEquals([end.type, scene.ledger], ["succeeded", ['register {"name":"Eve","town":"Rye"}']]);
  });
});

describe("a model that answers what servers sample", () => {
  const context = () => ({ server: "one", signal: new AbortController().signal });
  const user = (
    content: CreateMessageRequest["messages"][number]["content"],
  ): CreateMessageRequest["messages"][number] => ({
    role: "user",
    content,
  });

  test("is given texts, pictures, tools and their results; why it stopped is said in the protocol's words", async () => {
    const model = new ScriptedModel([{ text: "so", calls: [call("look", { at: 1 })] }]);
    const tools = [{ name: "look", inputSchema: { type: "object" } }];
    const picture = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
    const answer = await samplingHandler(model)({
      messages: [
        user([{ type: "text", text: "See" }, picture]),
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "look", input: {} }] },
        user([{ type: "tool_result", toolUseId: "t", content: [{ type: "text", text: "it" }] }]),
      ],
      maxTokens: 9_000,
      tools,
      toolChoice: { mode: "required" },
      temperature: 0.5,
      stopSequences: ["."],
    }, context());
    assertEquals(answer, {
      role: "assistant",
      content: [{ type: "text", text: "so" }, { type: "tool_use", id: "look", name: "look", input: { at: 1 } }],
      model: "scripted",
      stopReason: "toolUse",
    });
    assertEquals(model.asked[0], {
      messages: [
        { role: "user", content: [{ type: "text", text: "See" }, picture] },
        { role: "assistant", content: "", toolCalls: [{ id: "t", name: "look", arguments: {} }] },
        { role: "tool", id: "t", name: "look", result: { content: [{ type: "text", text: "it" }] } },
      ],
      maxOutputTokens: 4_096,
      temperature: 0.5,
      stopSequences: ["."],
      tools: [{ name: "look", description: "look", inputSchema: { type: "object" } }],
      toolChoice: "required",
    });
  });

  test("maps each reason", async () => {
    const reasons = [["stop", "endTurn"], ["length", "maxTokens"], ["content_filter", "contentFilter"], [
      "other",
      "other",
    ]];
    for (const [reason, expected] of reasons) {
      const model = new ScriptedModel([{ text: "a", reason: reason as "stop" }]);
      const answer = await samplingHandler(model)(
        { messages: [user({ type: "text", text: "Hi" })], maxTokens: 1 },
        context(),
      );
      assertEquals(answer?.stopReason, expected);
    }
  });
});

describe("a form that asks for a secret", () => {
  const asks = (name: string, title?: string) =>
    isSensitive({
      message: "",
      requestedSchema: { type: "object", properties: { [name]: { type: "string", ...(title && { title }) } } },
    });

  test("is known by the name or title of a field, however that is written", () => {
    const secrets = [
      ...["password", "newPassword", "user_password", "PASSWORD2", "password1", "userpassword", "passphrases", "cvv2"],
      ...["apiKey", "API-KEY", "api.key", "one-time code", "card number", "pin"],
      ...["2FA", "2FA code", "2faCode", "MFACode", "OTPCode", "PINCode", "IBANNumber", "PASSword"],
      // Letters of full width, and such as nobody sees.
      ...["\uff50assword", "pass\u200bword", "p\u00adassword", "to\u2060tp", "\u{1d429}assword"],
      // Letters of other scripts that look like Latin ones, and such with accents.
      ...[
        "\u0440\u0430ssw\u043erd",
        "\u0420\u0410SSWORD",
        "\u0440\u0430\u0455\u0455\u051d\u043e\u0433\u0501",
        "\u03c1assw\u03bfrd",
        "p\u00e1ssword",
      ],
      ...[
        "\u0430\u0440\u0456 \u043a\u0435\u0443",
        "\u0421V\u0421",
        "acc\u0435ss t\u043eken",
        "\u0399BAN",
        "pass\u200bw\u00f6rd",
      ],
    ];
    assertEquals(secrets.filter((name) => !asks(name)), []);
    assertEquals(secrets.filter((name) => !asks("field", name)), []);
  });

  test("is not every form", () => {
    const plain = [
      "name",
      "email",
      "bypass code",
      "passenger",
      "compass",
      "keyboard",
      "pinned",
      "spin",
      "opinion",
      "tokenizer",
      "\u0438\u043c\u044f",
      "\u043f\u0430\u0441\u043f\u043e\u0440\u0442",
      "\u03cc\u03bd\u03bf\u03bc\u03b1",
      "\u540d\u524d",
    ];
    assertEquals(plain.filter((name) => asks(name)), []);
  });
});
