import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { readHubConfig } from "../../../src/hub/config/mod.ts";
import { stopwatch } from "../../support/clocks/stopwatch.ts";

const environment = { TOKEN: "t0k3n-t0k3n" };
const megabyte = 1024 * 1024;

/** Fills a text up to 1 MiB. */
function filled(start: string, part: string | ((index: number) => string), end = ""): string {
  const parts = [start];
  for (let length = start.length, index = 0; length < megabyte; index++) {
    const next = typeof part === "string" ? part : part(index);
    parts.push(next);
    length += next.length;
  }
  return parts.join("") + end;
}

/** Quadratic work on any of these takes minutes. */
const hostile: Readonly<Record<string, string>> = {
  brackets: filled("", "["),
  "nested servers": filled('{"mcpServers":', '{"a":'),
  quotes: filled("", '"'),
  backslashes: filled('{"a":"', "\\"),
  escapes: filled('{"a":"', "\\u0041", '"}'),
  slashes: filled("", "/"),
  "line comments": filled("", "//\n"),
  "open comments": filled("", "/*"),
  "comments of stars": filled("", "/***/"),
  spaces: filled("", " "),
  digits: filled('{"mcpServers":{"a":{"command":"x","timeout":', "9", "}}}"),
  commas: filled("[", "1,", "]"),
  "one name again": filled('{"mcpServers":{', '"a":1,', "}}"),
  "one field again": filled('{"mcpServers":{"s":{', '"a":1,', "}}}"),
  "servers that are none": filled('{"mcpServers":{', (index) => `"s${index}":1,`, "}}"),
  "unknown fields": filled('{"mcpServers":{"s":{', (index) => `"comman${index}":1,`, "}}}"),
  "servers with unknown fields": filled('{"mcpServers":{', (index) => `"s${index}":{"comand":"x"},`, "}}"),
  "missing variables": filled('{"mcpServers":{"s":{"command":"x","args":[', '"${TOKN}",', "]}}}"),
  "open variables": filled('{"mcpServers":{"s":{"command":"', "${", '"}}}'),
  "closed late": filled('{"mcpServers":{"s":{"command":"', "${", '}"}}}'),
  "many variables": filled('{"mcpServers":{"s":{"command":"', "${TOKEN}", '"}}}'),
  "defaults in defaults": filled('{"mcpServers":{"s":{"command":"${1', ":-", '}"}}}'),
  "escaped variables": filled('{"mcpServers":{"s":{"command":"', "$${", '"}}}'),
  "many names of variables": filled('{"mcpServers":{"s":{"command":"${', "A", '}"}}}'),
  "a long name": filled('{"mcpServers":{"', "a ", '":{"command":"x"}}}'),
  "a long field": filled('{"mcpServers":{"s":{"', "c", '":1}}}'),
  "a long address": filled('{"mcpServers":{"s":{"url":"', "a.", '"}}}'),
  "a long host": filled('{"mcpServers":{"s":{"url":"http://', "a-", '"}}}'),
  "a long user": filled('{"mcpServers":{"s":{"url":"http://', "@", '"}}}'),
  "a long header": filled('{"mcpServers":{"s":{"url":"http://x","headers":{"a":"', " ", '\\n"}}}}'),
  "many headers": filled('{"mcpServers":{"s":{"url":"http://x","headers":{', (index) => `"${index}":"",`, "}}}}"),
  "a long type": filled('{"mcpServers":{"s":{"type":"', "-", '"}}}'),
  "many inputs": filled('{"servers":{},"inputs":[', '{"id":"a","type":"promptString"},', "]}"),
  "a long command": filled('{"mcpServers":{"s":{"command":"', "a ", '"}}}'),
  "a long folder": filled('{"mcpServers":{"s":{"command":"x","cwd":"', "../", '"}}}'),
  "scopes": filled('{"mcpServers":{"s":{"url":"http://x","oauth":{"scopes":"', "a ", '"}}}}'),
};

/** What a config may be, in whole or in part. */
function anyConfig(): fc.Arbitrary<unknown> {
  const anything = fc.anything({
    withBigInt: true,
    withNullPrototype: true,
    withDate: true,
    withMap: true,
    withSparseArray: true,
  });
  const fieldName = fc.constantFrom(
    ...[
      "type",
      "command",
      "args",
      "env",
      "cwd",
      "url",
      "serverUrl",
      "httpUrl",
      "headers",
      "disabled",
      "enabled",
      "timeout",
    ],
    ...[
      "maxRetries",
      "retryDelay",
      "concurrency",
      "tools",
      "includeTools",
      "excludeTools",
      "autoApprove",
      "trust",
      "pins",
    ],
    ...["auth", "oauth", "idempotent", "era", "envFile", "__proto__", "constructor", "source", "unknown"],
  );
  const likely = fc.oneof(
    anything,
    fc.constantFrom("x", "stdio", "http", "https://example.com", "${TOKEN}", "${X}", 0, -1, NaN),
  );
  const field = fc.oneof(likely, fc.array(likely), fc.dictionary(fc.oneof(fc.string(), fieldName), likely));
  const server = fc.oneof(anything, fc.dictionary(fieldName, field));
  const servers = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("a", "A", "__proto__")), server);
  const container = fc.constantFrom("mcpServers", "servers", "context_servers");
  return fc.oneof(
    anything,
    fc.dictionary(container, fc.oneof(servers, anything)),
    fc.record({ servers, inputs: anything }),
  );
}

describe("hostile configs", () => {
  for (const [name, text] of Object.entries(hostile)) {
    test(`1 MiB of ${name} is read in one pass`, () => {
      const elapsed = stopwatch();
      const { problems } = readHubConfig(text, { environment });
      const took = elapsed();
      assert(took < 20_000, `${took} ms`);
      for (const { message } of problems) {
        assert(message.length < 2_000 && !message.includes("\n"), message.slice(0, 99));
      }
      assert(problems.length <= 201);
    });
  }

  // In parts: a busy machine has its time for each.
  for (const part of [1, 2, 3, 4]) {
    test(`any value is read without a throw, and nothing is polluted (${part} of 4)`, () => {
      const before = Object.getOwnPropertyNames(Object.prototype);
      fc.assert(
        fc.property(anyConfig(), (given) => {
          const value = typeof given === "string" || (typeof given === "object" && given !== null) ? given : [given];
          const { servers, problems, names } = readHubConfig(value, { environment });
          for (const { message } of problems) {
            assert(!/[\p{C}\p{Zl}\p{Zp}]/u.test(message), message);
            assert(!message.includes("t0k3n"), message);
          }
          for (const name of Object.keys(servers)) assert(names.includes(name));
        }),
        { numRuns: 500 },
      );
      assertEquals(Object.getOwnPropertyNames(Object.prototype), before);
    });
  }

  test("any text is read without a throw", () => {
    const part = fc.constantFrom(
      ...[
        '{"mcpServers":{',
        '"s":{',
        '"command":"x"',
        '"url":',
        '"https://x"',
        '"env":{',
        "}",
        "]",
        "[",
        ",",
        '"',
        "//",
        "/*",
      ],
      ...["*/", "\n", "1", "${X}", "__proto__", "\\", "\u202e"],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const { problems } = readHubConfig(parts.join(""), { environment });
        for (const { message } of problems) assert(!/[\p{C}\p{Zl}\p{Zp}]/u.test(message), message);
      }),
      { numRuns: 2_000 },
    );
  });
});
