/**
 * Checks for `format`. Each is linear in the text.
 *
 * @module
 */
import type { FormatChecks } from "./node.ts";

/** The formats of JSON Schema that can be checked without tables: hand them to `createSchemaValidator` to make `format` decide. */
export const formatChecks: FormatChecks = {
  "date-time": isDateTime,
  date: isDate,
  time: isTime,
  duration: (text) =>
    /^P(?=\d|T\d)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/
      .test(text),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uri: isUri,
  "uri-reference": isUriReference,
  uuid: (text) => /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text),
  "json-pointer": isJsonPointer,
  "relative-json-pointer": (text) => {
    const found = /^(?:0|[1-9]\d*)(#?)/.exec(text);
    return found !== null && (found[1] ? text === found[0] : isJsonPointer(text.slice(found[0].length)));
  },
};

function isDateTime(text: string): boolean {
  return /^.{10}[tT]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? [];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day > 0 && day <= ([31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0);
}

function isTime(text: string): boolean {
  const found = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[zZ]|([+-])(\d\d):(\d\d))$/.exec(text);
  if (!found) return false;
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number);
  const [offsetHour, offsetMinute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  const offset = (offsetHour * 60 + offsetMinute) * (found[4] === "-" ? 1 : -1);
  return second < 60 || (hour * 60 + minute + offset + 1440) % 1440 === 1439;
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const [name, host] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || at > 64) return false;
  const local = /^(?:[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*|"(?:[^"\\\r\n]|\\[^\r\n])*")$/.test(name);
  const literal = /^\[(IPv6:)?(.*)\]$/i.exec(host);
  return local && (literal ? (literal[1] ? isIpv6 : isIpv4)(literal[2] ?? "") : isHostname(host));
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(label));
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  let count = 0;
  for (const [half, groups] of halves.map((half) => half === "" ? [] : half.split(":")).entries()) {
    for (const [index, group] of groups.entries()) {
      const last = half === halves.length - 1 && index === groups.length - 1;
      const dotted = last && isIpv4(group);
      if (!dotted && !/^[\da-f]{1,4}$/i.test(group)) return false;
      count += dotted ? 2 : 1;
    }
  }
  return halves.length === 2 ? count < 8 : halves.length === 1 && count === 8;
}

function isUri(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:/i.test(text) && isUriReference(text);
}

/** RFC 3986: its characters, its escapes, and the rules for the place of `:`, `[` and `#`. */
function isUriReference(text: string): boolean {
  if (!/^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-fA-F]{2})*$/.test(text)) return false;
  const [, scheme, authority, rest = ""] = /^([^:/?#]*:)?(?:\/\/([^/?#]*))?(.*)$/.exec(text) ?? [];
  if (scheme !== undefined && !/^[a-z][a-z\d+.-]*:$/i.test(scheme)) return false;
  if (/[[\]]/.test(rest) || rest.split("#").length > 2) return false;
  if (authority === undefined) return true;
  const host = /^(?:[^@[\]]*@)?(?:\[([^\]]*)\]|[^:@[\]]*)(?::\d*)?$/.exec(authority);
  return host !== null &&
    (host[1] === undefined || isIpv6(host[1]) || /^v[\da-f]+\.[\w\-.~!$&'()*+,;=:]+$/i.test(host[1]));
}

function isJsonPointer(text: string): boolean {
  return /^(?:\/(?:[^/~]|~[01])*)*$/.test(text);
}
