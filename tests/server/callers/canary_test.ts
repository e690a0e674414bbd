/** Many callers at once, each with a server of their own: what is one's is never another's. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { McpServer } from "../../../src/server/mod.ts";
import { modernMeta, modernPost, post, rpc } from "../http/support.ts";
import { openSession, serverOf, stage } from "./support.ts";
import type { Session } from "./support.ts";

const callers = 40;
const calls = 1_600;
const kinds = ["each time anew", "one for each caller"] as const;

for (const era of ["modern", "legacy"] as const) {
  describe(`canaries, ${era}`, () => {
    for (const kind of kinds) {
      test(`no caller sees another one's server, made ${kind}`, async () => {
        const kept = new Map<string, McpServer>();
        const open = stage(async ({ auth }) => {
          const owner = auth?.principal ?? "nobody";
          // Some are there at once, some later, so that they overtake each other.
          for (let turn = Number(owner.slice(1)) % 5; turn > 0; turn--) await undefined;
          if (kind === "each time anew") return serverOf(owner);
          const server = kept.get(owner) ?? serverOf(owner);
          kept.set(owner, server);
          return server;
        });
        const sessions: Session[] = [];
        for (let at = 0; era === "legacy" && at < callers; at++) {
          sessions.push(await openSession(open, { "x-user": `u${at}` }));
        }
        let strange = 0;
        let own = 0;
        const one = async (at: number): Promise<void> => {
          const caller = `u${at % callers}`;
          const who = { "x-user": caller };
          // All use the same ids and the same tokens, and some ask for what is another one's.
          const id = Math.floor(at / callers) + 1;
          const wanted = at % 7 ? caller : `u${(at + 1) % callers}`;
          const isList = at % 5 === 0;
          const method = isList ? "tools/list" : "tools/call";
          const args = { name: `${wanted}-only`, arguments: { turns: at % 11 } };
          const params = { ...isList ? {} : args, _meta: { progressToken: id } };
          const request = era === "legacy"
            ? post(rpc(method, id, params), { ...who, "mcp-session-id": sessions[at % callers]!.id! })
            : modernPost(method, { ...params, _meta: { ...modernMeta(), ...params._meta } }, who);
          const text = await (await open.handler(request)).text();
          const seen = [...text.matchAll(/canary-(u\d+)|"name":"(u\d+)-only"/g)].map(([, said, listed]) =>
            said ?? listed
          );
          if (seen.some((name) => name !== caller)) strange++;
          if (seen.length) own++;
          if (!isList && wanted !== caller && seen.length) strange++;
        };
        await Promise.all(Array.from({ length: calls }, (_, at) => one(at)));
        assertEquals(strange, 0);
        assertEquals(
          own,
          Array.from({ length: calls }, (_, at) => at % 5 === 0 || at % 7 !== 0).filter(Boolean).length,
        );
        assertEquals(open.logs, []);
        open.handler.close();
        assertEquals(open.clock.waiting, 0);
      });
    }
  });
}
