/** The trace of an agent's run reaches the spans of its tool calls. */
import { after, before, describe, test } from "node:test";
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/mod.ts";
import { activeTrace, openTelemetry } from "../../src/otel/mod.ts";
import { inMemory, openHub } from "../hub/support.ts";
import { call, ScriptedModel } from "../agent/loop/support/scripted.ts";
import { createContextManager, createServer, Sdk } from "./support.ts";

describe("the spans of an agent's calls", () => {
  before(() => void context.setGlobalContextManager(createContextManager()));
  after(() => context.disable());

  test("hang below the span that the agent was started in", async () => {
    const sdk = new Sdk();
    const middleware = [openTelemetry(sdk.providers)];
    await using hub = await openHub({ one: inMemory(createServer()).config }, { middleware });
    const calls = [call("one__echo", { text: "a" }, "a"), call("one__echo", { text: "b" }, "b")];
    const model = new ScriptedModel([{ calls }, { text: "done" }]);
    const agent = new Agent({ model, hub, approve: "allow", trace: activeTrace });
    const span = sdk.tracerProvider.getTracer("test").startSpan("the whole");
    const run = context.with(trace.setSpan(ROOT_CONTEXT, span), () => agent.run("Go"));
    await run.result;
    span.end();
    const { traceId, spanId } = span.spanContext();
    const spans = sdk.named("tools/call echo");
    assertEquals(spans.map((one) => one.spanContext().traceId), [traceId, traceId]);
    assertEquals(spans.map((one) => one.parentSpanContext?.spanId), [spanId, spanId]);
  });

  test("there is nothing to tell outside of a span", () => {
    assertEquals(activeTrace(), undefined);
  });
});
