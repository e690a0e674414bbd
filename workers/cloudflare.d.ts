/** The part of the runtime's own module that is used. */
declare module "cloudflare:workers" {
  /** What a workflow is made of. */
  export abstract class WorkflowEntrypoint<Env> {
    constructor(context: object, env: Env);
    protected readonly env: Env;
  }
}
