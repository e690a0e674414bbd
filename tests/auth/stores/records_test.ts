/** Records of sign-ins that are not as they were written, and stores that say null. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { AuthorizationError } from "../../../mod.ts";
import type { Store } from "../../../src/ports.ts";
import type { JsonValue } from "../../../src/protocol/json_rpc.ts";
import { createParty } from "../sign_in/parties.ts";
import { resourceUrl } from "../world/world.ts";

/** What may stand in the place of a field. */
const strange: readonly JsonValue[] = [null, 5, true, [], [null], {}, { clientId: 5 }];

/** A store in memory that tells its texts. */
function createOpenStore(nothing?: null): { store: Required<Store>; texts: Map<string, string> } {
  const texts = new Map<string, string>();
  const put = (key: string, value: string | undefined): void =>
    void (value === undefined ? texts.delete(key) : texts.set(key, value));
  return {
    texts,
    store: {
      get: (key) => Promise.resolve(texts.get(key) ?? nothing as unknown as undefined),
      set: (key, value) => Promise.resolve(put(key, value)),
      delete: (key) => Promise.resolve(put(key, undefined)),
      compareAndSet: (key, expected, value) => {
        const isSame = texts.get(key) === expected;
        if (isSame) put(key, value);
        return Promise.resolve(isSame);
      },
    },
  };
}

/** The same record, each field once with something else in it. */
function damaged(text: string): string[] {
  const record = JSON.parse(text);
  return Object.keys(record).flatMap((field) => strange.map((value) => JSON.stringify({ ...record, [field]: value })));
}

describe("a record of a sign-in that somebody has changed", () => {
  for (const kind of ["server", "tokens", "client"]) {
    test(`(${kind}) is none, or is used: it breaks nothing`, async () => {
      const { store, texts } = createOpenStore();
      const { world, oauth, another, open } = await createParty({ store });
      await oauth.signIn(resourceUrl);
      const key = [...texts.keys()].find((name) => name.startsWith(`oauth.${kind}.`)) ?? "";
      const good = new Map(texts);
      for (const text of damaged(texts.get(key) ?? "")) {
        for (const [name, value] of good) texts.set(name, value);
        texts.set(key, text);
        const failed = (error: unknown): void => assert(error instanceof AuthorizationError, `${text}: ${error}`);
        await another().status(resourceUrl).catch(failed);
        // So that they have to be renewed.
        await world.clock.advance(3_600_000);
        await open({}, another()).then((client) => client.close(), failed);
      }
      texts.set(key, JSON.stringify({ ...JSON.parse(good.get(key) ?? ""), metadata: null, refreshToken: 5 }));
      await another().signOut(resourceUrl);
    });
  }

  test("(pending) is none", async () => {
    const { store, texts } = createOpenStore();
    const { world, another } = await createParty({ store });
    const { pending, authorizationUrl } = await another().begin(resourceUrl);
    const good = texts.get(pending.id) ?? "";
    const callback = await world.person.follow(authorizationUrl);
    const record = JSON.parse(good);
    for (const field of ["metadata", "client", "server", "redirectUri", "scopes", "expiresAt"]) {
      for (const value of strange) {
        if (field === "expiresAt" && value === 5 || field === "scopes" && JSON.stringify(value) === "[]") continue;
        texts.set(pending.id, JSON.stringify({ ...record, [field]: value }));
        await assertRejects(() => another().finishAuth(callback), AuthorizationError, "nobody waits");
      }
    }
    texts.set(pending.id, good);
    assertEquals((await another().finishAuth(callback)).server, resourceUrl);
  });

  test("(index) loses none of the others, and is whole again afterwards", async () => {
    const { store, texts } = createOpenStore();
    const { world, another } = await createParty({ store });
    const first = await another().begin(resourceUrl);
    const [key = "", good = ""] = [...texts].find(([name]) => name.startsWith("oauth.index.")) ?? [];
    const { list } = JSON.parse(good);
    const damages = ["", "{", "null", "{}", '{"list":5}', JSON.stringify({ list: [null, 5, {}, ...list] })];
    for (const text of damages) {
      texts.set(key, text);
      const { pending } = await another().begin(resourceUrl);
      const kept: readonly { readonly key: string }[] = JSON.parse(texts.get(key) ?? "").list;
      assertEquals(kept.at(-1)?.key, pending.id, text);
      assertEquals(kept.some((one) => one.key === first.pending.id), text.includes(first.pending.id), text);
    }
    await world.clock.advance(600_001);
    const { pending } = await another().begin(resourceUrl);
    assertEquals(texts.has(first.pending.id), false);
    assertEquals(JSON.parse(texts.get(key) ?? "").list.map(({ key }: { key: string }) => key), [pending.id]);
  });
});

test("a store that says null where there is nothing has nothing", async () => {
  const { store } = createOpenStore(null);
  const logs: string[] = [];
  const { world, another, open } = await createParty({ store, logger: ({ message }) => void logs.push(message) });
  const alone = another({ authorize: undefined });
  const call = async (): Promise<string> => {
    const init = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
    const error = await assertRejects(() => alone.wrap(world.fetch, resourceUrl)(resourceUrl, init));
    return (error as { authorizationUrl?: string }).authorizationUrl ?? String(error);
  };
  const first = await call();
  assertEquals(await call(), first, "it still waits");
  await another().finishAuth(await world.person.follow(first));
  await another().signOut(resourceUrl);
  assert(await call() !== first, "it was finished");
  await (await open()).close();
  assertEquals(logs.filter((message) => message.includes("cannot be read")), []);
});
