/**
 * What the client of a session said of itself, and what it can be asked.
 *
 * @module
 */
import { MissingCapabilityError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { Implementation } from "../../protocol/types.ts";
import type { RequestContext } from "../definitions.ts";

/** What a client can be asked. */
export type Askable = Parameters<RequestContext["can"]>[0];

/** What `initialize` told. */
export interface ClientSide {
  readonly revision: Revision;
  readonly info: Implementation | undefined;
  readonly capabilities: JsonObject;
}

/** The capability that each question needs: the path to it in what is declared. */
const needed: Readonly<Record<Askable, string>> = {
  elicit: "elicitation.form",
  elicitUrl: "elicitation.url",
  sample: "sampling",
  sampleWithTools: "sampling.tools",
  roots: "roots",
};

/** Reads what `initialize` says of the client: what is no object counts as not said. */
export function readClient(params: JsonObject, revision: Revision): ClientSide {
  const { capabilities, clientInfo } = params;
  return {
    revision,
    info: isObject(clientInfo) && typeof clientInfo.name === "string"
      ? clientInfo as unknown as Implementation
      : undefined,
    capabilities: isObject(capabilities) ? capabilities as JsonObject : {},
  };
}

/** Whether a client can be asked something in its revision. */
export function canAsk({ capabilities, revision }: ClientSide, what: Askable): boolean {
  const { elicitation, sampling, roots } = capabilities;
  switch (what) {
    case "elicit":
      // Empty means by a form.
      return revision >= "2025-06-18" && isObject(elicitation) && (isObject(elicitation.form) || !elicitation.url);
    case "elicitUrl":
      return revision >= "2025-11-25" && isObject(elicitation) && isObject(elicitation.url);
    case "sample":
      return isObject(sampling);
    case "sampleWithTools":
      return revision >= "2025-11-25" && isObject(sampling) && isObject(sampling.tools);
    case "roots":
      return isObject(roots);
  }
}

/** @throws {MissingCapabilityError} When the client cannot be asked this. */
export function demand(client: ClientSide, what: Askable): void {
  if (canAsk(client, what)) return;
  const path = needed[what];
  const requiredCapabilities = path.split(".").reduceRight<JsonObject>((inner, name) => ({ [name]: inner }), {});
  throw new MissingCapabilityError(`The client did not declare "${path}"`, {
    // As if the peer had said so: it is why a tool failed. Older clients would take an error for a server that is broken.
    rpcCode: -32021,
    data: { requiredCapabilities },
    server: "client",
  });
}
