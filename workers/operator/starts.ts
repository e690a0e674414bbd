/**
 * Runs that nobody asks for by HTTP: by the clock, and out of a queue.
 *
 * @module
 */
import { isObject } from "../../src/protocol/json_rpc.ts";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";
import { sendToTenant } from "../tenant/door.ts";
import type { RunnerEnv } from "../env.ts";
import { logger } from "./log.ts";
import type { Operator } from "./operator.ts";

/** One run to start: what a message of the queue holds. Who can write to the queue can start runs as anybody. */
export interface RunOrder {
  readonly tenant: string;
  /** Whose run it is. The policy has to let them run the agent. */
  readonly principal: string;
  readonly agent: string;
  /** As in the body of `POST /api/runs`. */
  readonly input: string | readonly JsonObject[];
  readonly output?: JsonObject | undefined;
  readonly deadline?: number | undefined;
  /** The same key starts the same run (the id of the message): for producers that send again. */
  readonly key?: string | undefined;
}

/** A message of a queue, as a Worker is given it. */
export interface OrderMessage {
  readonly id: string;
  readonly body: unknown;
  ack(): void;
  retry(options?: { delaySeconds?: number }): void;
}

/** How much is started at one time: as many connections as a Worker has. */
const atOnce = 6;
/** How long a message waits after a refusal that is no one's fault, in seconds: at least, and at most. */
const delays = { least: 5, most: 600 } as const;

/**
 * Starts the runs that are due: in the queue where there is one, so that each is tried again by itself, else at once.
 *
 * @throws {Error} When some could not be started: the names are in the message.
 */
export async function startDue(
  { cron, scheduledTime }: { readonly cron: string; readonly scheduledTime: number },
  { env, operator }: { readonly env: RunnerEnv; readonly operator: Operator },
): Promise<void> {
  const due = (await operator.config()).schedules.filter((schedule) => schedule.cron === cron);
  const failed: string[] = [];
  await inTurns(due, async ({ name, cron: _, ...order }) => {
    // A tick that is told twice starts nothing twice.
    const key = `cron:${name}:${scheduledTime}`;
    try {
      if (env.STARTS) await env.STARTS.send({ ...order, key });
      else await startNow(name, { ...order, key }, env);
    } catch (error) {
      logger({ level: "error", message: "A scheduled run was not started", fields: { name, error } });
      failed.push(name);
    }
  });
  if (failed.length) throw new Error(`Scheduled runs were not started: ${failed.join(", ")}`);
}

/**
 * Starts the runs of a batch. What may go well later (a quota, something that is down) is tried again after a while; what never will is a
 * dead letter, with why. What was started is not started again, however often a message comes.
 */
export async function startBatch(messages: readonly OrderMessage[], env: RunnerEnv): Promise<void> {
  await inTurns(messages, async (message) => {
    try {
      const order = readOrder(message.body);
      if (typeof order === "string") return await bury(message, { status: 400, detail: order }, env);
      const response = await start({ ...order, key: order.key ?? `queue:${message.id}` }, env);
      const { status, headers } = response;
      const text = await response.text();
      if (status === 202) return message.ack();
      if (status === 429 || status >= 500) {
        const wanted = Number(headers.get("retry-after")) || delays.least;
        return message.retry({ delaySeconds: Math.min(Math.max(wanted, delays.least), delays.most) });
      }
      await bury(message, { status, detail: text.slice(0, 2_000) }, env);
    } catch (error) {
      logger({ level: "error", message: "A queued run was not started", fields: { id: message.id, error } });
      message.retry({ delaySeconds: delays.least });
    }
  });
}

async function startNow(name: string, order: RunOrder, env: RunnerEnv): Promise<void> {
  const response = await start(order, env);
  const text = await response.text();
  if (response.status !== 202) throw new Error(`"${name}" was refused with ${response.status}: ${text.slice(0, 500)}`);
}

/** Starts a run as its principal: policy, quotas and audit are those of every other one. */
async function start({ tenant, principal: id, key = "", ...body }: RunOrder, env: RunnerEnv): Promise<Response> {
  const request = new Request("https://runner.invalid/api/runs", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
  });
  return await sendToTenant({ request, principal: { id, tenant }, tenant }, env);
}

/** Puts a message that nothing will come of away, with the reason; without a place of its own it goes where the queue puts such. */
async function bury(message: OrderMessage, why: JsonObject, { DEAD_LETTERS }: RunnerEnv): Promise<void> {
  logger({ level: "error", message: "A queued run was refused", fields: { id: message.id, ...why } });
  if (!DEAD_LETTERS) return message.retry({ delaySeconds: delays.least });
  await DEAD_LETTERS.send({ id: message.id, order: message.body, refused: why });
  message.ack();
}

/** What a message says, or what is wrong with it. */
function readOrder(body: unknown): RunOrder | string {
  if (!isObject(body)) return "The message is no object";
  for (const field of ["tenant", "principal", "agent"]) {
    if (typeof body[field] !== "string" || body[field] === "") return `"${field}" is no text`;
  }
  const { key } = body;
  if (key !== undefined && (typeof key !== "string" || !/^[!-~]{1,255}$/.test(key))) {
    return '"key" is not 1 to 255 visible ASCII characters';
  }
  // The rest is looked at where every start is.
  return body as unknown as RunOrder;
}

async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += atOnce) {
    await Promise.all(items.slice(from, from + atOnce).map(work));
  }
}
