import { describe, test } from "node:test";
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import fc from "fast-check";
import { judgeAddress, judgeUrl } from "../../src/egress/address.ts";
import { readUrl } from "../../src/egress/url.ts";

/** IPv4 ranges that must be refused, as the project's facts list them, and one cloud's host services. */
const forbidden4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** IPv6 ranges that must be refused; mapped, NAT64 and 6to4 addresses are tested apart. */
const forbidden6 = [
  "::/128",
  "::1/128",
  "::/96", // IPv4-compatible
  "::ffff:0:0:0/96", // IPv4-translated
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001::/32",
  "2001:2::/48",
  "2001:20::/28",
  "2001:db8::/32",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fd00:ec2::254/128", // a cloud's metadata
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
];

describe("judgeAddress", () => {
  test("refuses both ends of every forbidden range", () => {
    for (const range of [...forbidden4, ...forbidden6]) {
      const [base = "", length = ""] = range.split("/");
      const width = base.includes(":") ? 128 : 32;
      const first = toNumber(base);
      const last = first | ((1n << BigInt(width - Number(length))) - 1n);
      for (const value of [first, last]) {
        assert(judgeAddress(toText(value, width)), `${toText(value, width)} of ${range}`);
      }
    }
  });

  test("lets public addresses pass in each of their forms", () => {
    const addresses = ["8.8.8.8", "2606:4700::1111", "2606:4700:0:0:0:0:0:1111", "2606:4700:ABCD::1.2.3.4", "2606::"];
    addresses.push("::ffff:8.8.8.8", "::FFFF:808:808", "64:ff9b::8.8.8.8", "2002:808:808::", "2001:200::", "3ffe::1");
    for (const address of addresses) assertEquals(judgeAddress(address), undefined, address);
  });

  test("refuses what is not an address in its usual form", () => {
    const texts = [
      "",
      "localhost",
      "8.8.8",
      "8.8.8.8.8",
      "08.8.8.8",
      "8.8.8.256",
      "32.8.8.256",
      "8.8.8.-1",
      "8.8.8.8 ",
      " 8.8.8.8",
      "8.8.8.8\n",
      "+8.8.8.8",
    ];
    texts.push(
      "2606:4700::1111%eth0",
      "[2606:4700::1111]",
      "2606:4700:::1",
      "2606::4700::1",
      "2606:4700:1:1:1:1:1",
      "1:2:3:4:5:6:7:8:9",
    );
    texts.push(
      "2606:4700:1:1:1:1:1:1::",
      "::2606:4700:1:1:1:1:1:1",
      "2606:47000::1",
      "2606:470g::1",
      ":2606::1",
      "2606::1:",
      "2606::8.8.8",
      "2606::08.8.8.8",
    );
    texts.push(
      "64:ff9b::8.8.8.8.8",
      "64:ff9b::8.8.8.8:1",
      "1:2:3:4:5:6:7:8.8.8.8",
      "8.8.8.8::",
      ":",
      "::::",
      "2606:4700::1111/64",
    );
    for (const text of texts) assert(judgeAddress(text), JSON.stringify(text));
  });

  test("agrees with a second implementation on random addresses, in every way to write them", () => {
    const near = fc.constantFrom(...[
      ...forbidden4,
      ...forbidden6,
      "8.8.8.8/32",
      "2000::/3",
      "2002::/16",
      "64:ff9b::/96",
      "::ffff:0:0/96",
    ]);
    const distance = fc.bigInt({ min: -70_000n, max: 70_000n });
    const aimed = fc.tuple(near, distance, fc.boolean(), fc.bigInt({ min: 0n, max: (1n << 112n) - 1n })).map(
      ([range, step, far, random]) => {
        const [base = "", length = ""] = range.split("/");
        const width = base.includes(":") ? 128 : 32;
        const size = 1n << BigInt(width - Number(length));
        const value = toNumber(base) + (far ? random % size : step >= 0n ? step : size - step);
        return toText(BigInt.asUintN(width, value), width);
      },
    );
    let allowed = 0;
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), aimed), (address) => {
        const verdict = judgeAddress(address) === undefined;
        if (verdict) allowed++;
        assertEquals(verdict, isPublic(address), address);
        const url = `https://${address.includes(":") ? `[${address}]` : address}/`;
        // Bun 1.4.4 does not parse every valid IPv6 literal, such as "[::0:0:0:0:0.0.0.0]".
        if (readUrl(url)) assertEquals(judgeUrl(url) === undefined, verdict, address);
        else assert(judgeUrl(url), address);
      }),
      { numRuns: 20_000 },
    );
    assertGreaterOrEqual(allowed, 1_000, "too few allowed addresses were met");
  });
});

/** The second implementation: BigInt ranges. */
function isPublic(address: string): boolean {
  const value = toNumber(address);
  if (!address.includes(":")) return isPublic4(value);
  const below = (length: number) => value >> BigInt(128 - length);
  if (below(96) === 0xffffn || below(96) === 0x64_ff9bn << 64n) return isPublic4(value & 0xffff_ffffn);
  if (below(16) === 0x2002n) return isPublic4((value >> 80n) & 0xffff_ffffn);
  return below(3) === 1n && below(23) !== 0x2001_0000n >> 9n && below(32) !== 0x2001_0db8n && below(20) !== 0x3fff0n;
}

function isPublic4(value: bigint): boolean {
  return !forbidden4.some((range) => {
    const [base = "", length = ""] = range.split("/");
    const first = toNumber(base);
    return value >= first && value < first + (1n << BigInt(32 - Number(length)));
  });
}

function toNumber(address: string): bigint {
  if (!address.includes(":")) return address.split(".").reduce((value, part) => value * 256n + BigInt(part), 0n);
  const inHex = address.replace(/[\d.]+\.\d+$/, (tail) => {
    const value = toNumber(tail);
    return (value >> 16n).toString(16) + ":" + (value & 0xffffn).toString(16);
  });
  const [front = "", back = ""] = inHex.split("::");
  const head = front.split(":").filter(Boolean);
  const tail = back.split(":").filter(Boolean);
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail];
  return groups.reduce((value, group) => value * 65_536n + BigInt("0x" + group), 0n);
}

function toText(value: bigint, width: number): string {
  const size = width === 32 ? 8n : 16n;
  const parts = Array.from({ length: width / Number(size) }, (_, index) => {
    return (value >> (BigInt(width) - size * BigInt(index + 1))) & ((1n << size) - 1n);
  });
  return width === 32 ? parts.join(".") : parts.map((part) => part.toString(16)).join(":");
}
