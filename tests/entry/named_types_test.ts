/**
 * What an entry gives can be named by who imports that entry alone: else `tsc` with `declaration` or `composite` refuses a plain
 * `export const store = createMemoryStore()` (TS2742). To look at the types is the test.
 */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import type * as agent from "../../src/agent/mod.ts";
import type * as auth from "../../src/auth/mod.ts";
import type * as client from "../../src/client/mod.ts";
import type * as gateway from "../../src/hub/gateway/mod.ts";
import type * as hub from "../../src/hub/mod.ts";
import type * as otel from "../../src/otel/mod.ts";
import type * as runner from "../../src/runner/mod.ts";
import type * as server from "../../src/server/mod.ts";

/** The second type is the first one, by the name that the entry has for it. */
type Same<Given, Named> = [Given] extends [Named] ? ([Named] extends [Given] ? true : false) : false;
type Gives<Call extends (...given: never[]) => unknown> = NonNullable<Awaited<ReturnType<Call>>>;

test("what is given has a name in the same entry", () => {
  const named: true[] = [
    true satisfies Same<Gives<client.CoreClient["callTool"]>, client.CallToolResult>,
    true satisfies Same<Gives<client.CoreClient["listTools"]>, client.ListToolsResult>,
    true satisfies Same<Gives<client.CoreClient["request"]>, client.JsonObject>,
    true satisfies Same<Gives<client.Client["readResource"]>, client.ReadResourceResult>,
    true satisfies Same<ReturnType<typeof client.inputFeature>, client.InputAnswers>,
    true satisfies Same<ReturnType<typeof client.mirrorFeature>, client.Mirror>,
    true satisfies Same<Gives<client.Client["getPrompt"]>, client.GetPromptResult>,
    true satisfies Same<NonNullable<client.CoreClient["revision"]>, client.Revision>,
    true satisfies Same<Gives<typeof auth.createMemoryStore>, Required<auth.Store>>,
    true satisfies Same<ReturnType<typeof server.createSocketChannel>, server.Channel>,
    true satisfies Same<ReturnType<typeof gateway.createRelay>["handlers"], gateway.Handlers>,
    true satisfies Same<Gives<hub.Hub["callTool"]>, hub.CallToolResult>,
    true satisfies Same<Gives<hub.Hub["client"]>, hub.Client>,
    true satisfies Same<Gives<ReturnType<typeof hub.authForConfig>>, hub.Authorizer>,
    true satisfies Same<ReturnType<typeof agent.samplingHandler>, agent.SamplingHandler>,
    true satisfies Same<ReturnType<typeof agent.unknownTool>, agent.InvalidParamsError>,
    true satisfies Same<ReturnType<typeof runner.createStrictFetch>, runner.Fetch>,
    true satisfies Same<Gives<runner.ScopedHub["callTool"]>, runner.CallToolResult>,
    true satisfies Same<Gives<typeof otel.activeTrace>, otel.TraceContext>,
    true satisfies Same<ReturnType<typeof otel.traceServer>, otel.Servable>,
  ];
  assertEquals(named.every(Boolean), true);
});
