/** Agents as models, asked by the clients that others wrote. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import OpenAI from "openai";
import { Agent, ApiAgent, createModelHandler } from "../../src/agent/mod.ts";
import { LanguageModelError } from "../../src/agent/model/seam.ts";
import { call, type Line, ScriptedModel } from "./loop/support/scripted.ts";

const messages = [{ role: "user" as const, content: "Go" }];

/** The official client at an agent, with its own rule of when to ask again. */
function clientOf(agent: ApiAgent | Agent): OpenAI {
  const handler = createModelHandler(agent);
  const ask = async (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    await handler(new Request(input, init));
  return new OpenAI({ baseURL: "http://localhost/v1", apiKey: "none", fetch: ask });
}

describe("the openai package asks no second time for what an agent may have done", () => {
  const failure: Line = { error: new LanguageModelError("out of credit", { status: 402 }) };

  for (const stream of [false, true]) {
    test(`a run that fails behind a call (${stream ? "streamed" : "whole"})`, async () => {
      let paid = 0;
      const pay = { name: "pay", description: "Pays", run: () => `${++paid}` };
      const model = new ScriptedModel((_, count) =>
        count % 2 === 1 ? { calls: [call("pay", {}, `${count}`)] } : failure
      );
      const agent = new Agent({ model, name: "payer", tools: [pay], approve: "allow" });
      const asked = clientOf(agent).chat.completions.create({ model: agent.getModelId(), messages, stream });
      const error = await assertRejects(() => Promise.resolve(asked), OpenAI.APIError) as InstanceType<
        typeof OpenAI.APIError
      >;
      assertEquals([error.status, paid], [502, 1]);
    });
  }

  test("an agent that fails in a way that it does not say", async () => {
    let asked = 0;
    class Broken extends ApiAgent {
      respond(): never {
        asked++;
        throw new Error("after the payment");
      }
    }
    const agent = new Broken();
    const asking = clientOf(agent).chat.completions.create({ model: agent.getModelId(), messages });
    const error = await assertRejects(() => Promise.resolve(asking), OpenAI.APIError) as InstanceType<
      typeof OpenAI.APIError
    >;
    assertEquals([error.status, asked], [500, 1]);
  });
});
