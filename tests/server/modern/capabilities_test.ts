import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";
import { all, at, form, question, textOf, tool } from "./support.ts";

describe("what a client cannot be asked", () => {
  const asks: Record<string, (context: RequestContext) => Promise<unknown>> = {
    elicit: ({ elicit }) => elicit(form("?")),
    elicitUrl: ({ elicit }) => elicit({ mode: "url", message: "?", url: "https://a.test/" }),
    sample: ({ sample }) => sample(question),
    sampleWithTools: ({ sample }) => sample({ ...question, tools: [] }),
    roots: ({ roots }) => roots(),
  };
  const cases: [JsonObject, Record<string, JsonObject>][] = [
    [{}, {
      elicit: { elicitation: { form: {} } },
      elicitUrl: { elicitation: { url: {} } },
      sample: { sampling: {} },
      sampleWithTools: { sampling: { tools: {} } },
      roots: { roots: {} },
    }],
    [{ elicitation: {}, sampling: {}, roots: { listChanged: true } }, {
      elicitUrl: { elicitation: { url: {} } },
      sampleWithTools: { sampling: { tools: {} } },
    }],
    [{ elicitation: { url: {} }, sampling: { tools: {} }, roots: {} }, { elicit: { elicitation: { form: {} } } }],
    [all, {}],
    [{ elicitation: true, sampling: "yes", roots: [] } as unknown as JsonObject, {
      elicit: { elicitation: { form: {} } },
      elicitUrl: { elicitation: { url: {} } },
      sample: { sampling: {} },
      sampleWithTools: { sampling: { tools: {} } },
      roots: { roots: {} },
    }],
  ];
  for (const [can, lacking] of cases) {
    test(`with ${JSON.stringify(can)}: -32021, 400, and can() knows (S-010 S-088)`, async () => {
      for (const [what, ask] of Object.entries(asks)) {
        let able: boolean | undefined;
        const bench = tool(async (context) => {
          able = context.can(what as "elicit");
          return await ask(context);
        });
        const requiredCapabilities = lacking[what];
        assertEquals([what, able ?? requiredCapabilities], [what, requiredCapabilities]);
        if (requiredCapabilities) {
          const { code, status, data } = await bench.failure("tools/call", { can });
          assertEquals([what, code, status], [what, -32021, 400]);
          assertEquals(data, { requiredCapabilities });
        } else assertEquals((await bench.result("tools/call", { can })).resultType, "input_required");
        assertEquals(able, requiredCapabilities === undefined);
      }
    });
  }

  test("fails the call also beside a question that could be asked", async () => {
    const bench = tool(({ elicit, sample }) => Promise.all([elicit(form("?")), sample(question)]));
    assertEquals((await bench.failure("tools/call", { can: { elicitation: {} } })).code, -32021);
  });

  test("is the handler's to do without", async () => {
    const bench = tool(async ({ sample }) => {
      return await sample(question).then(({ model }) => model, ({ code }: { code: string }) => code);
    });
    assertEquals(textOf(await bench.result("tools/call")), "missing_capability");
  });

  test("leaves out the context of other servers where the client has none", async () => {
    const bench = tool(({ sample }) => sample({ ...question, includeContext: "allServers" }));
    const without = await bench.result("tools/call", { can: { sampling: {} } });
    assertEquals(at(at(without, "inputRequests"), "sample_1").params, question);
    const within = await bench.result("tools/call", { can: { sampling: { context: {} } } });
    assertEquals(at(at(at(within, "inputRequests"), "sample_1"), "params").includeContext, "allServers");
  });
});
