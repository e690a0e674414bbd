/** One run of one scenario, as the suite describes it in the environment. */
export interface ScenarioRun {
  /** `MCP_CONFORMANCE_SCENARIO` */
  readonly scenario: string;
  /** `MCP_CONFORMANCE_PROTOCOL_VERSION`: the revision that the suite's server speaks. Never told to the client. */
  readonly version: string;
  /** `MCP_CONFORMANCE_CONTEXT`, or an empty text: JSON that some scenarios need. */
  readonly context: string;
  /** The server. */
  readonly url: string;
}
