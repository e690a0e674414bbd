/**
 * What a hostile server may say in the place of words for people: for pages, terminals, logs and shells.
 *
 * @module
 */

const commands = [
  "[?25l",
  "[3J",
  "[s",
  "]52;c;YQ==\x07",
  "_G\x1b\\",
  "[31mred",
  "[2J",
  "[1;1H",
  "]0;title\x07",
  "]8;;https://evil.example\x07link",
  "c",
  "P+q",
  "[6n",
  "(0",
];
const marks = [0x61c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202d, 0x202e, 0x2060, 0x2066, 0x2069, 0xfeff];
const pages = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '"><svg onload=alert(1)>',
  "javascript:alert(1)",
  "</title><script>",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}",
  "`; rm -rf / #",
  "$(id)",
  "%s%s%n",
  "'; DROP TABLE tokens; --",
  "../../etc/passwd",
];
const controls = Array.from({ length: 66 }, (_, index) => index < 32 ? index : index < 33 ? 127 : index + 95);

/** All of them: more than 200, some very long. */
export const words: readonly string[] = [
  ...commands.flatMap((command) => ["\x1b", "\x9b", "\u0090", "a\x1b\x1b"].map((lead) => `${lead}${command}`)),
  ...controls.map((code) => `before${String.fromCharCode(code)}after`),
  ...marks.flatMap((code) => [`a${String.fromCodePoint(code)}b`, String.fromCodePoint(code).repeat(40)]),
  ...pages.flatMap((page) => [page, `${page}\r\nSet-Cookie: a=b`, `\x1b[8m${page}`]),
  ...["\r\n", "\n\n\nPassword: ", "\r", "a\rb", "\u0085", "\v", "\f", "\t".repeat(99), "\b".repeat(99)],
  ...["x".repeat(501), "x".repeat(100_000), "💥".repeat(400), `x${"💥".repeat(400)}`, "\ud800", "\udfff", "a\ud83d"],
  ...["e\u0301".repeat(300), "\u{e0001}\u{e0041}", "\u{10ffff}", "\ufffe", "\x1b[".repeat(5_000)],
  ...["é", "Ünïcödé", "日本語", "עברית", "العربية", "", " ", "null", "undefined", "[object Object]", "__proto__"],
];
