/**
 * Hosts as a hostile document may name them, and hosts that a sound one does: for the judge of addresses, and for all that asks it.
 *
 * @module
 */

/** IPv4 addresses that nobody but the operator may name: one of each range that matters. */
export const secretPlaces: readonly string[] = [
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
export function spellings(address: string): string[] {
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

/** Local names, IPv6, and hosts that no public name has, as they stand in a URL. */
export const otherHosts: readonly string[] = [
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

/** Hosts that must pass. */
export const publicHosts: readonly string[] =
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
