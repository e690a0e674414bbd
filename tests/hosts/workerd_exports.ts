/** What the bundle of the tests in workerd exports beside its handler: an object, for tests that need its storage. */
import type { ObjectSqlStorage } from "../../src/runtime/sql/object_database.ts";
import { handleRequest } from "./node_test_shim.ts";

declare global {
  var CAUSEWAY_STORAGE: ObjectSqlStorage | undefined;
}

/** Runs tests in a Durable Object. */
export class TestObject {
  constructor(state: { readonly storage: ObjectSqlStorage }) {
    globalThis.CAUSEWAY_STORAGE = state.storage;
  }

  /** Runs the tests of one file. */
  fetch(request: Request): Response {
    return handleRequest(request);
  }

  /** Tests set it, and call what it would. */
  alarm(): void {}
}
