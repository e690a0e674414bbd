/**
 * What was asked in the world, by whom, in its order.
 *
 * @module
 */

/** One request, read to its end. */
export interface SeenRequest {
  /** Who asked: the program under test, or the person's browser. */
  readonly by: "client" | "person";
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
  /** The body, where it is a form. */
  readonly form: URLSearchParams;
  readonly signal: AbortSignal | undefined;
  /** When it came, in milliseconds of the world's clock. */
  readonly at: number;
  /** The status of the reply, once there is one; 0: the connection broke. */
  status?: number;
}

/** Which requests: a path or the end of one (`/token`), a whole URL without its query, or a question. */
export type Which = string | ((seen: SeenRequest) => boolean);

/** Whether a request is meant. */
export function isMeant(seen: SeenRequest, which: Which): boolean {
  if (typeof which === "function") return which(seen);
  return which.startsWith("/") ? seen.url.pathname.endsWith(which) : seen.url.origin + seen.url.pathname === which;
}

/** The log. */
export class RequestLog {
  readonly all: SeenRequest[] = [];

  /** The requests that are meant, in their order. */
  of(which: Which): SeenRequest[] {
    return this.all.filter((seen) => isMeant(seen, which));
  }

  /** How many requests are meant. */
  count(which: Which): number {
    return this.of(which).length;
  }

  /** The requests at token endpoints, of one grant type or of all. */
  tokens(grantType?: string): SeenRequest[] {
    const wanted = (seen: SeenRequest) => grantType === undefined || seen.form.get("grant_type") === grantType;
    return this.of("/token").filter(wanted);
  }

  /** The fetches of metadata, of resources and servers. */
  metadata(): SeenRequest[] {
    return this.of(({ url }) => url.pathname.includes("/.well-known/"));
  }

  /** The requests that hold a text somewhere: in their URL, headers or body. */
  holding(text: string): SeenRequest[] {
    const spelled = [text, encodeURIComponent(text)];
    return this.all.filter(({ url, headers, body }) => {
      const whole = `${url.href}\n${[...headers].join("\n")}\n${body}`;
      return spelled.some((spelling) => whole.includes(spelling));
    });
  }

  /** Forgets all, so that a test counts from here. */
  clear(): void {
    this.all.length = 0;
  }
}
