/**
 * What Node was told of a proxy.
 *
 * @module
 */

/** What `NODE_USE_ENV_PROXY=1` or `--use-env-proxy` has said to Node's own agent; undefined: nothing, as before Node 24.5. */
export function proxyOf(agent: object): object | undefined {
  return (agent as { readonly options?: { readonly proxyEnv?: object } }).options?.proxyEnv;
}
