/**
 * What is secret of a target.
 *
 * @module
 */
import { Redactor } from "../../egress/redact.ts";
import type { Destination } from "../target/target.ts";

/** What knows the secrets of a target. */
export function redactorFor({ target, headers, entry }: Destination): Redactor {
  const redactor = new Redactor();
  const secrets = [...Object.values(headers), ...Object.values(typeof target === "string" ? {} : target.env ?? {})];
  for (const secret of entry?.server.secrets ?? []) redactor.add(secret);
  for (const secret of secrets) for (const part of [secret, ...secret.split(" ")]) redactor.add(part);
  return redactor;
}
