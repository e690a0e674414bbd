/**
 * Forms that ask for what must not go through a form (specification: Elicitation, security: passwords, keys and the like need a
 * page of the server's own).
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { ElicitRequest } from "../../../protocol/types.ts";
import { asSeen } from "./look_alikes.ts";

const words =
  /\b(?:\w*pass(?:word|phrase|code)s?|pass ?(?:word|phrase|code)s?|passwd|pwd|kennwort|passwort|secrets?|credentials?|(?:api|access|secret|private|ssh|encryption|signing|license) ?keys?|(?:access|auth|bearer|refresh|session|api|id|personal access) ?tokens?|credit ?cards?|card ?numbers?|cvv|cvc|ssn|social security(?: number)?|pin(?: code| number)?|otp|mfa code|one ?time (?:code|password)|2 ?fa(?: code)?|totp|iban)\b/;

/** Whether a form has a field for something that nobody should type into one. */
export function isSensitive({ mode = "form", requestedSchema }: ElicitRequest): boolean {
  const properties = requestedSchema?.properties;
  if (mode !== "form" || !isObject(properties)) return false;
  return Object.entries(properties).some(([name, field]) => {
    if (!isObject(field)) return isNamedSo(name);
    if ((field.format as unknown) === "password" || field.writeOnly === true) return true;
    if (field.type === "boolean") return false;
    return isNamedSo(name) || isNamedSo(field.title);
  });
}

function isNamedSo(name: unknown): boolean {
  if (typeof name !== "string") return false;
  // Letters that look the same are the same, and what nobody sees is not there.
  const seen = name.normalize("NFKD").replace(/[\p{Cf}\p{DI}\p{M}]+/gu, "");
  // A word may begin behind one in capitals (`OTPCode`), or have some itself (`PASSword`).
  return [seen, seen.replace(/([A-Z])(?=[A-Z][a-z])/g, "$1 ")].some((text) => {
    const plain = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/(\p{L})(?=\p{N})/gu, "$1 ")
      .replace(/[^\p{L}\p{N}]+/gu, " ");
    return words.test(asSeen(plain).trim());
  });
}
