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
import { writeWarning } from "../terminal.ts";

const least = 16;
const mostBytes = 16_384;

/**
 * What lets callers in that send the token of a file: the one that is in it when they come. Where it holds none then, as while it
 * is written, the one before is still good; that is told once.
 *
 * @throws {UsageError} When there is no such file, or what it holds is no token.
 */
export async function requireToken(path: string): Promise<(request: Request) => Promise<AuthInfo | Response>> {
  let wanted = digest(await readToken(path));
  let isTold = false;
  const renew = async (): Promise<void> => {
    try {
      wanted = digest(await readToken(path));
      isTold = false;
    } catch (error) {
      if (isTold) return;
      isTold = true;
      // Nobody who calls waits for who reads that.
      void writeWarning(`${(error as Error).message}; until it holds another, the last token that it held is good`);
    }
  };
  return async (request) => {
    const given = readBearer(request);
    if (given.token !== undefined) await renew();
    if (given.token !== undefined && timingSafeEqual(digest(given.token), wanted)) return { principal: "token" };
    return given.token === undefined && given.wrong === undefined
      ? sendAway("A bearer token is needed here: the one of --token-file", "Bearer")
      : sendAway("The bearer token is not the one of --token-file", 'Bearer error="invalid_token"');
  };
}

async function readToken(path: string): Promise<string> {
  const text = await readConfigFile(path, mostBytes).catch((error: Error) => {
    throw new UsageError(`Cannot read --token-file "${path}": ${error.message}`);
  });
  if (text === undefined) throw new UsageError(`Cannot read --token-file "${path}": there is no such file`);
  const token = text.trim();
  if (token.length >= least && /^[\w.~+/-]+=*$/.test(token)) return token;
  throw new UsageError(
    `Cannot use --token-file "${path}": expected one token of ${least} or more letters, digits and -._~+/`,
  );
}

/** Clients show their user what the reply says. */
function sendAway(message: string, challenge: string): Response {
  return refuse(401, message, { headers: { "www-authenticate": challenge, "cache-control": "no-store" } });
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
