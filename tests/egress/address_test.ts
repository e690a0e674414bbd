import { describe, test } from "node:test";
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import fc from "fast-check";
import { isLoopbackHost, judgeAddress, judgeHost, judgeUrl } from "../../src/egress/address.ts";

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

const secretPlaces = [
  "127.0.0.1",
  "127.255.255.254",
  "10.0.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.100.100.200",
  "192.0.0.192",
  "0.0.0.0",
  "198.18.0.1",
  "168.63.129.16",
  "224.0.0.1",
  "255.255.255.255",
];

/** The ways to write one IPv4 address as the host of a URL. */
function spellings(address: string): string[] {
  const parts = address.split(".").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const octal = (value: number) => "0" + value.toString(8);
  const hex = (value: number) => "0x" + value.toString(16);
  const pair = (one: number, two: number) => (one * 256 + two).toString(16);
  return [
    address,
    String(whole),
    hex(whole),
    hex(whole).toUpperCase(),
    octal(whole),
    parts.map(octal).join("."),
    parts.map(hex).join("."),
    parts.map((part) => "000" + part.toString(8)).join("."),
    `${a}.${hex(b)}.${octal(c)}.${d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${hex(a)}.${(b * 256 + c) * 256 + d}`,
    address + ".",
    [...address].map((sign) => sign === "." ? sign : String.fromCharCode(sign.charCodeAt(0) + 0xfee0)).join(""),
    address.replaceAll(".", "。"),
    [...address].map((sign) => "%" + sign.charCodeAt(0).toString(16)).join(""),
    `[::ffff:${address}]`,
    `[::ffff:${pair(a, b)}:${pair(c, d)}]`,
    `[0:0:0:0:0:FFFF:${address}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
    `[2002:${pair(a, b)}:${pair(c, d)}::1]`,
  ];
}

const otherHosts = [
  ..."localhost LOCALHOST localhost. a.localhost a.b.localhost ip6-localhost localhost.localdomain".split(" "),
  ..."printer.local PRINTER.LOCAL printer.local. metadata.google.internal METADATA.GOOGLE.INTERNAL internal".split(" "),
  ..."router.home.arpa home.arpa a.home.arpa. intranet metadata com example.com. a..b .example.com -".split(" "),
  ..."[::] [::1] [0:0:0:0:0:0:0:1] [::1%25lo] [fe80::1] [fe80::1%25eth0] [febf::1] [fec0::1] [fc00::1] [fdff::1]".split(
    " ",
  ),
  ..."[fd00:ec2::254] [ff02::1] [2001::1] [2001:db8::1] [100::1] [64:ff9b:1::1] [::ffff:0:127.0.0.1] [3fff::1]".split(
    " ",
  ),
  ..."ⓛocalhost ｌｏｃａｌｈｏｓｔ localhoſt 127.1 127.0.1 0 0x7f.1 1.2.3.4.5 256.1.1.1 0x 09.1.1.1".split(" "),
];

const publicNames =
  `example.com www.example.com api.github.com mcp.asana.com mcp.linear.app mcp.sentry.dev mcp.stripe.com mcp.notion.com
  huggingface.co auth.example.org accounts.google.com login.microsoftonline.com dev-1234.okta.com tenant.eu.auth0.com
  cognito-idp.eu-west-1.amazonaws.com a.workers.dev my-app.deno.dev bun.sh jsr.io npmjs.com registry.npmjs.org
  xn--bcher-kva.example bücher.example 例え.テスト xn--p1ai.xn--p1ai a.b.c.d.e.f.example under_score.example.com
  1.example.com 127.0.0.1.example.com 10.0.0.1.com localhost.example.com local.example.com internal.example.com
  home.arpa.example.com localhostess.com mylocal.com notinternal.org athome.arpa.org localhost.com local.net
  internal.io EXAMPLE.COM ExAmple.Org 0x7f.example.com 1e100.net 4.example 0.pool.ntp.org s3.amazonaws.com
  8.8.8.8 1.1.1.1 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 192.0.1.1 198.17.255.255 198.20.0.1 223.255.255.255
  [2606:4700:4700::1111] [2001:4860:4860::8888] [2a00:1450::1] [::ffff:8.8.8.8] [64:ff9b::808:808] [2002:808:808::1]`
    .split(/\s+/);

describe("judgeUrl", () => {
  test("refuses every spelling of a forbidden host, with a reason", () => {
    const hosts = [...secretPlaces.flatMap(spellings), ...otherHosts];
    assertGreaterOrEqual(new Set(hosts).size, 250);
    for (const host of hosts) {
      for (const url of [`https://${host}/x`, `https://${host}:8443/`]) {
        const reason = judgeUrl(url);
        assert(typeof reason === "string" && reason.length > 10, `${url} passed`);
      }
    }
  });

  test("lets public names and addresses pass", () => {
    assertGreaterOrEqual(publicNames.length, 50);
    for (const host of publicNames) {
      assertEquals(judgeUrl(`https://${host}/a?b#c`), undefined, host);
      assertEquals(judgeUrl(new URL(`https://${host}:8443/`)), undefined, host);
    }
  });

  test("refuses every scheme but https, also on hosts that pass", () => {
    const urls = [
      "http://example.com",
      "ftp://example.com",
      "ws://example.com",
      "wss://example.com",
      "file:///etc/passwd",
    ];
    urls.push("javascript:alert(1)", "data:text/plain,x", "blob:https://example.com/1", "about:blank", "a:$(calc)?");
    for (const url of urls) {
      assert(judgeUrl(url), url);
      assert(judgeUrl(url, { operator: "http://127.0.0.1:1/", loopback: true }), url);
    }
    assert(
      judgeUrl("blob:https://example.com/1", { operator: "https://example.com/" }),
      "a blob has its maker's origin",
    );
  });

  test("refuses user names and passwords, on the operator's origin too", () => {
    for (const user of ["u:p@", "u@", ":p@", "example.com@", "u%40x:p@"]) {
      assert(judgeUrl(`https://${user}example.com/`), user);
      assert(judgeUrl(`https://${user}example.com/`, { operator: "https://example.com/" }), user);
    }
    assertEquals(judgeUrl("https://example.com/@u:p@x"), undefined);
  });

  test("refuses what is no absolute URL", () => {
    for (
      const url of ["", "/x", "//example.com", "example.com", "https://", "https://[", "https:// x/", "https://a b/"]
    ) {
      assert(judgeUrl(url), url);
    }
  });

  test("takes the operator's origin and the allowed origins as given, and only those", () => {
    const policy = { operator: "http://10.1.2.3:8080/mcp", allow: ["https://login.corp.internal", "http://intranet/"] };
    for (const url of ["http://10.1.2.3:8080/other", "https://login.corp.internal/token", "http://intranet:80/x"]) {
      assertEquals(judgeUrl(url, policy), undefined, url);
    }
    const near = ["http://10.1.2.3/", "https://10.1.2.3:8080/", "http://10.1.2.4:8080/", "https://corp.internal/"];
    for (const url of [...near, "https://intranet/", "http://login.corp.internal/", "http://localhost/"]) {
      assert(judgeUrl(url, policy), url);
    }
    assertEquals(judgeUrl("https://mcp.internal/x", { operator: "wss://mcp.internal/socket" }), undefined);
    assert(judgeUrl("http://mcp.internal/x", { operator: "wss://mcp.internal/socket" }));
    assert(judgeUrl("https://10.0.0.1/", { operator: "not a URL" }));
  });

  test("allows loopback only when told so, with http and https, and nothing else private", () => {
    const loopback = [
      "localhost",
      "localhost:3000",
      "a.localhost",
      "127.0.0.1",
      "127.9.9.9:1",
      "2130706433",
      "[::1]:8080",
    ];
    for (const host of loopback) {
      for (const scheme of ["http", "https"]) {
        assertEquals(judgeUrl(`${scheme}://${host}/`, { loopback: true }), undefined, host);
        assert(judgeUrl(`${scheme}://${host}/`, { loopback: false }), host);
      }
    }
    for (
      const host of [
        "10.0.0.1",
        "0.0.0.0",
        "[::]",
        "[::ffff:127.0.0.1]",
        "localhost.",
        "intranet",
        "[fe80::1]",
        "8.8.8.8",
      ]
    ) {
      assert(judgeUrl(`http://${host}/`, { loopback: true }), host);
    }
  });

  test("never puts a password, path or query into the reason", () => {
    for (
      const url of ["https://user:hunter22@10.0.0.1/", "https://10.0.0.1/hunter22?hunter22", "hunter22://x/hunter22 "]
    ) {
      assert(!judgeUrl(url.replace("hunter22:", "other:"))?.includes("hunter22"));
    }
  });
});

