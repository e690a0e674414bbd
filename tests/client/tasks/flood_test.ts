/**
 * Tasks that ask for very much at once.
 */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { ProtocolViolationError } from "../../../mod.ts";
import type { JsonObject } from "../../../mod.ts";
import type { VirtualClock } from "../../support/virtual_clock.ts";
import { asks, away, done, scripted } from "./script.ts";
import type { Setup } from "./script.ts";

const keysOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `q${at}`);

describe("a task that asks for very much", () => {
  test("of more than a thousand things at once nobody is asked for any, as in a round of a call", async () => {
    let asked = 0;
    const elicitation = () => {
      asked++;
      return { action: "cancel" } as const;
    };
    const { clock, client } = await scripted({
      "tasks/get": () => asks(...keysOf(1_001)),
      "tasks/update": () => ({}),
      "tasks/cancel": () => ({}),
    }, { handlers: { elicitation } });
    const call = assertRejects(() => client.callTool("any"), ProtocolViolationError, "more than 1,000");
    await clock.until(call);
    assertEquals(asked, 0);
    await client.close();
  });

  test("a thousand answers at once are no thousand requests at once, and each is given once", async () => {
    const given: string[] = [];
    let sending = 0;
    let most = 0;
    const { clock, client }: Setup = await scripted({
      "tasks/get": () => stillAsked(1_000, given),
      async "tasks/update"({ inputResponses }) {
        most = Math.max(most, ++sending);
        await wait(clock, 50);
        sending--;
        given.push(...Object.keys(inputResponses as JsonObject));
        return {};
      },
    }, { handlers: { elicitation: () => ({ action: "accept", content: {} }) } });
    await clock.until(client.callTool("any"));
    assertEquals([most, given.length, new Set(given).size], [100, 1_000, 1_000]);
    await client.close();
  });

  test("what waits while others are on their way is not counted as lost: a slow server that is away once has all in the end", async () => {
    const given = new Set<string>();
    const slow = 20_000;
    let asked = 0;
    // A hundred at once, then one each second.
    const elicitation = async () => {
      await wait(clock, 1_000 * Math.max(++asked - 100, 0));
      return { action: "accept", content: {} } as const;
    };
    const { clock, client }: Setup = await scripted({
      "tasks/get": () => stillAsked(150, [...given]),
      async "tasks/update"({ inputResponses }) {
        const came = clock.monotonic();
        await wait(clock, slow);
        if (came < slow) throw away;
        for (const key in inputResponses as JsonObject) given.add(key);
        return {};
      },
    }, { handlers: { elicitation } });
    await clock.until(client.callTool("any"));
    assertEquals(given.size, 150);
    await client.close();
  });
});

/** The task, which asks for what was not given yet. */
function stillAsked(count: number, given: readonly string[]): JsonObject {
  const open = keysOf(count).filter((key) => !given.includes(key));
  return open.length > 0 ? asks(...open) : done();
}

function wait(clock: VirtualClock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => void clock.schedule(resolve, milliseconds));
}
