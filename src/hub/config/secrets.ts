/**
 * Keeps the secrets of a config out of errors and logs.
 *
 * @module
 */
import { Redactor } from "../../egress/redact.ts";
import type { ReadServer } from "./types.ts";

/**
 * The same servers, with `redact` filled in: it takes the secrets of each, and the values of its headers, out of what the
 * server brings into errors and logs.
 *
 * @param servers What `readHubConfig` found.
 */
export function hideSecrets(servers: Readonly<Record<string, ReadServer>>): Record<string, ReadServer> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      const redactor = new Redactor();
      const headers = "url" in server ? Object.values(server.headers ?? {}) : [];
      for (const secret of [...server.secrets, ...headers]) redactor.add(secret);
      return [name, { ...server, redact: (text: string) => redactor.redact(text) }];
    }),
  );
}
