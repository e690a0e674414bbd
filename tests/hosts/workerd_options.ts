/** What the Worker of the tests is bound to. */
import type { WorkerOptions } from "miniflare";

export const options: Partial<WorkerOptions> = {
  durableObjects: { CAUSEWAY_OBJECT: { className: "TestObject", useSQLite: true } },
};
