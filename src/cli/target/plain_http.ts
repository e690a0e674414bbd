/**
 * Servers that are reached without encryption.
 *
 * @module
 */
import { isLoopbackHost } from "../../egress/address.ts";
import { writeWarning } from "../terminal.ts";
import type { Destination } from "./target.ts";

/** Warns of one that anybody on the way can read along with. */
export async function warnOfPlainHttp({ target }: Pick<Destination, "target">): Promise<void> {
  const { protocol, hostname } = new URL(typeof target === "string" ? target : "https://localhost");
  if (protocol === "https:" || protocol === "wss:" || isLoopbackHost(hostname)) return;
  await writeWarning(`"${hostname}" is reached without encryption; use ${protocol.replace(":", "s:")}`);
}
