/**
 * Events of a run for people: what the model says on the standard output, all else on the standard error.
 *
 * @module
 */
import process from "node:process";
import type { AgentEnd, AgentEvent } from "../../../agent/loop/seam.ts";
import { exitCodes } from "../../failure.ts";
import { writeError, writeNext } from "../../terminal.ts";
import { firstLine, jsonLine, oneLine, plain } from "../../text/plain.ts";

/** Tells events as they come. */
export class EventTeller {
  readonly #json: boolean;
  /** Whether the last text ended in the middle of a line. */
  #isOpen = false;
  /** Whether a program reads the results: it cannot take back what turns out to be void. */
  readonly #isPiped = process.stdout.isTTY !== true;
  /** What the model has said in this step, where it may still turn out to be void. */
  #held = "";

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
      if (!this.#isPiped) return await this.#write(plain(event.text));
      this.#held += event.text;
      return true;
    }
    if (event.type === "restarted") this.#held = "";
    const line = lineOf(event);
    if (line === undefined) return true;
    const isRead = await this.close();
    await writeError(`causeway: ${line}\n`);
    return isRead;
  }

  /**
   * Says what was held, and ends a line that was begun.
   *
   * @returns False when nobody reads it.
   */
  async close(): Promise<boolean> {
    const held = plain(this.#held);
    this.#held = "";
    const isRead = held === "" || await this.#write(held);
    const isOpen = this.#isOpen;
    this.#isOpen = false;
    return isRead && (!isOpen || await writeNext("\n"));
  }

  async #write(text: string): Promise<boolean> {
    if (text !== "") this.#isOpen = !text.endsWith("\n");
    return await writeNext(text);
  }
}

/** What is told of an event that is no text; undefined for what nobody waits for. */
function lineOf(event: AgentEvent): string | undefined {
  if (event.type === "tool_call") {
    const { server, tool, arguments: args } = event.call;
    return `calls ${nameOf(server, tool)} ${firstLine(JSON.stringify(args), 200)}`;
  }
  if (event.type === "observation") {
    const { server, tool, outcome, took } = event.observation;
    return `${nameOf(server, tool)}: ${outcome.replace("_", " ")}, ${took} ms`;
  }
  if (event.type === "restarted") return `asks the model again: ${oneLine(event.reason)}`;
  return undefined;
}

/** What no server has stands alone. */
function nameOf(server: string, tool: string): string {
  return oneLine(server === "" ? tool : `${server}.${tool}`);
}

/** The exit code of a run that has ended, after what is to be said of it. */
export async function tellEnd(end: AgentEnd, json: boolean): Promise<number> {
  if (end.type === "succeeded") {
    const lack = end.finish === "length"
      ? "the model was cut off: its answer is not whole"
      : end.text.trim() === ""
      ? "the model has ended without an answer"
      : undefined;
    if (lack !== undefined && !json) await writeError(`causeway: ${lack}\n`);
    return exitCodes.ok;
  }
  const why = end.type === "failed" ? `${end.error.code}: ${end.error.message}` : end.reason;
  if (!json) {
    await writeError(`causeway: the run ${end.type === "failed" ? "failed" : "was cancelled"}: ${oneLine(why)}\n`);
  }
  return exitCodes.toolFailed;
}
