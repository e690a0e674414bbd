/** The words of names and sentences. */
import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { wordsOf } from "../../../src/hub/search/words.ts";

describe("words", () => {
  const cases: [text: string, expected: string[]][] = [
    ["", []],
    ["...", []],
    ["create_issue", ["create", "issue"]],
    ["create-issue", ["create", "issue"]],
    ["createIssue", ["create", "issue", "createissue"]],
    ["HTTPServer", ["http", "server", "httpserver"]],
    ["parseHTML", ["parse", "html", "parsehtml"]],
    ["OAuth2", ["o", "auth", "2", "oauth2"]],
    ["s3", ["s", "3", "s3"]],
    ["Lists all issues, repositories & classes.", ["list", "all", "issue", "repository", "classe"]],
    ["status of the bus", ["status", "of", "the", "bus"]],
    ["Übersicht größe", ["übersicht", "größe"]],
    ["e\u0301te\u0301", ["été"]],
    ["ＡＢＣ", ["abc"]],
    ["поискФайла", ["поиск", "файла", "поискфайла"]],
    ["天気予報", ["天気", "気予", "予報", "天気予報"].slice(0, 3)],
    ["天", ["天"]],
    ["get天気", ["get", "天気", "get天気"]],
    ["한국어 도구", ["한국어", "도구"]],
    ["हिन्दी", ["हिन्दी"]],
    ["🎉 party\ud800", ["party"]],
  ];
  for (const [text, expected] of cases) {
    test(JSON.stringify(text), () => assertEquals(wordsOf(text, 1_000), expected));
  }

  test("no more characters are looked at than allowed", () => {
    assertEquals(wordsOf("one two three", 7), ["one", "two"]);
  });

  test("of any text are short, in lower case, and the same for its other spellings", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      for (const word of wordsOf(text, 200)) {
        assert(word.length > 0);
        assertEquals(word, word.toLowerCase());
      }
    }));
    const name = fc.array(fc.constantFrom("create", "issue", "file", "user", "get"), { minLength: 1, maxLength: 4 });
    fc.assert(fc.property(name, (parts) => {
      const camel = parts.map((part, at) => at ? part.charAt(0).toUpperCase() + part.slice(1) : part).join("");
      const [snake, spaced] = [wordsOf(parts.join("_"), 100), wordsOf(parts.join(" "), 100)];
      assertEquals(snake, spaced);
      assertEquals(wordsOf(camel, 100).slice(0, parts.length), spaced);
    }));
  });
});
