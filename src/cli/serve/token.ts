/**
 * The token that callers of `causeway serve` have to send.
 *
 * @module
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { readConfigFile } from "../../runtime/config_file.ts";
import { readBearer } from "../../server/auth/bearer.ts";
import type { AuthInfo } from "../../server/definitions.ts";
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
    const given = readBearer(request).token;
    if (given !== undefined && timingSafeEqual(digest(given), wanted)) return { principal: "token" };
    return new Response(null, { status: 401, headers: { "WWW-Authenticate": "Bearer" } });
  };
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
