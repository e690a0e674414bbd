/**
 * The token that callers of `causeway serve` have to send.
 *
 * @module
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { readConfigFile } from "../../runtime/config_file.ts";
import { readBearer } from "../../server/auth/bearer.ts";
import type { AuthInfo } from "../../server/definitions.ts";
import { refuse } from "../../server/http/replies.ts";
import { UsageError } from "../failure.ts";

const least = 16;
const mostBytes = 16_384;

/**
 * What lets callers in that send the token of a file.
 *
 * @throws {UsageError} When there is no such file, or what it holds is no token.
 */
export async function requireToken(path: string): Promise<(request: Request) => AuthInfo | Response> {
  const text = await readConfigFile(path, mostBytes).catch((error: Error) => {
    throw new UsageError(`Cannot read --token-file "${path}": ${error.message}`);
  });
  if (text === undefined) throw new UsageError(`Cannot read --token-file "${path}": there is no such file`);
  const token = text.trim();
  if (token.length < least || !/^[\w.~+/-]+=*$/.test(token)) {
    throw new UsageError(
      `Cannot use --token-file "${path}": expected one token of ${least} or more letters, digits and -._~+/`,
    );
  }
  const wanted = digest(token);
  return (request) => {
    const given = readBearer(request);
    if (given.token !== undefined && timingSafeEqual(digest(given.token), wanted)) return { principal: "token" };
    return given.token === undefined && given.wrong === undefined
      ? sendAway("A bearer token is needed here: the one of --token-file", "Bearer")
      : sendAway("The bearer token is not the one of --token-file", 'Bearer error="invalid_token"');
  };
}

/** Clients show their user what the reply says. */
function sendAway(message: string, challenge: string): Response {
  return refuse(401, message, { headers: { "www-authenticate": challenge, "cache-control": "no-store" } });
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
