/**
 * The URL that names a protected resource, and the one of its metadata (RFC 8707, section 2; RFC 9728, section 3.1).
 *
 * @module
 */
import { isLoopbackHost } from "../../egress/address.ts";
import { readUrl } from "../../egress/url.ts";

/** What every path of metadata begins with. */
export const wellKnown = "/.well-known/oauth-protected-resource";

/** A resource: its name and where its metadata is. */
export interface ResourceUrl {
  /** As the author wrote it: documents and tokens name it so. */
  readonly href: string;
  /** What compares equal for every spelling of the same URL. */
  readonly canonical: string;
  /** The path of its metadata: `/.well-known/oauth-protected-resource/mcp` for `/mcp`. */
  readonly metadataPath: string;
  /** The URL of its metadata. */
  readonly metadataUrl: string;
}

/**
 * Reads the URL of a resource.
 *
 * @throws {TypeError} When it is not absolute, not https (http on this machine is), or has a user, a query or a fragment.
 */
export function readResource(text: string): ResourceUrl {
  const canonical = canonicalUrl(text);
  if (canonical === undefined) {
    throw new TypeError(
      `Cannot protect "${text}": expected an absolute URL without user, query and fragment, such as "https://mcp.example.com/mcp"`,
    );
  }
  const { protocol, hostname, origin, pathname } = new URL(text);
  if (protocol !== "https:" && !(protocol === "http:" && isLoopbackHost(hostname))) {
    throw new TypeError(`Cannot protect "${text}": expected "https:", or "http:" on this machine`);
  }
  const metadataPath = wellKnown + (pathname === "/" ? "" : pathname);
  return { href: text, canonical, metadataPath, metadataUrl: origin + metadataPath };
}

/**
 * A URL in the form that compares: scheme and host in lower case, no port that goes without saying, no slash at the end.
 * Undefined for what names no resource, and for paths that would have to be worked out (`/x/../mcp`).
 */
export function canonicalUrl(text: string): string | undefined {
  const [, path] = /^https?:\/\/[^/?#\\\s]+(\/[^?#\\\s]*|)$/i.exec(text) ?? [];
  const url = path === undefined ? undefined : readUrl(text);
  if (!url) return undefined;
  const { origin, username, password, pathname } = url;
  if (username || password || pathname !== (path || "/")) return undefined;
  return origin + pathname.replace(/\/$/, "");
}
