/** A Worker whose object keeps runs of an agent: one is started in workerd, and looked for until it has ended. */
import type { StandIn } from "../seam.ts";
import { startWorker } from "../workerd.ts";
import { expect } from "../world.ts";

const workerdRuns: StandIn = async (program) => {
  await using worker = await startWorker(program, {});
  const started = await worker.ask(new Request("http://worker.example/", { method: "POST", body: "What is new?" }));
  const { id } = await started.json();
  let state = "";
  for (let look = 0; look < 100 && state !== "succeeded"; look++) {
    ({ state } = await (await worker.ask(new Request(`http://worker.example/${id}`))).json());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(state === "succeeded", `ended the run, which is ${state}`);
};
export default workerdRuns;
