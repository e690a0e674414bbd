/**
 * What our client does in the scenarios of the official suite that need authorization: only with what `@causeway/mcp/auth`
 * gives everybody.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, type Connect, McpError } from "../../../mod.ts";
import { clientCredentials, createDpop, createOAuth, enterpriseAuthorization } from "../../../src/auth/mod.ts";
import { legacyDiscovery, type OAuthOptions, privateKeyJwt, workloadIdentity } from "../../../src/auth/mod.ts";
import type { ScenarioRun } from "../run.ts";

type Context = Readonly<Record<string, string>>;

/** What is special about a scenario. */
interface Entry {
  readonly options?: (context: Context, run: ScenarioRun) => OAuthOptions | Promise<OAuthOptions>;
  /** The sign-in, or the call, has to be refused: by this class. */
  readonly refused?: "authorization" | "unauthorized";
}

const redirectUri = "http://localhost:3000/callback";
const refused: Entry = { refused: "authorization" };
const legacy: Entry = { options: () => ({ fallback: legacyDiscovery }) };

const entries: Readonly<Record<string, Entry>> = {
  "auth/pre-registration": {
    options: ({ client_id: clientId = "", client_secret: clientSecret, issuer }) => ({
      client: { clientId, clientSecret, issuer },
    }),
  },
  "auth/2025-03-26-oauth-metadata-backcompat": legacy,
  "auth/2025-03-26-oauth-endpoint-fallback": legacy,
  "auth/client-credentials-basic": {
    options: ({ client_id: clientId = "", client_secret: clientSecret }) => ({
      grant: clientCredentials({ clientId, clientSecret }),
    }),
  },
  "auth/client-credentials-jwt": {
    options: ({ client_id: clientId = "", private_key_pem: pem = "", signing_algorithm: algorithm }) => ({
      grant: clientCredentials({ clientId, authenticate: privateKeyJwt(pem, { algorithm: algorithm as "ES256" }) }),
    }),
  },
  "auth/enterprise-managed-authorization": {
    options: (context) => ({
      grant: enterpriseAuthorization({
        clientId: context["client_id"] ?? "",
        clientSecret: context["client_secret"],
        identityProvider: {
          issuer: context["idp_issuer"],
          tokenEndpoint: context["idp_token_endpoint"],
          clientId: context["idp_client_id"] ?? "",
        },
        idToken: context["idp_id_token"] ?? "",
      }),
    }),
  },
  "auth/wif-jwt-bearer": {
    options: ({ client_id: clientId, valid_jwt: assertion = "" }) => ({
      grant: workloadIdentity({ clientId, assertion }),
    }),
  },
  "auth/dpop": { options: () => ({ dpop: createDpop() }) },
  "auth/dpop-nonce": { options: () => ({ dpop: createDpop() }) },
  "auth/scope-retry-limit": { refused: "unauthorized" },
  "auth/resource-mismatch": refused,
  "auth/iss-supported-missing": refused,
  "auth/iss-wrong-issuer": refused,
  "auth/iss-unexpected": refused,
  "auth/iss-normalized": refused,
  "auth/metadata-issuer-mismatch": refused,
};

/** Whether this module plays a scenario. */
export function isSignIn(scenario: string): boolean {
  return scenario.startsWith("auth/");
}

/**
 * Signs in, lists, calls, and closes.
 *
 * @throws {AssertionError} When what should be refused is not.
 */
export async function runSignIn(connect: Connect, run: ScenarioRun): Promise<void> {
  const { options, refused } = entries[run.scenario] ?? {};
  const context: Context = run.context === "" ? {} : JSON.parse(run.context);
  const oauth = createOAuth({
    redirectUri,
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    clientMetadata: { client_name: "Causeway conformance" },
    authorize: ({ authorizationUrl }) => follow(authorizationUrl),
    ...await options?.(context, run),
  });
  const use = async () => {
    const client = await connect(run.url, { auth: oauth });
    try {
      await useTools(client);
    } finally {
      await client.close();
    }
  };
  if (refused) assertEquals((await assertRejects(use, McpError)).code, refused);
  else await use();
}

async function useTools(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  for (const { name } of tools) assert(!(await client.callTool(name)).isError);
}

/** A person who agrees to everything: the page that they are sent to sends them straight back. */
async function follow(authorizationUrl: string): Promise<string> {
  const response = await fetch(authorizationUrl, { redirect: "manual" });
  await response.body?.cancel();
  const location = response.headers.get("location");
  assert(location !== null, `the authorization server answered ${response.status} without a redirect`);
  return location;
}
