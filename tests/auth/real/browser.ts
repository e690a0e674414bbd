/**
 * A person with a real browser's manners: cookies are kept, redirects are followed, forms are filled in and sent.
 *
 * @module
 */

/** How many pages lead from the first to the last at most. */
const mostPages = 20;

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/** A browser at one authorization server. */
export class Browser {
  /** The pages that were seen, without their queries. */
  readonly pages: string[] = [];
  readonly #login: string;
  #cookies: Cookie[] = [];

  /** @param login The name that the person signs in with. */
  constructor(login: string = "ada") {
    this.#login = login;
  }

  /**
   * Goes to a link, and on through all forms.
   *
   * @param until Where the way ends: what it is sent to there is not visited.
   * @returns That URL; or, where no form is left, what the last page says.
   * @throws {Error} When the way does not end.
   */
  async go(link: string | URL, until?: string): Promise<string> {
    let next: { url: string; form?: URLSearchParams } = { url: String(link) };
    for (let pages = 0; pages < mostPages; pages++) {
      if (until !== undefined && isAt(next.url, until)) return next.url;
      const response = await this.#visit(next.url, next.form);
      const text = await response.text();
      const location = response.headers.get("location");
      const form = location === null ? readForm(text, next.url) : undefined;
      if (location !== null) next = { url: new URL(location, next.url).href };
      else if (form) next = { url: form.action, form: this.#fillIn(form.fields) };
      else if (until === undefined) return text;
      else {throw new Error(
          `The browser is stuck at ${response.status}: ${text.replace(/^.*<body>|<[^>]*>/gs, " ").trim()}`,
        );}
    }
    throw new Error(`The browser was sent on ${mostPages} times: ${this.pages.join(" ")}`);
  }

  /** The same, as the `authorize` of `createOAuth`. */
  readonly authorize = ({ authorizationUrl }: { readonly authorizationUrl: string }): Promise<string> => {
    return this.go(authorizationUrl, new URL(authorizationUrl).searchParams.get("redirect_uri") ?? undefined);
  };

  async #visit(url: string, form: URLSearchParams | undefined): Promise<Response> {
    const { origin, pathname } = new URL(url);
    this.pages.push(origin + pathname);
    const sent = this.#cookies.filter(({ path }) => pathname.startsWith(path));
    const cookie = sent.map(({ name, value }) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html", ...(cookie && { cookie }) };
    const init: RequestInit = form ? { method: "POST", body: form.toString() } : {};
    const type = form ? { "content-type": "application/x-www-form-urlencoded" } : {};
    const response = await fetch(url, { ...init, headers: { ...headers, ...type }, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  #keep(line: string): void {
    const [pair = "", ...attributes] = line.split(/;\s*/);
    const [, name = "", value = ""] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
    const told = new Map(attributes.map((attribute) => {
      const [key = "", content = ""] = attribute.split("=");
      return [key.toLowerCase(), content];
    }));
    const path = told.get("path") ?? "/";
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    const expires = Date.parse(told.get("expires") ?? "");
    if (value !== "" && !(expires <= Date.now())) this.#cookies.push({ name, value, path });
  }

  #fillIn(fields: URLSearchParams): URLSearchParams {
    const known = { login: this.#login, password: "of no interest" };
    for (const [name, value] of Object.entries(known)) if (fields.has(name)) fields.set(name, value);
    return fields;
  }
}

/** The first form of a page. */
function readForm(page: string, url: string): { action: string; fields: URLSearchParams } | undefined {
  const [, head = "", body = ""] = /<form([^>]*)>(.*?)<\/form>/s.exec(page) ?? [];
  const action = attribute(head, "action");
  if (action === undefined) return undefined;
  const fields = new URLSearchParams();
  for (const [input] of body.matchAll(/<input[^>]*>/gs)) {
    const name = attribute(input, "name");
    if (name !== undefined) fields.set(name, attribute(input, "value") ?? "");
  }
  return { action: new URL(action, url).href, fields };
}

function attribute(tag: string, name: string): string | undefined {
  const text = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return text?.replace(/&amp;/g, "&").replace(/&#x2F;/gi, "/").replace(/&quot;/g, '"');
}

function isAt(url: string, until: string): boolean {
  const [reached, wanted] = [new URL(url), new URL(until)];
  return reached.origin === wanted.origin && reached.pathname === wanted.pathname;
}
