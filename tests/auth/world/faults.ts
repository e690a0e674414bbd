/**
 * What can go wrong on the way to a site of the world, and back: each is put before the site for some requests.
 *
 * @module
 */
import type { Clock } from "../../../src/ports.ts";
import type { SeenRequest } from "./request_log.ts";

/** Stands before a site: `go` asks the site itself. */
export type Fault = (seen: SeenRequest, go: () => Promise<Response>) => Response | Promise<Response>;

/** The connection breaks before anything arrives. */
export const networkFailure: Fault = () => {
  throw new TypeError("the connection broke");
};

/** The site does what it is asked for, and its reply is lost. */
export const lostReply: Fault = async (_seen, go) => {
  await go();
  throw new TypeError("the connection broke");
};

/** The site answers so much later. */
export function delay(clock: Clock, milliseconds: number): Fault {
  return async (_seen, go) => {
    await new Promise<void>((resolve) => void clock.schedule(resolve, milliseconds));
    return await go();
  };
}

/** The site never answers. */
export const silence: Fault = () => new Promise<Response>(() => {});

/** Holds replies back until `release`. */
export function gate(): { fault: Fault; release(): void } {
  let release = () => {};
  const opened = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fault: Fault = async (_seen, go) => {
    const reply = await go();
    await opened;
    return reply;
  };
  return { fault, release: () => release() };
}

/** Another answer, as it is. */
export function answer(status: number, body: string = "", headers: Record<string, string> = {}): Fault {
  return () => new Response(body === "" ? null : body, { status, headers });
}

/** Another answer, in JSON. */
export function answerJson(body: unknown, status: number = 200): Fault {
  return () => Response.json(body, { status });
}

/** A refusal of an endpoint (RFC 6749, section 5.2). */
export function refusal(error: string, status: number = 400, description?: string): Fault {
  return answerJson({ error, error_description: description }, status);
}

/** Sends elsewhere. */
export function redirect(location: string, status: 301 | 302 | 303 | 307 | 308 = 307): Fault {
  return answer(status, "", { location });
}

/** A page where JSON was expected. */
export const notJson: Fault = answer(200, "<!doctype html><p>hello", { "content-type": "text/html" });

/** A sound reply that is so many bytes too long: blanks in front. */
export function huge(bytes: number): Fault {
  return async (_seen, go) => {
    const reply = await go();
    const text = " ".repeat(bytes) + await reply.text();
    return new Response(text, { status: reply.status, headers: { "content-type": "application/json" } });
  };
}

/** A reply whose body never ends: a blank at each pull, until it is called off. `cancelled` counts that. */
export function endless(counted: { cancelled: number } = { cancelled: 0 }): Fault {
  const blanks = new Uint8Array(4_096).fill(32);
  return () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(blanks.slice()),
      cancel: () => void counted.cancelled++,
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  };
}

/** A reply whose body begins and then comes no further. */
export const stalled: Fault = () => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
};
