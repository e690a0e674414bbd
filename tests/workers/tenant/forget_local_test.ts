/** A tenant that is forgotten while others ask for it. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { skip as withoutDatabase } from "../../agent/runs/support/database.ts";
import { PlayedObject } from "./played_object.ts";

const skip = withoutDatabase && "Node has SQLite since 22.13: it runs on Bun and Deno";

/** The status of a reply, and what is wrong. */
async function told(response: Response | Promise<Response>): Promise<[number, unknown]> {
  const { status, body, headers } = await response;
  if (status < 400) return [status, void await body?.cancel()];
  assertEquals([headers.get("content-type"), headers.get("retry-after")], ["application/problem+json", "1"]);
  return [status, (await new Response(body).json()).code];
}

describe("a tenant that is forgotten", () => {
  test("takes nobody in meanwhile, and begins anew with the next one", { skip }, async () => {
    await using played = await PlayedObject.open();
    assertEquals((await played.ask("POST", "/api/tools/data__look", {})).status, 200);
    assertEquals((await played.start()).status, 202);
    const leaving = played.stopLeaving();
    const gone = played.ask("DELETE", "/api/tenant");
    await leaving.reached;
    assertEquals(await told(played.start()), [503, "closing"]);
    assertEquals(await told(played.ask("DELETE", "/api/tenant")), [503, "closing"]);
    leaving.go();
    assertEquals(await told(gone), [204, undefined]);
    assertEquals(await told(played.start()), [202, undefined]);
    const { runs } = await (await played.ask("GET", "/api/runs")).json();
    assertEquals(runs.length, 1, "nothing is left of the first one");
  });

  test("is forgotten once, also when two ask for it at once", { skip }, async () => {
    await using played = await PlayedObject.open();
    assertEquals((await played.ask("POST", "/api/tools/data__look", {})).status, 200);
    const leaving = played.stopLeaving();
    const both = [1, 2].map(() => told(played.ask("DELETE", "/api/tenant")));
    await leaving.reached;
    assertEquals(await Promise.race(both), [503, "closing"], "the other one waits at the server");
    leaving.go();
    assertEquals((await Promise.all(both)).map(([status]) => status).sort(), [204, 503]);
    assertEquals(await told(played.start()), [202, undefined]);
  });

  test("is not brought back by one who has waited for the config", { skip }, async () => {
    await using played = await PlayedObject.open();
    assertEquals((await played.start()).status, 202);
    const reading = played.stopConfig();
    const late = told(played.start());
    await reading.reached;
    assertEquals((await played.ask("DELETE", "/api/tenant")).status, 204);
    reading.go();
    assertEquals(await late, [503, "closing"]);
    assertEquals(await told(played.start()), [202, undefined]);
  });
});
