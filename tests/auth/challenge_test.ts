/** What a server asks for in a `WWW-Authenticate` header (RFC 9110, section 11.6.1). */
import { describe, test } from "node:test";
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import fc from "fast-check";
import { type Challenge, readChallenges } from "../../src/auth/challenge.ts";

function challenge(scheme: string, parameters: Record<string, string> = {}): Challenge {
  return { scheme, parameters };
}

describe("readChallenges", () => {
  test("one challenge, with what MCP servers say", () => {
    const url = "https://mcp.example/.well-known/oauth-protected-resource";
    assertEquals(
      readChallenges(
        `Bearer error="invalid_token", error_description="It is old, get \\"one\\"", resource_metadata="${url}"`,
      ),
      [challenge("bearer", {
        error: "invalid_token",
        error_description: 'It is old, get "one"',
        resource_metadata: url,
      })],
    );
    assertEquals(readChallenges(`Bearer scope="a b",resource_metadata=${url}`), [
      challenge("bearer", { scope: "a b", resource_metadata: url }),
    ]);
  });

  test("no header, an empty one, and only commas say nothing", () => {
    for (const header of [null, "", " ", ",", " , ,\t,"]) assertEquals(readChallenges(header), [], String(header));
  });

  test("several challenges in one header, as the specification shows it", () => {
    const header = 'Basic realm="simple", Newauth realm="apps", type=1, title="Login to \\"apps\\""';
    assertEquals(readChallenges(header), [
      challenge("basic", { realm: "simple" }),
      challenge("newauth", { realm: "apps", type: "1", title: 'Login to "apps"' }),
    ]);
    assertEquals(readChallenges('Negotiate, NTLM ,Bearer , , DPoP algs="ES256 PS256"'), [
      challenge("negotiate"),
      challenge("ntlm"),
      challenge("bearer"),
      challenge("dpop", { algs: "ES256 PS256" }),
    ]);
    assertEquals(readChallenges('Bearer realm="a" DPoP error=x'), [
      challenge("bearer", { realm: "a" }),
      challenge("dpop", { error: "x" }),
    ]);
  });

  test("schemes and names in any letters, blanks about the equals sign", () => {
    assertEquals(readChallenges('bEARER  Realm = "X" ,\tERROR\t=\tY'), [
      challenge("bearer", { realm: "X", error: "Y" }),
    ]);
  });

  test("a token68 after the scheme is left out", () => {
    assertEquals(readChallenges('Basic abc==, Negotiate oRQwEq/A+D.C~_-=, Bearer a="b", Other x'), [
      challenge("basic"),
      challenge("negotiate"),
      challenge("bearer", { a: "b" }),
      challenge("other"),
    ]);
  });

  test("commas, schemes and escapes in quotes stay in them", () => {
    assertEquals(readChallenges('A x="1, B y=2, \\"C\\\\", z=3, D'), [
      challenge("a", { x: '1, B y=2, "C\\', z: "3" }),
      challenge("d"),
    ]);
    assertEquals(readChallenges('A x=""'), [challenge("a", { x: "" })]);
  });

  test("the first parameter of a name counts, in each challenge; none reaches a prototype", () => {
    assertEquals(readChallenges("A x=1, X=2, B x=3"), [challenge("a", { x: "1" }), challenge("b", { x: "3" })]);
    const [read] = readChallenges('A __proto__="polluted", constructor=1');
    assertEquals(Object.entries(read?.parameters ?? {}), [["__proto__", "polluted"], ["constructor", "1"]]);
    assertEquals(readChallenges("A")[0]?.parameters.constructor, undefined);
  });

  test("bad parts are skipped, and what follows the next comma is read", () => {
    const bad: readonly [header: string, read: Challenge[]][] = [
      ["realm=x, Bearer a=1", [challenge("bearer", { a: "1" })]],
      ["Bearer a=, b=2", [challenge("bearer", { b: "2" })]],
      ["Bearer a = , b=2", [challenge("bearer", { b: "2" })]],
      ["Bearer =1, b=2", []],
      ["Bearer a=1, @Digest realm=x, b=2", [challenge("bearer", { a: "1", b: "2" })]],
      ['Bearer a=1, foo/"x, Evil y=1"bar, b=2', [challenge("bearer", { a: "1", b: "2" })]],
      ['"Bearer a=1", Basic', [challenge("basic")]],
      ['Bearer a=1, b="open, Evil c=2', [challenge("bearer", { a: "1" })]],
      ['Bearer a=1, b="open\\', [challenge("bearer", { a: "1" })]],
      ["Bäarer a=1, Basic", [challenge("basic")]],
      ["Bearer a=1\0, b=2", [challenge("bearer", { a: "1\0", b: "2" })]],
    ];
    for (const [header, read] of bad) assertEquals(readChallenges(header), read, header);
  });

  test("what is written is read again, however it is written", () => {
    const token = fc.stringMatching(/^[\w!#$%&'*+.^`|~-]{1,12}$/);
    const blank = fc.stringMatching(/^[ \t]{0,3}$/);
    const text = fc.string({ maxLength: 20 });
    const parameter = fc.tuple(token, blank, blank, fc.oneof(text, token), fc.boolean());
    const gap = fc.stringMatching(/^[ \t]{0,2},[ \t,]{0,3}$/);
    const written = fc.array(fc.tuple(token, fc.array(fc.tuple(parameter, gap), { maxLength: 6 }), gap), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(written, (list) => {
        let header = "";
        const expected: Challenge[] = [];
        for (const [scheme, parameters, end] of list) {
          header += scheme;
          const values: Record<string, string> = Object.create(null);
          for (const [index, [[name, before, after, value, quotes], between]] of parameters.entries()) {
            const plain = !quotes && /^[\w!#$%&'*+.^`|~-]+$/.test(value);
            const quoted = `"${value.replace(/["\\]/g, "\\$&")}"`;
            header += (index ? between : " ") + name + before + "=" + after + (plain ? value : quoted);
            values[name.toLowerCase()] ??= value;
          }
          header += end;
          expected.push({ scheme: scheme.toLowerCase(), parameters: values });
        }
        assertEquals(readChallenges(header), expected, header);
      }),
      { numRuns: 2_000 },
    );
  });

  test("it is total: 50,000 hostile headers give sound challenges", () => {
    const mark = fc.constantFrom(...'"\\ \t,==ab:/@\0é\n💥'.split(""));
    const word = fc.constantFrom(...[
      "Bearer ",
      ", DPoP ",
      ", ",
      'a="',
      "b=c",
      ', d = "e"',
      '\\"',
      "f g h",
      "i==",
      "J=k,",
    ]);
    const header = fc.array(fc.oneof({ weight: 4, arbitrary: word }, mark, fc.string()), {
      maxLength: 40,
      size: "max",
    });
    const name = /^[a-z\d!#$%&'*+.^_`|~-]+$/;
    let met = 0;
    fc.assert(
      fc.property(header, (parts) => {
        const text = parts.join("");
        for (const { scheme, parameters } of readChallenges(text)) {
          assert(name.test(scheme), scheme);
          for (const [key, value] of Object.entries(parameters)) {
            assert(name.test(key) && text.toLowerCase().includes(key), key);
            assert(value.length < text.length);
            met++;
          }
        }
      }),
      { numRuns: 50_000 },
    );
    assertGreaterOrEqual(met, 10_000, "too few parameters were met");
  });

  test("headers at the limit that would be slow to a parser that goes back are read at once", () => {
    const parts = ['a="', '\\"', '"\\"', "a", "a ", " ", "a=", "/", "a/", "=", "a =", 'a="\\', ",", "a, ", '"', 'a=b"'];
    parts.push("\\", "A b");
    for (const part of parts) {
      for (const start of ["", "A ", 'A b="', '"', "A b"]) {
        for (const end of ["", '"', "@", "=", " ="]) {
          const header = (start + part.repeat(16_384)).slice(0, 16_384 - end.length) + end;
          assert(isQuick(() => readChallenges(header), 100), JSON.stringify([start, part, end]));
        }
      }
    }
  });

  test("it is bounded: 16 KiB, and 256 elements", () => {
    const long = `A x="${"y".repeat(16_384 - 6)}"`;
    assertEquals([long.length, readChallenges(long).length, readChallenges(long + " ").length], [16_384, 1, 0]);
    assertEquals(readChallenges("A, ".repeat(1_000)).length, 256);
    const [many] = readChallenges("A " + Array.from({ length: 1_000 }, (_, index) => `p${index}=1`).join(","));
    assertEquals(Object.keys(many?.parameters ?? {}).length, 255);
  });
});

/** Whether one of ten runs takes less than so many milliseconds: the machine may be busy with something else. */
function isQuick(run: () => void, milliseconds: number): boolean {
  for (let tries = 0; tries < 10; tries++) {
    const start = performance.now();
    run();
    if (performance.now() - start < milliseconds) return true;
  }
  return false;
}
