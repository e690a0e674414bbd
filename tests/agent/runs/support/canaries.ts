/**
 * Secrets of twelve kinds, each in another place of a run, and what looks for them.
 *
 * @module
 */
import type { DurableRuns, RunnableAgent } from "../../../../src/agent/mod.ts";
import type { SqlDatabase } from "../../../../src/ports.ts";
import { reach, start } from "./runs.ts";

const kinds = [
  "access token",
  "refresh token",
  "client secret",
  "API key",
  "cookie",
  "environment",
  "session id",
  "authorization code",
  "PKCE verifier",
  "state",
  "requestState",
  "password",
] as const;

/** One secret of each kind. */
export const canaries: Readonly<Record<typeof kinds[number], string>> = Object.fromEntries(
  kinds.map((kind, at) => [kind, `canary-${kind.replaceAll(/\W/g, "-")}-"${at * 7_919 + 104_729}/+=`]),
) as Record<typeof kinds[number], string>;

/** An agent through whose hands all of them go. */
export const tellTale: RunnableAgent = {
  async execute(_, { steps, emit, ask }) {
    await steps.do("read", { argumentsHash: canaries["API key"] }, () => Promise.resolve(canaries["refresh token"]));
    await steps.do(
      "long",
      { repeatable: true },
      () => Promise.resolve("x".repeat(300_000) + canaries["client secret"]),
    );
    await steps.do("broken", {}, () => Promise.reject(new Error(canaries.cookie))).catch(() => {});
    emit("text", { type: "text", step: 1, text: canaries.environment });
    emit("long text", { type: "text", step: 2, text: "y".repeat(300_000) + canaries["session id"] });
    const pending = { requestState: canaries.requestState };
    await steps.do("pending", {}, () => Promise.resolve({ type: "pending", pending }));
    const parameters = { verifier: canaries["PKCE verifier"] };
    const call = { id: "c", server: "s", tool: "t", name: "s_t", arguments: parameters, argumentsHash: "00" };
    const message = canaries["authorization code"];
    await ask({ id: "well?", kind: "approval", server: "s", message, askedAt: 0, call });
    await steps.waitForEvent("sent", { type: "sent" });
    const usage = { inputTokens: 0, outputTokens: 0 };
    return { type: "succeeded", text: canaries.state, usage, steps: 2 };
  },
};

/**
 * Lets a run have them all.
 *
 * @param until It stands still at its question, or ends.
 */
export async function plantCanaries(
  runs: DurableRuns,
  until: "needs_input" | "succeeded" = "succeeded",
): Promise<string> {
  const input = `${canaries["access token"]} ${canaries["client secret"]}`;
  const { id } = await runs.start({ ...start, agent: "tellTale", input });
  await reach(runs, id, "needs_input");
  if (until === "needs_input") return id;
  await runs.answer(id, "well?", { action: "accept", content: { password: canaries.password } });
  await runs.send(id, "sent", canaries);
  await reach(runs, id, "succeeded");
  return id;
}

/** The kinds that bytes hold: as they are, as JSON, in Base64, URL-encoded, in hexadecimal digits. */
export function findCanaries(bytes: Uint8Array): string[] {
  const text = new TextDecoder("latin1").decode(bytes);
  return Object.entries(canaries).filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
    .map(([kind]) => kind);
}

/** All cells of all tables, in a row. */
export function dump(database: SqlDatabase): Uint8Array {
  const names = database.all(
    "select name from sqlite_master where type = 'table' and name like 'agent\\_%' escape '\\'",
  );
  const cells = names.flatMap(({ name }) => database.all(`select * from ${String(name)}`)).flatMap(Object.values);
  const parts = cells.map((cell) => cell instanceof Uint8Array ? cell : new TextEncoder().encode(String(cell)));
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length + 1, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length + 1;
  }
  return all;
}

function formsOf(secret: string): string[] {
  const base64 = btoa(secret).replace(/=+$/, "").slice(0, -1);
  const hex = [...secret].map((character) => character.charCodeAt(0).toString(16)).join("");
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret), base64, hex];
}
