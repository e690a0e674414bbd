import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createSchemaValidator, formatChecks } from "../../src/protocol/json_schema/mod.ts";
import { stopwatch } from "../support/clocks/stopwatch.ts";

const cases: Record<string, { right: string[]; wrong: string[] }> = {
  "date-time": {
    right: [
      "1963-06-19T08:30:06.283185Z",
      "1990-12-31T23:59:60Z",
      "1990-12-31t15:59:60-08:00",
      "2024-02-29T00:00:00+01:00",
    ],
    wrong: [
      "1998-12-31T23:58:60Z",
      "1990-02-31T15:59:59Z",
      "2023-02-29T00:00:00Z",
      "1985-04-12T23:20:50",
      "06/19/1963",
      "1963-06-1৪T00:00:00Z",
    ],
  },
  date: {
    right: ["1963-06-19", "2020-02-29"],
    wrong: ["2021-02-29", "2020-13-01", "2020-00-10", "20-01-01", "1963-06-19Z"],
  },
  time: {
    right: ["08:30:06Z", "23:59:60Z", "08:30:06.28+05:30"],
    wrong: ["24:00:00Z", "08:30:06", "12:00:60Z", "8:30:06Z", "08:30:06+24:00"],
  },
  duration: {
    right: ["P4DT12H30M5S", "P1Y2M", "PT0S", "P2W", "P1Y"],
    wrong: ["P", "PT", "P1D2H", "P2D1Y", "PT1D", "P1WT1H", "4DT12H"],
  },
  email: {
    right: ["joe.bloggs@example.com", "te~st@example.com", '"joe bloggs"@example.com', "a@[127.0.0.1]", "a@[IPv6:::1]"],
    wrong: ["2962", "a@b@c", ".a@b.c", "a..b@c.d", "joe@", "@x", "a@-b.com", "a@[1.2.3]"],
  },
  hostname: {
    right: ["www.example.com", "xn--4gbwdl", "a", "1host", "a-b.c"],
    wrong: ["-a", "a-", "a..b", "a_b", "", "x".repeat(64), "a.".repeat(130), "example.com."],
  },
  ipv4: {
    right: ["192.168.0.1", "0.0.0.0", "255.255.255.255"],
    wrong: ["127.0.0.0.1", "256.1.1.1", "127.0", "0x7f.0.0.1", "087.10.0.1", "1.2.3.4 ", "1২7.0.0.1"],
  },
  ipv6: {
    right: ["::1", "::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "fe80::a", "1::"],
    wrong: [
      "12345::",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      ":1",
      "1:",
      "::1%eth0",
      "1.2.3.4",
      "1:2:3:4:5:6:7:1.2.3.4",
      "::1.2.3.4:5",
      "1:2:3:4:5:6:7::8",
    ],
  },
  uri: {
    right: [
      "http://foo.bar/?q=Test%20URL-encoded%20stuff#f",
      "urn:oasis:names:x",
      "mailto:a@b.c",
      "ldap://[2001:db8::7]/c=GB?x",
      "http://u:p@h:80/",
      "tel:+1-816",
    ],
    wrong: [
      "//foo.bar/",
      "/abc",
      "\\\\WIN\\x",
      "abc",
      "http:// x",
      ":// x",
      "bar,baz:x y",
      "http://a/%zz",
      "http://[::1",
      "http://a:b/",
      "http://a/#b#c",
      "http://a/{b}",
    ],
  },
  "uri-reference": {
    right: ["/abc", "//foo.bar/?q=1", "abc", "#fragment", "", "?x"],
    wrong: ["\\\\WIN", "#a\\b", "a b", "1a:b"],
  },
  uuid: {
    right: ["2EB8AA08-AA98-11EA-B4AA-73B441D16380", "00000000-0000-0000-0000-000000000000"],
    wrong: [
      "2eb8aa08-aa98-11ea-b4aa73b441d16380",
      "2eb8aa08aa9811eab4aa73b441d16380",
      "2eb8aa08-aa98-11ea-b4aa-73b441d1638g",
    ],
  },
  "json-pointer": { right: ["", "/", "/foo/bar~0/baz~1/%a", "/a//b"], wrong: ["a", "/foo/bar~", "/~2", "#/a"] },
  "relative-json-pointer": {
    right: ["1", "0/foo/bar", "2#", "120/a"],
    wrong: ["/foo", "-1/a", "01/a", "0##", "", "+1/a"],
  },
};

for (const [name, { right, wrong }] of Object.entries(cases)) {
  test(`format ${name}`, () => {
    const check = formatChecks[name];
    assert(check);
    assertEquals(right.filter((text) => !check(text)), []);
    assertEquals(wrong.filter((text) => check(text)), []);
  });
}

test("each format has its cases", () => assertEquals(Object.keys(formatChecks).sort(), Object.keys(cases).sort()));

test("format is a note, unless checks are handed in", () => {
  const schema = { properties: { at: { format: "date" }, x: { format: "made-up" }, y: { format: "toString" } } };
  const value = { at: "tomorrow", x: "x", y: "y" };
  assertEquals(createSchemaValidator()(schema)(value), { valid: true });
  assertEquals(createSchemaValidator({ formats: formatChecks })(schema)(value), {
    valid: false,
    issues: [{ path: "/at", keyword: "format", message: 'must have the format "date"' }],
  });
  assertEquals(createSchemaValidator({ formats: formatChecks })(schema)({ at: 5 }).valid, true);
});

test("formats are linear in the text", () => {
  const long = [
    "a".repeat(100_000),
    "1".repeat(100_000),
    "a.".repeat(50_000),
    "1:".repeat(50_000),
    "/~0".repeat(30_000),
    '"' + "\\".repeat(50_001) + '"@a',
    "P" + "1".repeat(100_000),
    "a@" + "a-".repeat(50_000),
    "http://" + "@[:".repeat(30_000),
    "%41".repeat(30_000) + "%",
  ];
  const took = stopwatch();
  for (const check of Object.values(formatChecks)) for (const text of long) check(text);
  // Quadratic checks take minutes here, linear ones some milliseconds.
  assert(took() < 5_000);
});
