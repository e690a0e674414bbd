/** The secrets that a child process is given are in nothing that it says of what went wrong. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { withoutSecrets } from "../../src/egress/env_secrets.ts";
import type { ProcessEvents } from "../../src/ports.ts";
import { ChannelTransport } from "../../src/transport/channel.ts";
import { createStdioChannel } from "../../src/transport/stdio.ts";
import type { StdioPorts } from "../../src/transport/stdio.ts";
import type { Exchange } from "../../src/transport/transport.ts";

describe("the variables of a child process", () => {
  const cases: [string, Record<string, string>, string, string][] = [
    [
      "the token alone is one behind its scheme",
      { AUTH_TOKEN: "Bearer t0k3n-of-ada" },
      "Bearer: t0k3n-of-ada",
      "Bearer: [redacted]",
    ],
    [
      "the password within a URL is one",
      { DATABASE_URL: "postgres://ada:hunter2@db/shop" },
      "no hunter2 at db/shop",
      "no [redacted] at db/shop",
    ],
    [
      "the rest of such a URL is told",
      { DATABASE_URL: "postgresql+ssl://ada:hunter2@db:5432/shop?a=b@c" },
      "no postgresql+ssl://ada:hunter2@db:5432/shop?a=b@c",
      "no postgresql+ssl://ada:[redacted]@db:5432/shop?a=b@c",
    ],
    [
      "a short one is one with its user",
      { DATABASE_URL: "postgres://postgres:pw@db" },
      "postgres://postgres:pw@db, pw",
      "postgres://[redacted]@db, pw",
    ],
    [
      "one with escapes is one without them, too",
      { SMTP: "smtp://ada:hunter%40%2Ftwo@mail" },
      "hunter@/two, hunter%40%2Ftwo",
      "[redacted], [redacted]",
    ],
    ["one with a wrong escape is one", { REDIS_URL: "redis://:100%hunter@cache" }, "100%hunter", "[redacted]"],
    [
      "a key within a connection string is one",
      { STORE: "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=aGVsbG8=;" },
      "no aGVsbG8= of AccountName=shop",
      "no [redacted] of AccountName=shop",
    ],
    ["so is a password there", { DB: "Server=db;User Id=ada;Pwd=hunter2" }, "ada, hunter2", "ada, [redacted]"],
    [
      "a URL without a password is none",
      { APP_URL: "https://ada@app.test:8080/a:b@c" },
      "https://ada@app.test:8080/a:b@c",
      "https://ada@app.test:8080/a:b@c",
    ],
  ];
  for (const [what, env, said, shown] of cases) {
    test(`of their secrets ${what}`, () => assertEquals(withoutSecrets({ env }, undefined)?.(said) ?? said, shown));
  }

  const given: [string, string[], string, string][] = [
    [
      "a URL, as the server for Postgres takes it",
      ["-y", "pg", "postgresql://ada:hunter2@db/shop"],
      "no hunter2",
      "no [redacted]",
    ],
    [
      "a flag and its value",
      ["--api-key", "k3y-of-ada", "--port", "8080-tcp"],
      "k3y-of-ada, 8080-tcp",
      "[redacted], 8080-tcp",
    ],
    ["a flag with its value", ["--access-token=t0k3n", "-db-pass=hunter2"], "t0k3n hunter2", "t0k3n [redacted]"],
    [
      "a header, as mcp-remote takes it",
      ["--header", "Authorization:Bearer t0k3n-of-ada"],
      "t0k3n-of-ada",
      "[redacted]",
    ],
    ["a header of a key", ["-H", "X-Api-Key: k3y-of-ada"], "no k3y-of-ada", "no [redacted]"],
    [
      "a variable",
      ["env", "API_TOKEN=t0k3n-of-ada", "MODE=production"],
      "t0k3n-of-ada, production",
      "[redacted], production",
    ],
    [
      "where a key is, is none",
      ["--key", "/home/ada/the.key", "--ssl-key=./other.key"],
      "no /home/ada/the.key",
      "no /home/ada/the.key",
    ],
    [
      "none",
      ["--key", "--verbose", "note: it", "a:b=c", "--token"],
      "--verbose, note: it, a:b=c",
      "--verbose, note: it, a:b=c",
    ],
  ];
  for (const [what, args, said, shown] of given) {
    test(`a secret that is an argument is taken out, too: ${what}`, () =>
      assertEquals(withoutSecrets({ args }, undefined)?.(said) ?? said, shown));
  }

  test("its own secrets are not shown in the errors that it answers, and stay in its results", async () => {
    const said = "no ada.example with t0k3n-of-ada";
    let events: ProcessEvents | undefined;
    const command = { command: "server", env: { A_TOKEN: "t0k3n-of-ada" } };
    const ports: StdioPorts = {
      redact: (text) => text.replaceAll("ada.example", "***"),
      spawn(_, given) {
        events = given;
        return Promise.resolve({ pid: 1, write() {}, closeInput() {}, kill() {} });
      },
    };
    const transport = new ChannelTransport(() => createStdioChannel(command, ports));
    const heard: unknown[] = [];
    const exchange: Exchange = {
      message: (message) => "method" in message || heard.push(message.error ?? message.result),
      end() {},
    };
    for (const id of [1, 2]) transport.send({ jsonrpc: "2.0", id, method: "ping" }, exchange);
    await Promise.resolve();
    const error = { code: -32603, message: said, data: { why: said } };
    for (const answer of [{ id: 1, error }, { id: 2, result: { said } }]) {
      events?.output(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...answer }) + "\n"));
    }
    const shown = "no *** with [redacted]";
    assertEquals(heard, [{ ...error, message: shown, data: { why: shown } }, { said }]);
    events?.exit({ code: 0, signal: null });
    events?.outputEnd();
    await transport.close();
  });
});