describe("judgeHost", () => {
  test("refuses unusual IPv4 spellings without a URL parser's help", () => {
    for (const address of [...secretPlaces, "8.8.8.8"]) {
      for (const host of spellings(address).slice(1, 16)) {
        if (host === "8.8.8.8" || host === address) continue;
        assert(judgeHost(host), host);
      }
    }
    for (
      const host of [
        "",
        ".",
        "a.",
        "a b.com",
        "a/b.com",
        "a%2eb.com",
        "a\0.com",
        "é.com",
        "x".repeat(64) + ".com",
        "[::1",
        "::1]",
      ]
    ) {
      assert(judgeHost(host), host);
    }
    const longest = ("a".repeat(62) + ".").repeat(3) + "a".repeat(60) + ".com";
    assertEquals([longest.length, judgeHost(longest)], [253, undefined]);
    assert(judgeHost("a" + longest), "longer than a name may be");
    assertEquals(judgeHost("a".repeat(63) + ".com"), undefined);
    for (const host of ["LOCALHOST", "Printer.Local", "a.Home.Arpa", "0X7F.1"]) assert(judgeHost(host), host);
  });
});

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
        if (URL.canParse(url)) assertEquals(judgeUrl(url) === undefined, verdict, address);
        else assert(judgeUrl(url), address);
      }),
      { numRuns: 20_000 },
    );
    assertGreaterOrEqual(allowed, 1_000, "too few allowed addresses were met");
  });
});

describe("isLoopbackHost", () => {
  test("knows this machine by its text", () => {
    for (
      const host of [
        "localhost",
        "LocalHost",
        "x.localhost",
        "127.0.0.1",
        "127.1.2.3",
        "::1",
        "[::1]",
        "0:0:0:0:0:0:0:1",
      ]
    ) {
      assert(isLoopbackHost(host), host);
    }
    const others = [
      "",
      "localhost.",
      "localhost.com",
      "xlocalhost",
      "127.0.0.1.nip.io",
      "127.1",
      "128.0.0.1",
      "0.0.0.0",
      "::",
      "::2",
    ];
    for (const host of [...others, "::ffff:127.0.0.1", "evil.com/localhost", "a b.localhost", "example.com"]) {
      assert(!isLoopbackHost(host), host);
    }
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
