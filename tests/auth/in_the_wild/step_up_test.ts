/** Servers that say that a token allows too little, and not what they want: their metadata says it (requireBearerAuth of the SDK). */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { UnauthorizedError } from "../../../src/protocol/errors.ts";
import { createParty } from "../sign_in/parties.ts";

const challenges = ['Bearer error="insufficient_scope", error_description="Insufficient scope"'];
const needs = ({ name }: { name: string }) => name === "write" ? ["files:write"] : [];

describe("a refusal for want of scopes that names none", () => {
  test("asks for those that the resource lists", async () => {
    const metadata = { scopes_supported: ["mcp:use", "files:write"] };
    const { world, oauth, open } = await createParty({}, { resource: { scope: "mcp:use", metadata, needs } });
    await using client = await open();
    world.resource.knobs.challenges = challenges;
    const { content } = await client.callTool("write", { text: "hi" });
    assertEquals(content, [{ type: "text", text: "written: hi" }]);
    assertEquals(world.person.visits.length, 2);
    const { scopes } = await oauth.signIn("https://mcp.example.com/mcp");
    assertEquals(scopes.toSorted(), ["files:write", "mcp:use", "offline_access"]);
  });

  test("stands after two more sign-ins where the resource lists none", async () => {
    const { world, open } = await createParty({}, { resource: { scope: "mcp:use", needs } });
    await using client = await open();
    world.resource.knobs.challenges = challenges;
    await assertRejects(() => client.callTool("write", { text: "hi" }), UnauthorizedError);
    assertEquals(world.person.visits.length, 3);
  });
});
