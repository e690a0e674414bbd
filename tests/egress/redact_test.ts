import { describe, test } from "node:test";
import { assert, assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import { Redactor, redactPatterns, redactWords, urlWithoutQuery } from "../../src/egress/redact.ts";
import { growth } from "../support/clocks/growth.ts";
import { stopwatch } from "../support/clocks/stopwatch.ts";

describe("Redactor", () => {
  test("no form of a known secret survives, wherever it stands", () => {
    const awkward = [
      'p"a\\ss/w+rd=',
      "line one\nline two",
      "päßwörd€",
      "a b&c=d%25",
      "tab\tand\u0000nul",
      "😀emoji😀",
      "~!*'()_-.",
    ];
    const secret = fc.oneof(
      fc.string({ minLength: 6, maxLength: 60, unit: "grapheme" }),
      fc.base64String({ minLength: 8 }),
      fc.constantFrom(...awkward),
    );
    fc.assert(
      fc.property(secret, fc.lorem(), fc.lorem(), (secret, before, after) => {
        fc.pre(!"[redacted]".includes(secret) && !before.includes(secret) && !after.includes(secret));
        const redactor = new Redactor();
        redactor.add(secret);
        for (const [name, form] of Object.entries(writings(secret))) {
          const result = redactor.redact(`${before}${form}${after}${form}`);
          assertEquals(leaks(result, secret), [], `${name}: ${result}`);
          assert(result.includes("[redacted]"), result);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("clears every error of a group, and the causes of each", () => {
    const redactor = new Redactor();
    redactor.add("correct-horse");
    const deep = new Error("one correct-horse", { cause: new Error("two correct-horse") });
    const group = new AggregateError([deep, "three"], "four correct-horse");
    const error = new Error("five", { cause: group });
    assertEquals(redactor.clean(error), error);
    assertEquals([deep.message, (deep.cause as Error).message, group.message], [
      "one [redacted]",
      "two [redacted]",
      "four [redacted]",
    ]);
    assertEquals(group.errors, [deep, "three"]);
  });

  test("finds a secret inside longer base64, at each of its three places", () => {
    const redactor = new Redactor();
    redactor.add("correct-horse-battery");
    for (const user of ["a", "ab", "abc", "id:"]) {
      const basic = base64(`${user}:correct-horse-battery:tail`);
      const result = redactor.redact(`sent ${basic} end`);
      assert(result.includes("[redacted]"), result);
      assertEquals(leaks(result, "correct-horse-battery"), []);
      for (const part of result.split(/[^\w+/=]+/)) {
        assert(!/horse|batt/.test(atobOrEmpty(part)), `"${part}" still tells some of it`);
      }
    }
  });

  test("the checker of these tests finds a planted leak in every form", () => {
    for (const form of Object.values(writings("planted/secret+1"))) {
      assert(leaks(`text ${form} text`, "planted/secret+1").length > 0, form);
    }
    assertEquals(leaks("text without it", "planted/secret+1"), []);
  });

  test("secrets that overlap, touch or hold each other leave nothing behind", () => {
    const redactor = new Redactor();
    for (const secret of ["abcdef", "cdefgh", "abcdefghij", "zzzzzz"]) redactor.add(secret);
    assertEquals(redactor.redact("x abcdefgh y"), "x [redacted] y");
    assertEquals(redactor.redact("x abcdefghij y"), "x [redacted] y");
    assertEquals(redactor.redact("abcdefzzzzzz"), "[redacted][redacted]");
    assertEquals(redactor.redact("abcdef"), "[redacted]");
    assertEquals(redactor.redact("abcde fghij"), "abcde fghij");
  });

  test("ignores secrets too short to be told from text, and copes with any string", () => {
    const redactor = new Redactor();
    for (const secret of ["", "a", "12345", "\ud800broken-surrogate"]) redactor.add(secret);
    assertEquals(redactor.redact("a 12345 b"), "a 12345 b");
    assertEquals(redactor.redact("x \ud800broken-surrogate y"), "x [redacted] y");
    assertEquals(redactor.redact(""), "");
  });

  test("stays bounded when tokens rotate, and keeps the newest", () => {
    const redactor = new Redactor();
    for (let round = 0; round < 500; round++) {
      redactor.add("the-one-in-use");
      redactor.add(`rotated-token-${round}-`);
    }
    const text = "the-one-in-use rotated-token-499- rotated-token-350- rotated-token-0-";
    assertEquals(redactor.redact(text), "[redacted] [redacted] [redacted] rotated-token-0-");
  });

  test("keeps 200 secrets, and not one less", () => {
    const redactor = new Redactor();
    for (let index = 0; index < 200; index++) redactor.add(`secret-${index}-`);
    assertEquals(redactor.redact("secret-0- secret-199-"), "[redacted] [redacted]");
    redactor.add("one more");
    assertEquals(redactor.redact("secret-0- secret-1-"), "secret-0- [redacted]");
  });

  test("finds what is escaped over the end of a part of a long text", () => {
    const redactor = new Redactor();
    redactor.add('ab+/c=d"e');
    const escaped = ["ab%2B%2Fc%3Dd%22e", 'ab\\u002B\\/c=d\\"e'];
    for (const form of escaped) {
      for (let shift = 0; shift <= form.length; shift++) {
        const before = "x ".repeat(70_000).slice(0, 65_536 - shift);
        const after = " y".repeat(70_000);
        assertEquals(
          redactor.redact(before + form + after) === `${before}[redacted]${after}`,
          true,
          `${form} ${shift}`,
        );
      }
    }
  });

  test("keeps the places of a part of a long text alone: a message of the greatest length filled the heap", () => {
    const redactor = new Redactor();
    redactor.add("correct-horse");
    const read: number[] = [];
    const { replace } = String.prototype;
    const spy = function (this: string, ...given: Parameters<typeof replace>): string {
      if (typeof given[1] === "function") read.push(this.length);
      return replace.apply(this, given);
    };
    Object.assign(String.prototype, { replace: spy });
    try {
      redactor.redact(`%${"a".repeat(1_000_000)}%`);
    } finally {
      Object.assign(String.prototype, { replace });
    }
    assert(read.length > 0);
    assertLess(Math.max(...read), 200_000);
  });

  test("a link to sign in that a program says can be followed: its state stands, what is known or a credential does not", () => {
    const redactor = new Redactor();
    redactor.add("hunter2hunter2");
    const redact = (text: string): string => redactWords(text, (text) => redactor.redact(text));
    const link = "https://a.test/authorize?state=s1&response_type=code&client_id=c&code_challenge=x&state=s2#f";
    assertEquals(redact(`Open:\n${link}\nor wait`), `Open:\n${link}\nor wait`);
    assertEquals(
      redact(`${link} http://me.test/cb?code=abc&state=def?response_type`),
      `${link} http://me.test/cb?code=[redacted]&state=[redacted]`,
    );
    assertEquals(
      redact("https://a.test/?response_type=code&state=hunter2hunter2&token=t"),
      "https://a.test/?response_type=code&state=[redacted]&token=[redacted]",
    );
    assertEquals(redactWords(link, undefined), link);
  });

  test("work grows linearly, also on hostile text", async () => {
    const redactor = new Redactor();
    for (let index = 0; index < 12; index++) redactor.add(`${index}`.repeat(40));
    redactor.add("a".repeat(2_000));
    const hostile = [
      "a",
      "authorization:",
      "cookie: ",
      "bearer ",
      "bearer",
      "password=\"'",
      "access_token",
      '\\"',
      "=",
      "authorization ",
      "basic a ",
      "&code=&",
      "&state=",
      " ",
    ];
    for (const unit of hostile) {
      const reading = await growth(100_000, (size) => {
        const text = unit.repeat(Math.ceil(size / unit.length));
        return () => {
          redactor.redact(text);
          redactWords("?response_type=" + text, (text) => redactor.redact("bearer" + text));
          redactor.redact("password:" + text + '"');
        };
      });
      assertLess(reading, 10, JSON.stringify(unit));
    }
  });
});

describe("redactPatterns", () => {
  const known: [string, string][] = [
    ["got Bearer xyz here", "got Bearer [redacted] here"],
    ["bearer   eyJhbGciOi.J9.abc-_", "bearer [redacted]"],
    ["Basic dXNlcjpwYXNzMQ==", "Basic [redacted]"],
    ["DPoP abc.def", "DPoP [redacted]"],
    ["authorization: Bearer abc def\nnext: line", "authorization: [redacted]\nnext: line"],
    ["Authorization=Token abc", "Authorization=[redacted]"],
    ["Proxy-Authorization: x", "Proxy-Authorization: [redacted]"],
    ['{"authorization":"Bearer abc","hint":"kept"}', '{"authorization":"[redacted]","hint":"kept"}'],
    ['{\\"Authorization\\": \\"Bearer abc\\", \\"hint\\"', '{\\"Authorization\\": \\"[redacted]\\", \\"hint\\"'],
    ["cookie: a=b; c=d\r\nx", "cookie: [redacted]\r\nx"],
    ["set-cookie: sid=1; Path=/", "set-cookie: [redacted]"],
    ["x-api-key: 123", "x-api-key: [redacted]"],
    ["X-API-Key: Key 12 34", "X-API-Key: [redacted]"],
    ["api_key = '12 34', b", "api_key = '[redacted]', b"],
    ["pass --api-key=$KEY or set SHOP_KEY", "pass --api-key=[redacted] or set SHOP_KEY"],
    ["--api-key=Bearer 123 is not known", "--api-key=[redacted] [redacted] is not known"],
    ["?api_key=123&page=2", "?api_key=[redacted]&page=2"],
    ["{'api_key': '123'}", "{'api_key': '[redacted]'}"],
    ["Mcp-Session-Id: 1f2e", "Mcp-Session-Id: [redacted]"],
    ["?access_token=abc&b=1", "?access_token=[redacted]&b=1"],
    ["refresh_token=abc;x", "refresh_token=[redacted];x"],
    ['{"id_token": "abc", "expires_in": 5}', '{"id_token": "[redacted]", "expires_in": 5}'],
    ["client_secret=s&code_verifier=v", "client_secret=[redacted]&code_verifier=[redacted]"],
    ["https://x/cb?code=abc&state=def#f", "https://x/cb?code=[redacted]&state=[redacted]#f"],
    ["?ACCESS_TOKEN=a&client_assertion=b", "?ACCESS_TOKEN=[redacted]&client_assertion=[redacted]"],
    ["https://x/?key=abc&token=def", "https://x/?key=[redacted]&token=[redacted]"],
    ['"password":"hunter2"', '"password":"[redacted]"'],
    ['{"accessToken":"abc","idToken":"d"}', '{"accessToken":"[redacted]","idToken":"[redacted]"}'],
    ["refreshToken: abc, clientSecret: 'def'", "refreshToken: [redacted], clientSecret: '[redacted]'"],
    ["device_code=abc&deviceCode=def", "device_code=[redacted]&deviceCode=[redacted]"],
    ["clientAssertion=a&codeVerifier=b", "clientAssertion=[redacted]&codeVerifier=[redacted]"],
    ["https://x/?X-Amz-Date=1&X-Amz-Signature=abc&y=z", "https://x/?X-Amz-Date=1&X-Amz-Signature=[redacted]&y=z"],
    ["https://x/?X-Amz-Security-Token=abc%2F", "https://x/?X-Amz-Security-Token=[redacted]"],
    ["https://x/?X-Goog-Signature=abc", "https://x/?X-Goog-Signature=[redacted]"],
    ["https://x/?se=1&sig=abc%3D", "https://x/?se=1&sig=[redacted]"],
  ];
  for (const [text, expected] of known) {
    test(`takes the credential out of ${JSON.stringify(text)}`, () => assertEquals(redactPatterns(text), expected));
  }

  test("leaves ordinary text alone", () => {
    const texts = [
      'Bearer error="invalid_token", scope=x',
      '{"code":-32601,"message":"Unknown tool"}',
      "error code: 17",
    ];
    texts.push(
      "Only basic features are supported",
      "The cookie jar is full",
      "state: connected",
      "token expired",
      "the password is wrong",
      "The device code: it was not entered in time",
      "signature: expected 64 digits",
    );
    for (const text of texts) assertEquals(redactPatterns(text), text);
  });
});

describe("urlWithoutQuery", () => {
  test("reads what has very many blanks once", () => {
    const took = stopwatch();
    const blanks = " \t".repeat(100_000);
    assertEquals(urlWithoutQuery(`https:${blanks}example.com?a`), `https:${blanks}example.com`);
    assertEquals(urlWithoutQuery(`https:/${blanks}user@example.com`), `https:/${blanks}example.com`);
    // Work that grows with the square takes minutes.
    assertLess(took(), 5_000);
  });

  test("keeps origin and path only", () => {
    assertEquals(urlWithoutQuery("https://user:pass@example.com:8443/a/b?token=1#x"), "https://example.com:8443/a/b");
    assertEquals(urlWithoutQuery(new URL("http://localhost/")), "http://localhost/");
    assertEquals(urlWithoutQuery("/path?secret#x"), "/path");
    assertEquals(urlWithoutQuery("https://u:p@[bad/x?y\nz"), "https://[bad/x");
    assertEquals(urlWithoutQuery("not a url#secret"), "not a url");
    // White space between the slashes is none to the parser of URLs.
    assertEquals(urlWithoutQuery("http:/\t/user:pass@host/x"), "http:/\t/host/x");
  });
});

/** The forms in which a canary is looked for, written without the code under test. */
function writings(secret: string): Record<string, string> {
  const bytes = new TextEncoder().encode(secret.toWellFormed());
  const plain = base64(secret);
  const strict = encodeURIComponent(secret).replace(/[!'()*]/g, (mark) => "%" + mark.charCodeAt(0).toString(16));
  const escaped = (units: RegExp, letters: (digits: string) => string) =>
    JSON.stringify({ k: secret }).slice(6, -2)
      .replace(units, (unit) => `\\u${letters((unit.at(-1) ?? "").charCodeAt(0).toString(16).padStart(4, "0"))}`);
  return {
    raw: secret,
    base64: plain,
    "base64 unpadded": plain.replace(/=*$/, ""),
    base64url: plain.replace(/=*$/, "").replace(/\+/g, "-").replace(/\//g, "_"),
    "URL-encoded": encodeURIComponent(secret),
    "URL-encoded in small letters": encodeURIComponent(secret).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    "URL-encoded as a path": encodeURI(secret),
    "JSON-escaped in ASCII alone": JSON.stringify({ k: secret }).slice(6, -2)
      .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    "form-encoded": new URLSearchParams({ k: secret }).toString().slice(2),
    "URL-encoded but for slashes": strict.replaceAll("%2F", "/"),
    "URL-encoded but for what a path may hold": strict.replace(/%(?:2[146-9BC]|3[ABD]|40)/g, decodeURIComponent),
    "JSON-escaped": JSON.stringify({ k: secret }).slice(6, -2),
    "JSON-escaped for HTML": escaped(/[<>&]/g, (digits) => digits),
    "JSON-escaped for HTML in capital letters": escaped(/[<>&+'`]|\\"|[^ -~]/g, (digits) => digits.toUpperCase()),
    "base64 in JSON for HTML": plain.replaceAll("+", "\\u002B"),
    "base64, URL-encoded": encodeURIComponent(plain),
    "JSON-escaped with slashes": JSON.stringify({ k: secret }).slice(6, -2).split("/").join("\\/"),
    hex: [...bytes].map((byte) => (256 + byte).toString(16).slice(1)).join(""),
    HEX: [...bytes].map((byte) => (256 + byte).toString(16).slice(1)).join("").toUpperCase(),
  };
}

function leaks(text: string, secret: string): string[] {
  return Object.entries(writings(secret)).filter(([, form]) => text.includes(form)).map(([name]) => name);
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}

function atobOrEmpty(text: string): string {
  try {
    return atob(text.slice(0, text.length - (text.length % 4)));
  } catch {
    return "";
  }
}
