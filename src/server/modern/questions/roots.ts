/**
 * Roots: asks for the places that the client opens to us. Deprecated in 2026-07-28.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { Root } from "../../../protocol/types.ts";
import { isRoots } from "../../common/client_answers.ts";
import type { QuestionKind } from "./kind.ts";

/** Asks for the client's roots. */
export const roots: QuestionKind<undefined, Root[]> = {
  name: "roots",
  method: "roots/list",
  exact: false,

  lacks({ roots }) {
    return isObject(roots) ? undefined : { roots: {} };
  },

  params() {
    return undefined;
  },

  read(answer) {
    return isObject(answer) && isRoots(answer.roots) ? answer.roots as Root[] : undefined;
  },
};
