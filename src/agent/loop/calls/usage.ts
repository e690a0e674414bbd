/**
 * Tokens that were used.
 *
 * @module
 */
import type { TokenUsage } from "../../api_agent.ts";

/** How many they are, read and written together. */
export function totalOf({ inputTokens, outputTokens }: TokenUsage): number {
  return inputTokens + outputTokens;
}

/** All of them in one. */
export function sum(usages: readonly TokenUsage[]): TokenUsage {
  return usages.reduce((all, { inputTokens, outputTokens }) => ({
    inputTokens: all.inputTokens + inputTokens,
    outputTokens: all.outputTokens + outputTokens,
  }), { inputTokens: 0, outputTokens: 0 });
}
