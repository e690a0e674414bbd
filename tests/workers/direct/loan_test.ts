/** What the Worker asks the object of a tenant for itself: the tenant is named whole, and nobody else can ask. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { askTenant, directHeader, tenantOfDirect } from "../../../workers/direct/loan.ts";
import type { RunnerEnv } from "../../../workers/env.ts";

const secret = "a secret of 32 characters or more";

/** The one object of all tenants, which says whom it was asked for. */
function envOf(heard: (string | undefined)[], changed = (given: string): string => given): RunnerEnv {
  const object = {
    async fetch(request: Request): Promise<Response> {
      heard.push(await tenantOfDirect(changed(request.headers.get(directHeader) ?? ""), env));
      return Response.json(null);
    },
  };
  const TENANTS = { idFromName: (name: string) => name, get: () => object };
  const env = { RUNNER_SECRET: secret, TENANTS } as unknown as RunnerEnv;
  return env;
}

describe("a request of the Worker's own", () => {
  test("names its tenant, whatever is in the name", async () => {
    const names = [
      "acme",
      "acme.example",
      "a.b.c.",
      ".",
      "a/b",
      "a b",
      "日本",
      "100%",
      "%2e",
      "a,b;c",
      "x".repeat(512),
    ];
    const heard: (string | undefined)[] = [];
    for (const name of names) await askTenant(envOf(heard), name, { ask: "get", key: "results/1" });
    assertEquals(heard, names);
  });

  test("is good for no other tenant", async () => {
    const heard: (string | undefined)[] = [];
    const changes: ((given: string) => string)[] = [
      (given) => given.replace("acme", "evil"),
      (given) => `${given}.example`,
      (given) => given.replace(/\.acme.*$/, "."),
      (given) => given.replace(/^\d+/, (until) => String(Number(until) + 1)),
      () => "",
      () => "..",
    ];
    for (const change of changes) await askTenant(envOf(heard, change), "acme.corp", { ask: "get", key: "results/1" });
    assertEquals(heard, changes.map(() => undefined));
  });
});
