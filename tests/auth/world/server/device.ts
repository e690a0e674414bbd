/**
 * Device authorization (RFC 8628): the person decides elsewhere, the client asks again and again.
 *
 * @module
 */
import type { Clock } from "../../../../src/ports.ts";
import type { Grounds } from "./issued.ts";
import { unguessable } from "./issued.ts";
import type { DeviceKnobs } from "./knobs.ts";
import { Refusal } from "./refusal.ts";

interface Waiting {
  readonly grounds: Grounds;
  readonly userCode: string;
  readonly expiresAt: number;
  decision: "none" | "approved" | "denied" | "used";
  interval: number;
  askedAt: number;
}

/** The devices that wait at one server. */
export class Devices {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins: what the endpoint answers. */
  begin(grounds: Grounds, page: string, knobs: DeviceKnobs): Response {
    const deviceCode = unguessable("device");
    const userCode = `WDJB-${String(1_000 + this.#waiting.size)}`;
    const { interval = 5, lifetime, isComplete } = knobs;
    const now = this.#clock.now();
    const expiresAt = now + lifetime * 1_000;
    this.#waiting.set(deviceCode, { grounds, userCode, expiresAt, decision: "none", interval, askedAt: now });
    return Response.json({
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      ...(isComplete ? { verification_uri_complete: `${page}?user_code=${userCode}` } : {}),
      expires_in: lifetime,
      ...(knobs.interval === undefined ? {} : { interval }),
    });
  }

  /** What the person says. */
  decide(userCode: string, decision: "approved" | "denied"): void {
    const waiting = [...this.#waiting.values()].find((device) => device.userCode === userCode);
    if (!waiting) throw new Error(`No device waits with the code "${userCode}"`);
    waiting.decision = decision;
  }

  /** Answers a client that asks. @throws {Refusal} When there is nothing for it, or it asks too often. */
  poll(deviceCode: string, clientId: string, knobs: DeviceKnobs): Grounds {
    const waiting = this.#waiting.get(deviceCode);
    if (waiting?.grounds.clientId !== clientId || waiting.decision === "used") {
      throw new Refusal("invalid_grant", "the device code is not known");
    }
    const now = this.#clock.now();
    const since = now - waiting.askedAt;
    waiting.askedAt = now;
    if (waiting.expiresAt <= now) throw new Refusal("expired_token", "the device code has expired");
    if (since < waiting.interval * 1_000) throw this.#slowDown(waiting);
    const answer = knobs.answers.shift();
    if (answer === "slow_down") throw this.#slowDown(waiting);
    if (answer !== undefined) throw new Refusal(answer, "as the test wants it");
    if (waiting.decision === "denied") throw new Refusal("access_denied", "the person said no");
    if (waiting.decision === "none") throw new Refusal("authorization_pending", "the person has not decided");
    waiting.decision = "used";
    return waiting.grounds;
  }

  #slowDown(waiting: Waiting): Refusal {
    waiting.interval += 5;
    return new Refusal("slow_down", `ask each ${waiting.interval} seconds`);
  }
}
