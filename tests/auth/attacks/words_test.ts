/** Words of servers end up before people: whatever they hold, errors stay one short line. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { AuthorizationError } from "../../../src/protocol/errors.ts";
import { createParty } from "../sign_in/parties.ts";
import { answerJson, refusal } from "../world/faults.ts";
import { issuer, resourceUrl } from "../world/world.ts";
import { attack, denialOf, hitsOf, refusalOf, wait } from "./attack.ts";
import { words } from "./words.ts";

describe("attacks with words", () => {
  test("there are enough of them", () => assertGreater(new Set(words).size, 200));

  attack("in a callback", words, async (text) => {
    const waiting = await wait();
    const url = new URL(waiting.callback);
    url.searchParams.delete("code");
    url.searchParams.set("error", text);
    url.searchParams.set("error_description", text);
    await refusalOf(waiting.oauth.finishAuth(url));
    return hitsOf(waiting.world);
  });

  attack("of the token endpoint", words, async (text) => {
    const { world, oauth, callback } = await wait();
    world.fault("/token", refusal(text, 400, text));
    const error = await refusalOf(oauth.finishAuth(callback));
    assert(error instanceof AuthorizationError);
    assertEquals(world.log.tokens().length, 1);
  });

  attack("of the registration endpoint", words, async (text) => {
    const { world, oauth } = await createParty();
    world.fault("/register", refusal(text, 400, text));
    await denialOf(oauth.signIn(resourceUrl));
    return [...hitsOf(world), ...world.person.visits];
  });

  attack("in the documents", words, async (text) => {
    const hits: string[] = [];
    for (const field of ["resource", "authorization_servers"]) {
      const value = field === "resource" ? text : [`https://evil.example/${text}?`, text];
      const { world, oauth } = await createParty({}, { resource: { metadata: { [field]: value } } });
      await denialOf(oauth.signIn(resourceUrl));
      hits.push(...hitsOf(world));
    }
    for (const field of ["issuer", "token_endpoint", "scopes_supported"]) {
      const { world, oauth } = await createParty({}, { server: { metadata: { [field]: text } } });
      await denialOf(oauth.signIn(resourceUrl));
      hits.push(...hitsOf(world));
    }
    return hits;
  });

  attack("in addresses", words, async (text) => {
    const hits: string[] = [];
    const addresses = [`http://evil.example/${text}`, `https://${text}.internal/`, `https://127.0.0.1/${text}`];
    for (const place of addresses) {
      const { world, oauth } = await createParty({}, { resource: { metadata: { authorization_servers: [place] } } });
      await denialOf(oauth.signIn(resourceUrl));
      hits.push(...hitsOf(world));
    }
    return hits;
  });

  attack("in a token's reply", words, async (text) => {
    const { world, oauth, callback } = await wait();
    world.fault("/token", answerJson({ access_token: "a", token_type: `${text}.` }));
    await refusalOf(oauth.finishAuth(callback));
    assertEquals(await oauth.status(resourceUrl), undefined);
  });

  test("what they say is kept where it is harmless", async () => {
    const { world, oauth, callback } = await wait();
    world.fault("/token", refusal("invalid_grant", 400, "Der Code ist zu alt \x1b[31m(日本語)"));
    const error = await denialOf(oauth.finishAuth(callback));
    assertEquals(
      error.message,
      `"${issuer}" refused at its "token_endpoint": 400 invalid_grant Der Code ist zu alt  [31m(日本語)`,
    );
    assert(error instanceof AuthorizationError && error.error === "invalid_grant");
  });

  test("secrets in them are not shown", async () => {
    const { world, oauth, callback } = await wait();
    const code = new URL(callback).searchParams.get("code") ?? "";
    world.fault("/token", refusal("invalid_grant", 400, `the code ${code} is used ${"x".repeat(600)}`));
    const { message } = await denialOf(oauth.finishAuth(callback));
    assertStringIncludes(message, "the code [redacted] is used");
    const party = await createParty({ client: { clientId: "a", clientSecret: "hunter22-hunter22" } });
    party.world.server.knobs.authorizationError = { error: "x", error_description: "it was hunter22-hunter22" };
    party.world.server.clients.add({
      id: "a",
      secret: "hunter22-hunter22",
      redirectUris: ["https://app.example.com/callback"],
    });
    assertStringIncludes((await denialOf(party.oauth.signIn(resourceUrl))).message, "it was [redacted]");
  });
});
