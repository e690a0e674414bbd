/**
 * Access tokens of one authorization server, as the operator's variables say.
 *
 * @module
 */
import type { JwtVerifier } from "../../src/auth/verify/jwt.ts";
import type { Logger } from "../../src/ports.ts";
import type { RunnerOptions } from "../../src/runner/mod.ts";
import { protectResource } from "../../src/server/auth/protect.ts";
import type { RunnerEnv } from "../env.ts";

/**
 * Makes what takes tokens; undefined without `TOKEN_ISSUER`. What verifies them is loaded with the first one.
 *
 * @throws {TypeError} When a variable is missing beside it, or makes no sense.
 */
export function createTokens(env: RunnerEnv, logger: Logger): RunnerOptions["access"]["tokens"] {
  const { TOKEN_ISSUER: issuer, TOKEN_TENANT_CLAIM: claim, TOKEN_AUDIENCE: audience, PUBLIC_URL } = env;
  if (!issuer) return undefined;
  if (!claim) throw new TypeError("TOKEN_TENANT_CLAIM is missing, expected the name of the claim with the tenant");
  if (!PUBLIC_URL) throw new TypeError("PUBLIC_URL is missing, expected where the Worker is: tokens are meant for it");
  const profile = profileOf(env);
  let verifier: JwtVerifier | undefined;
  const resource = protectResource({
    resource: `${PUBLIC_URL.replace(/\/+$/, "")}/mcp`,
    authorizationServers: [issuer],
    ...(audience && { audience }),
    // What is loaded is not waited for across requests.
    verify: async (token) => {
      const { createJwtVerifier } = await import("../../src/auth/verify/jwt.ts");
      return await (verifier ??= createJwtVerifier({ issuer, profile, logger }))(token);
    },
    logger,
  });
  return {
    resource,
    tenantOf({ extra = {} }) {
      const tenant = Object.hasOwn(extra, claim) ? extra[claim] : undefined;
      return typeof tenant === "string" ? tenant : undefined;
    },
  };
}

function profileOf({ TOKEN_PROFILE: profile }: RunnerEnv): "rfc9068" | "jwt" {
  if (!profile || profile === "rfc9068") return "rfc9068";
  if (profile === "jwt") return "jwt";
  throw new TypeError(`TOKEN_PROFILE is "${profile}", expected "rfc9068" or "jwt"`);
}
