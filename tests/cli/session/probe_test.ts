import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { HttpTransport } from "../../../mod.ts";
import { probeRevision, probes } from "../../../src/cli/commands/inspect/revisions.ts";
import { tapTransport } from "../../../src/cli/wire/tap.ts";
import { createLegacyServer } from "../../servers/legacy.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { url } from "../../support/clients.ts";

describe("causeway probe ends each session that it was given, in the words of its revision", () => {
  for (const isHeard of [false, true]) {
    test(isHeard ? "where somebody hears the wire, too" : "over HTTP", async () => {
      const server = createLegacyServer();
      const { signal } = new AbortController();
      for (const one of probes(url).filter(({ isOldBinding }) => !isOldBinding)) {
        const http = new HttpTransport(url, { fetch: memoryFetch(server) });
        const transport = isHeard ? tapTransport(http, () => {}) : http;
        await probeRevision(one, { transport }, { signal, longest: 30_000 });
      }
      assertEquals(server.log.filter(({ httpMethod }) => httpMethod === "DELETE").length, 4);
      assertEquals([server.sessionIds(), server.violations], [[], []]);
    });
  }
});
