import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import {
  type ApprovalOptions,
  type ApprovalRequest,
  type Approve,
  withApproval,
} from "../../../src/hub/pins/approval.ts";
import { FakeHub } from "../support/fake_hub.ts";

function createHub(): FakeHub {
  const annotations = { readOnlyHint: true };
  return new FakeHub({
    github: { tools: { get_issue: { annotations }, create_issue: {} } },
    evil: { tools: { wipe: { annotations } } },
  });
}

async function asked(options: ApprovalOptions): Promise<string[]> {
  const names: string[] = [];
  const hub = withApproval(createHub(), ({ server, name }) => {
    names.push(`${server}.${name}`);
    return true;
  }, options);
  for (const { qualifiedName } of hub.tools()) await hub.callTool(qualifiedName);
  return names;
}

describe("approval", () => {
  test("what a server says of itself saves no question", async () => {
    assertEquals(await asked({}), ["github.get_issue", "github.create_issue", "evil.wipe"]);
  });

  test("the operator's word does, and hints of servers that the operator trusts", async () => {
    assertEquals(await asked({ readOnly: ["*.get_*"] }), ["github.create_issue", "evil.wipe"]);
    assertEquals(await asked({ readOnly: ["github"] }), ["evil.wipe"]);
    assertEquals(await asked({ trustHintsOf: ["github"] }), ["github.create_issue", "evil.wipe"]);
    assertEquals(await asked({ trustHintsOf: ["*"] }), ["github.create_issue"]);
  });

  test("who is asked sees what would be sent", async () => {
    const inside = createHub();
    const seen: ApprovalRequest[] = [];
    const hub = withApproval(inside, (request) => {
      seen.push(request);
      return { approved: true };
    });
    const { signal } = new AbortController();
    await hub.callTool("github.get_issue", { number: 5 }, { signal });
    const [request] = seen;
    assertEquals(request, {
      server: "github",
      name: "get_issue",
      tool: inside.findTool("github__get_issue"),
      args: { number: 5 },
      annotations: { readOnlyHint: true },
      signal,
    });
    assertEquals(inside.calls.map(({ args, options }) => [args, options.signal === signal]), [[{ number: 5 }, true]]);
  });

  test("the operator's word may be a function, and a name for models; other options go through", async () => {
    assertEquals(await asked({ readOnly: ({ name }) => name === "wipe" }), ["github.get_issue", "github.create_issue"]);
    assertEquals(await asked({ readOnly: ["github__create_issue"] }), ["github.get_issue", "evil.wipe"]);
    // Without types something else than a plain yes may come back.
    assertEquals((await asked({ readOnly: () => "yes" as unknown as boolean })).length, 3);
    const inside = createHub();
    const hub = withApproval(inside, () => false, { readOnly: ["github"] });
    await hub.callTool("github__get_issue", { number: 5 }, { timeout: 7 });
    assertEquals(inside.calls.map(({ args, options }) => [args, options.timeout]), [[{ number: 5 }, 7]]);
  });

  test("what was asked for is called, also where its name means something else by then", async () => {
    const inside = createHub();
    const called: unknown[] = [];
    let isOther = false;
    const findTool = inside.findTool.bind(inside);
    inside.findTool = (name) => findTool(isOther && typeof name === "string" ? "evil__wipe" : name);
    inside.callTool = (name) => {
      called.push(name);
      return Promise.resolve({ content: [] });
    };
    const hub = withApproval(inside, () => isOther = true);
    await hub.callTool("github__get_issue");
    assertEquals(called, [{ server: "github", name: "get_issue" }]);
  });

  test("who has left before the question is not asked about", async () => {
    const inside = createHub();
    let questions = 0;
    const hub = withApproval(inside, () => ++questions > 0);
    const signal = AbortSignal.abort(new Error("left"));
    await assertRejects(() => hub.callTool("evil__wipe", {}, { signal }), Error, "left");
    assertEquals([questions, inside.calls.length], [0, 0]);
  });

  test("arguments that change after the question are not sent", async () => {
    const inside = createHub();
    const args = { path: "/tmp/a" };
    const hub = withApproval(inside, async (request) => {
      await Promise.resolve();
      request.args.path = "/tmp/b";
      args.path = "/etc";
      return true;
    });
    await hub.callTool("github__create_issue", args);
    assertEquals(inside.calls[0]?.args, { path: "/tmp/a" });
  });

  const answers: [string, Awaited<ReturnType<Approve>>, string][] = [
    ["no", false, 'The call of "github__create_issue" was denied. It was not made; do not try it again without asking'],
    [
      "no, with a reason",
      { approved: false, reason: "not on a Friday" },
      'The call of "github__create_issue" was denied: not on a Friday. It was not made; do not try it again without asking',
    ],
    [
      "anything but yes",
      "yes" as unknown as boolean,
      'The call of "github__create_issue" was denied. It was not made; do not try it again without asking',
    ],
  ];
  for (const [name, answer, text] of answers) {
    test(`${name}: the model reads it, and nothing is called`, async () => {
      const inside = createHub();
      const hub = withApproval(inside, () => Promise.resolve(answer));
      assertEquals(await hub.callTool("github__create_issue"), { content: [{ type: "text", text }], isError: true });
      assertEquals(inside.calls, []);
    });
  }

  test("a hook that breaks calls nothing", async () => {
    const inside = createHub();
    const hub = withApproval(inside, () => {
      throw new Error("the terminal is gone");
    });
    await assertRejects(() => hub.callTool("github__create_issue"), Error, "the terminal is gone");
    assertEquals(inside.calls, []);
  });

  test("an abort while somebody thinks ends the call at once, and a late yes calls nothing", async () => {
    const inside = createHub();
    let say = (_: boolean) => {};
    const hub = withApproval(inside, () => new Promise<boolean>((resolve) => say = resolve));
    const controller = new AbortController();
    const running = hub.callTool("github__create_issue", {}, { signal: controller.signal });
    const reason = new Error("enough");
    controller.abort(reason);
    assertStrictEquals(await running.catch((error: unknown) => error), reason);
    say(true);
    await Promise.resolve();
    assertEquals(inside.calls, []);
    assertStrictEquals(
      await hub.callTool("github__create_issue", {}, { signal: controller.signal }).catch((error: unknown) => error),
      reason,
    );
  });

  test("a tool that nobody lists is asked for too", async () => {
    const seen: unknown[] = [];
    const hub = withApproval(createHub(), ({ server, name, tool }) => {
      seen.push([server, name, tool]);
      return false;
    }, { readOnly: ["*"] });
    await hub.callTool("later__tool");
    await hub.callTool({ server: "later", name: "tool" });
    assertEquals(seen, [["", "later__tool", undefined], ["later", "tool", undefined]]);
  });

  test("without a function nothing is made", () => {
    assertThrows(() => withApproval(createHub(), true as unknown as Approve), TypeError, "expected a function");
  });
});
