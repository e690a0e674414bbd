/**
 * Which addresses may be asked, when someone other than the operator names them. Pure: nothing is resolved or sent here.
 *
 * The operator's own origin is taken as given. What a server names (redirects, metadata, token endpoints, icons) and
 * what a tenant adds must be https, on a public name or a public address, whatever its spelling.
 *
 * @module
 */
import { readUrl } from "./url.ts";

/** What the operator allows beside public https. */
export interface EgressPolicy {
  /** The URL that the operator gave: its origin is allowed as given, on plain http and on a private network too. */
  readonly operator?: string | URL | undefined;
  /** More origins that the operator allows as given, such as the authorization server of the same intranet (none). */
  readonly allow?: readonly (string | URL)[] | undefined;
  /** Whether loopback is allowed, with http as well as https (false). Set it only when the operator's own URL is loopback. */
  readonly loopback?: boolean | undefined;
}

/**
 * Judges a URL by its text: scheme, user name, host. Returns undefined when it may be fetched, else the reason why not.
 * A name that passes may still resolve to a private address: give what it resolves to to {@linkcode judgeAddress}.
 *
 * @param url An absolute URL.
 * @param policy What is allowed beside public https; nothing by default.
 */
export function judgeUrl(url: string | URL, policy: EgressPolicy = {}): string | undefined {
  const parsed = readUrl(url);
  if (!parsed) return "it is not an absolute URL";
  const { protocol, hostname, username, password } = parsed;
  // The scheme comes first: the origin of "blob:https://host/" is "https://host".
  if (!/^https?:$/.test(protocol)) return `its scheme is "${protocol}", not "https:"`;
  if (username || password) return "it carries a user name or a password";
  if (isGivenOrigin(parsed, policy) || (policy.loopback && isLoopbackHost(hostname))) return undefined;
  return protocol === "https:" ? judgeHost(hostname) : 'its scheme is "http:", not "https:"';
}

/**
 * Judges the host of a URL: a public IP address in its usual form, or a name that public DNS can hold. Returns undefined
 * when it is allowed, else the reason. It does not rely on a URL parser: decimal, octal, hexadecimal and short forms of
 * IPv4 are refused as such, unless a parser has rewritten them before.
 *
 * @param hostname As in `URL.hostname`: IPv6 in brackets.
 */
export function judgeHost(hostname: string): string | undefined {
  const host = hostname.toLowerCase();
  const labels = host.split(".");
  const last = labels.at(-1) ?? "";
  if (host.includes(":") || /^(\d+|0x[\da-f]*)$/.test(last)) return judgeAddress(unbracket(host));
  if (host.length > 253 || !labels.every((label) => /^[\w-]{1,63}$/.test(label))) {
    return `"${hostname}" is not a host name in its usual form`;
  }
  if (labels.length < 2 || localZones.includes(last) || /(^|\.)home\.arpa$/.test(host)) {
    return `"${hostname}" is a name of the local machine or network`;
  }
  return undefined;
}

/**
 * Judges one IP address, as a resolver gives it. Returns undefined when it is public, else the reason. IPv4 inside IPv6
 * (mapped, NAT64, 6to4) is judged as the IPv4 address that it leads to. Addresses with a zone (`fe80::1%eth0`) and
 * anything that is not an address are refused.
 *
 * @param address IPv4 in four decimal parts, or IPv6 without brackets.
 */
export function judgeAddress(address: string): string | undefined {
  const bits = bitsOf(address);
  if (!bits) return `"${address}" is not an IP address in its usual form`;
  return isPublic(bits) ? undefined : `the address "${address}" is not public`;
}

/**
 * Tells whether a host is this machine by its text: `localhost`, a name below it, 127.0.0.0/8, or `::1` (IPv6 with or
 * without brackets).
 */
export function isLoopbackHost(hostname: string): boolean {
  if (/^([\w-]+\.)*localhost$/i.test(hostname)) return true;
  const bits = bitsOf(unbracket(hostname));
  return bits !== undefined && (bits.length > 32 ? /^0{127}1$/ : /^01111111/).test(bits);
}

/** Tells whether the URL is on an origin that the operator gave, to be taken as it is. */
export function isGivenOrigin(url: URL, policy: EgressPolicy): boolean {
  const { operator = "", allow = [] } = policy;
  // A WebSocket URL stands for the http(s) origin of the same host.
  return [operator, ...allow].some((given) => readUrl(String(given).replace(/^ws/, "http"))?.origin === url.origin);
}

/** Names that never leave the machine or the network: their last label. `home.arpa` is looked for apart. */
const localZones = ["localhost", "localdomain", "local", "internal"];

type Range = readonly [base: string, bits: number];

/** IPv4 that is not public (IANA special-purpose registry), and the host services of one cloud that hide in a public range. */
const private4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** IPv6 inside 2000::/3 that is not public: protocol assignments with Teredo, and two ranges for examples. */
const private6: readonly Range[] = [["2001::", 23], ["2001:db8::", 32], ["3fff::", 20]];

/** IPv6 that leads to IPv4, and the bit where that begins: mapped, NAT64, 6to4. */
const carriers: readonly (readonly [...Range, at: number])[] = [
  ["::ffff:0:0", 96, 96],
  ["64:ff9b::", 96, 96],
  ["2002::", 16, 16],
];

function isPublic(bits: string): boolean {
  const inside = ([base, length]: readonly [string, number, ...number[]]) =>
    bits.startsWith((bitsOf(base) ?? "").slice(0, length));
  if (bits.length === 32) return !private4.some(inside);
  const carrier = carriers.find(inside);
  if (carrier) return isPublic(bits.slice(carrier[2], carrier[2] + 32));
  // Only 2000::/3 is given out to the public; all else (loopback, local, multicast, the unassigned) is not.
  return bits.startsWith("001") && !private6.some(inside);
}

/** An address as 32 or 128 binary digits, so that a range is a prefix; undefined when the text is no address. */
function bitsOf(address: string): string | undefined {
  if (!address.includes(":")) {
    const parts = address.split(".");
    if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && +part < 256)) return undefined;
    return parts.map((part) => binary(+part, 8)).join("");
  }
  const last = address.slice(address.lastIndexOf(":") + 1);
  const tail = last.includes(".") ? bitsOf(last) : "";
  if (tail === undefined) return undefined;
  const text = tail ? address.slice(0, -last.length) + "0:0" : address;
  const [front = [], back, ...more] = text.split("::").map((half) => (half ? half.split(":") : []));
  const gap = 8 - front.length - (back?.length ?? 0);
  if (more.length || (back ? gap < 1 : gap !== 0)) return undefined;
  const groups = [...front, ...new Array<string>(gap).fill("0"), ...(back ?? [])];
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  const bits = groups.map((group) => binary(parseInt(group, 16), 16)).join("");
  return bits.slice(0, 128 - tail.length) + tail;
}

function binary(value: number, width: number): string {
  return value.toString(2).padStart(width, "0");
}

function unbracket(host: string): string {
  return /^\[.*\]$/.test(host) ? host.slice(1, -1) : host;
}
