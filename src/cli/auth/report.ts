/**
 * What is told of a sign-in: whom, which issuer, which scopes, until when. Never a token.
 *
 * @module
 */
import { oneLine } from "../text/plain.ts";
import type { SignInStatus } from "./oauth.ts";
import { shownAddress } from "./server.ts";

/** For people, on one line. */
export function statusText(status: SignInStatus): string {
  const { server, issuer, clientId, scopes } = status;
  const parts = [
    `issuer ${oneLine(issuer)}`,
    `client ${oneLine(clientId)}`,
    `scopes ${scopes.length === 0 ? "as the server chose" : scopes.map(oneLine).join(" ")}`,
    untilText(status),
  ];
  return `${oneLine(shownAddress(server))}  ${parts.join(", ")}`;
}

/** For programs. */
export function statusJson(status: SignInStatus): Record<string, unknown> {
  const { server, issuer, resource, clientId, scopes, expiresAt, refreshable } = status;
  return {
    server: shownAddress(server),
    issuer,
    ...(resource !== undefined && { resource: shownAddress(resource) }),
    clientId,
    scopes,
    ...(expiresAt !== undefined && { expiresAt: timeText(expiresAt) }),
    refreshable,
  };
}

function untilText({ expiresAt, refreshable }: SignInStatus): string {
  const end = expiresAt === undefined ? "" : timeText(expiresAt);
  if (refreshable) return end === "" ? "prolonged by itself" : `until ${end}, prolonged by itself`;
  return end === "" ? "until the server ends it" : `until ${end}`;
}

/** The server chose the time: it may lie beyond all calendars. */
function timeText(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "ever" : date.toISOString().replace(/\.\d+Z$/, "Z");
}
