/**
 * Addresses that servers name: where they lead, and whether a person may be sent there.
 *
 * @module
 */
import { readUrl } from "../../../../egress/url.ts";
import { findHidden, visible } from "../../../../hub/pins/hidden.ts";

/** What was found out about an address. */
export interface JudgedLink {
  /** The address, so that every character can be seen. */
  readonly shown: string;
  /** Where it leads, as the address itself; undefined: it is not opened. */
  readonly target: string | undefined;
  /** The host that it leads to, in ASCII. */
  readonly host: string;
  /** Why it is not opened, or what to look at. */
  readonly remark: string | undefined;
}

/** Judges an address: only `https:`, without a user in it and without hidden characters, is opened. */
export function judgeLink(text: string): JudgedLink {
  const shown = visible(text);
  const url = readUrl(text);
  const refuse = (remark: string): JudgedLink => ({ shown, target: undefined, host: url?.host ?? "", remark });
  if (!url) return refuse("It is no address, and is not opened.");
  if (url.protocol !== "https:") return refuse("Only https addresses are opened from here.");
  if (url.username !== "" || url.password !== "") {
    return refuse(`It has a user name in it, and leads to ${url.host}: it is not opened.`);
  }
  if (findHidden(text).count > 0) return refuse("It has characters in it that cannot be seen: it is not opened.");
  const isForeign = url.hostname.split(".").some((label) => label.startsWith("xn--"));
  const remark = isForeign ? "The name of this host has letters that can look like others." : undefined;
  return { shown, target: url.href, host: url.host, remark };
}

const pictures: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
const longestPicture = 8 * 2 ** 20;

/** A picture as an address that holds it; undefined where it is none of the types that only hold pixels. */
export function pictureOf(type: unknown, data: unknown): string | undefined {
  if (typeof type !== "string" || typeof data !== "string") return undefined;
  const name = type.trim().toLowerCase();
  if (!pictures.has(name) || data.length > longestPicture || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  return `data:${name};base64,${data}`;
}

/** The picture of an icon; undefined where it is not held in the address itself: nothing is fetched. */
export function iconOf(source: unknown): string | undefined {
  const [, type, data] = typeof source === "string" ? /^data:([a-z/]+);base64,([^,]*)$/i.exec(source) ?? [] : [];
  return pictureOf(type, data);
}
