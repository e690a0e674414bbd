/**
 * Refusals of an endpoint, and the replies that tell them (RFC 6749, section 5.2).
 *
 * @module
 */

/** Why an endpoint refuses. */
export class Refusal extends Error {
  /** The code: `invalid_grant`, … */
  readonly code: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: string, reason: string, status: number = 400, headers: Readonly<Record<string, string>> = {}) {
    super(reason);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

/** The reply that tells a refusal. What is no refusal is a fault of the test, and thrown on. */
export function tellRefusal(error: unknown, status?: number): Response {
  if (!(error instanceof Refusal)) throw error;
  const body = { error: error.code, error_description: error.message };
  const headers = { "cache-control": "no-store", ...error.headers };
  return Response.json(body, { status: status ?? error.status, headers });
}

/** One parameter of a form. @throws {Refusal} When it is missing. */
export function need(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value) return value;
  throw new Refusal("invalid_request", `${name} is missing`);
}

/** The scopes of a form. */
export function scopesOf(form: URLSearchParams): string[] {
  return (form.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
}
