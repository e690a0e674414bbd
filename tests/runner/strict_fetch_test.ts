import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import { EgressDeniedError } from "../../src/protocol/errors.ts";
import { createStrictFetch } from "../../src/runner/tenants/strict_fetch.ts";

describe("the way out for addresses that a tenant names", () => {
  const url = "https://tools.example.com/mcp";

  it("looks before each request at what the name stands for then, and follows nothing", async () => {
    const sent: unknown[] = [];
    let addresses: string[] = ["93.184.215.14"];
    const fetch = createStrictFetch({
      fetch: (address, init) => {
        sent.push([address, init?.redirect]);
        return Promise.resolve(new Response("here"));
      },
      resolve: () => Promise.resolve(addresses),
    });
    await fetch(url, { redirect: "follow" });
    assertEquals(sent, [[url, "manual"]]);
    for (const inside of [["10.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["fd00::1"], []]) {
      addresses = inside;
      await assertRejects(() => fetch(url, {}), EgressDeniedError);
    }
    for (const wrong of ["http://tools.example.com/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/"]) {
      await assertRejects(() => fetch(wrong, {}), EgressDeniedError);
    }
    assertEquals(sent.length, 1, "nothing was sent");
  });

  it("resolves no address that stands there as such, and judges by its text where it cannot resolve", async () => {
    const asked: string[] = [];
    const resolve = (name: string) => {
      asked.push(name);
      return Promise.resolve(["93.184.215.14"]);
    };
    const send = () => Promise.resolve(new Response("here"));
    const [resolving, plain] = [createStrictFetch({ fetch: send, resolve }), createStrictFetch({ fetch: send })];
    for (const address of ["https://93.184.215.14/", "https://[2606:2800:220:1::1]/", url]) {
      assertEquals((await resolving(address, {})).status, 200);
      assertEquals((await plain(address, {})).status, 200);
    }
    assertEquals(asked, ["tools.example.com"]);
    await assertRejects(() => plain("https://10.0.0.1/", {}), EgressDeniedError);
  });
});
