/**
 * Events of a run for people: what the model says on the standard output, all else on the standard error.
 *
 * @module
 */
import type { AgentEnd, AgentEvent } from "../../../agent/loop/seam.ts";
import { exitCodes } from "../../failure.ts";
import { writeError, writeNext } from "../../terminal.ts";
import { firstLine, jsonLine, oneLine, plain } from "../../text/plain.ts";

/** Tells events as they come. */
export class EventTeller {
  readonly #json: boolean;
  /** Whether the last text ended in the middle of a line. */
  #isOpen = false;

  /** @param json Whether each event becomes a line of JSON. */
  constructor(json: boolean) {
    this.#json = json;
  }

  /**
   * Tells one.
   *
   * @returns False when nobody reads the standard output any more.
   */
  async tell(event: AgentEvent): Promise<boolean> {
    if (this.#json) return await writeNext(jsonLine(event));
    if (event.type === "text") {
      const text = plain(event.text);
      if (text !== "") this.#isOpen = !text.endsWith("\n");
      return await writeNext(text);
    }
    const line = lineOf(event);
    if (line === undefined) return true;
    const isRead = await this.close();
    await writeError(`causeway: ${line}\n`);
    return isRead;
  }

  /**
   * Ends a line that was begun.
   *
   * @returns False when nobody reads it.
   */
  async close(): Promise<boolean> {
    const isOpen = this.#isOpen;
    this.#isOpen = false;
    return !isOpen || await writeNext("\n");
  }
}

/** What is told of an event that is no text; undefined for what nobody waits for. */
function lineOf(event: AgentEvent): string | undefined {
  if (event.type === "tool_call") {
    const { server, tool, arguments: args } = event.call;
    return `calls ${oneLine(`${server}.${tool}`)} ${firstLine(JSON.stringify(args), 200)}`;
  }
  if (event.type === "observation") {
    const { server, tool, outcome, took } = event.observation;
    return `${oneLine(`${server}.${tool}`)}: ${outcome.replace("_", " ")}, ${took} ms`;
  }
  if (event.type === "restarted") return `asks the model again: ${oneLine(event.reason)}`;
  return undefined;
}

/** The exit code of a run that has ended, after what is to be said of it. */
export async function tellEnd(end: AgentEnd, json: boolean): Promise<number> {
  if (end.type === "succeeded") return exitCodes.ok;
  const why = end.type === "failed" ? `${end.error.code}: ${end.error.message}` : end.reason;
  if (!json) {
    await writeError(`causeway: the run ${end.type === "failed" ? "failed" : "was cancelled"}: ${oneLine(why)}\n`);
  }
  return exitCodes.toolFailed;
}
