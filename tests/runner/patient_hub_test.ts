/** Calls of many runs, which wait for their turn at a server. */
import { assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { PatientHub } from "../../src/runner/tenants/patient_hub.ts";
import { FakeHub } from "../hub/support/fake_hub.ts";
import { gate } from "../server/http/support.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

const done = { content: [] };

/** A hub whose server `slow` answers when it is let, and a hub for runs around it. */
function open() {
  const answer = gate<void>();
  const slow = { run: () => answer.promise.then(() => done) };
  const hub = new FakeHub({ slow: { tools: { wait: slow } }, quick: { tools: { look: {} } } });
  return { hub, patient: new PatientHub(hub, new VirtualClock()), answer: () => answer.open() };
}

/** Lets what can go on do so. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await Promise.resolve();
}

describe("calls of many runs", () => {
  it("wait for their turn at a server, and hold up none at another one", async () => {
    const { hub, patient, answer } = open();
    const calls = Array.from({ length: 70 }, () => patient.callTool("slow__wait"));
    await settle();
    assertEquals(hub.calls.length, 64);
    const others = [patient.callTool("quick__look"), patient.callTool({ server: "quick", name: "look" })];
    await settle();
    assertEquals(hub.calls.filter(({ server }) => server === "quick").length, 2);
    answer();
    await Promise.all([...calls, ...others]);
    assertEquals(hub.calls.filter(({ server }) => server === "slow").length, 70);
  });

  it("have one turn at a server, by whichever name they call its tool", async () => {
    const { hub, patient, answer } = open();
    const names = ["slow__wait", { server: "slow", name: "wait" }];
    const calls = Array.from({ length: 70 }, (_, at) => patient.callTool(names[at % 2] ?? ""));
    await settle();
    assertEquals(hub.calls.length, 64);
    answer();
    await Promise.all(calls);
  });
});
