/** Servers that take a secret in a header and in the form, of which only the form works: all of the official SDK for Python. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { answerJson } from "../world/faults.ts";
import { createParty } from "../sign_in/parties.ts";
import { soundRegistration } from "../world/server/knobs.ts";
import { resourceUrl } from "../world/world.ts";

describe("a server that wants to find the client's id in the form", () => {
  test("gets the secret there too", async () => {
    const { world, open } = await createParty({}, {
      server: { authMethods: ["client_secret_post", "client_secret_basic"] },
    });
    const refused = answerJson({ error: "invalid_client", error_description: "Missing client_id" }, 401);
    world.fault(({ url, form }) => url.pathname === "/token" && !form.has("client_id"), refused, 9);
    await using client = await open();
    const { content } = await client.callTool("echo", { text: "hello" });
    assertEquals(content, [{ type: "text", text: "echo: hello" }]);
    assertEquals(world.log.tokens().map(({ status }) => status), [200]);
  });

  test("also where its registration does not repeat what was asked for, and holds a client to it", async () => {
    const registration = { ...soundRegistration(), reply: { token_endpoint_auth_method: undefined } };
    const { oauth, world } = await createParty({}, {
      server: { authMethods: ["client_secret_basic", "client_secret_post"], registration },
    });
    await oauth.signIn(resourceUrl);
    assertEquals(world.log.tokens().map(({ status }) => status), [200]);
  });
});
