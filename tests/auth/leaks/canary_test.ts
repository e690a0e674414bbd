import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Fetch } from "../../../src/ports.ts";
import { type Canary, createCanary } from "./canary.ts";
import { type Form, forms, formsFound } from "./forms.ts";

/** Reads otherwise in every form; and one as tokens are. */
const secrets = { awkward: 'pä"ss/wo\\rd+ of="the?"canary>', token: "0Abc-9dEfGh_tok~en.1234567890" };
const { awkward } = secrets;

/** The secret in a form, alone and inside of something longer. */
const writings: Readonly<Record<Form, readonly string[]>> = {
  raw: [awkward, `the ${awkward} itself`],
  base64: ["", "u", "us", "use"].map((user) => btoa(bytesOf(`${user}${awkward}tail`))),
  base64url: ["", "u", "us"].map((user) => `x.${base64url(`${user}${awkward}`)}.y`),
  URL: [
    encodeURIComponent(awkward),
    new URLSearchParams({ k: awkward }).toString(),
    encodeURIComponent(awkward).toLowerCase(),
  ],
  JSON: [JSON.stringify({ k: awkward }), JSON.stringify(JSON.stringify(awkward)), escaped(awkward)],
  hex: [hex(awkward), `0${hex(awkward)}`, hex(`x${awkward}`).toUpperCase()],
};

/** Everywhere that a text can be put. */
const sinks: Readonly<Record<string, (canary: Canary, text: string) => unknown>> = {
  "error.message": (canary, text) => canary.error("error", new Error(text)),
  "error.stack": (canary, text) => canary.error("error", Object.assign(new Error("x"), { stack: text })),
  "error.cause.cause.message": (canary, text) =>
    canary.error("error", new Error("x", { cause: new Error("y", { cause: new Error(text) }) })),
  "error by JSON": (canary, text) => canary.error("error", Object.assign(new Error("x"), { toJSON: () => ({ text }) })),
  "error.body": (canary, text) => canary.error("error", Object.assign(new Error("x"), { body: { deep: [text] } })),
  "error.hidden": (canary, text) =>
    canary.error("error", Object.defineProperty(new Error("x"), "hidden", { value: text, enumerable: false })),
  "value by util.inspect": (canary, text) =>
    canary.value("value", new Map([["key", { a: { b: { c: { d: [text] } } } }]])),
  "value by util.inspect of all": (canary, text) =>
    canary.value("value", Object.defineProperty({}, "hidden", { value: text, enumerable: false })),
  "logger": (canary, text) => canary.logger({ level: "info", message: "m", fields: { text } }),
  "telemetry": (canary, text) =>
    canary.onEvent({
      ...{ type: "request", method: "m", milliseconds: 0, isError: false },
      trace: { traceId: "", spanId: "", context: {} } as never,
      attributes: { text },
    }),
  "console.warn": (canary, text) => canary.console(() => Promise.resolve(console.warn("a", { text }))),
  "URL": (canary, text) => canary.fetch(reached, ["https://a.test"])("https://a.test/?q=" + text, {}),
  "header x-key to https://b.test": (canary, text) =>
    canary.fetch(reached, ["https://a.test"])("https://b.test/", { headers: { "X-Key": toHeader(text) } }),
  "body to https://b.test": (canary, text) =>
    canary.fetch(reached, ["https://a.test"])("https://b.test/", { method: "POST", body: text }),
};
if ("Bun" in globalThis) Object.assign(sinks, { "value by Bun.inspect": sinks["value by util.inspect"] });
if ("Deno" in globalThis) Object.assign(sinks, { "value by Deno.inspect": sinks["value by util.inspect"] });

const reached: Fetch = () => Promise.resolve(new Response());

describe("the canary finds what was planted", () => {
  for (const [sink, plant] of Object.entries(sinks)) {
    for (const form of forms) {
      test(`${form} in ${sink}`, async () => {
        for (const text of writings[form]) {
          const canary = createCanary(secrets);
          await plant(canary, `before ${text} after`);
          const found = canary.leaks.filter((leak) => leak.sink.startsWith(sink));
          assert(found.some(({ secret }) => secret === "awkward"), `${text}: ${JSON.stringify(canary.leaks)}`);
          assert(found.every(({ secret }) => secret !== "token"), "what was not planted was not found");
        }
      });
    }
    test(`nothing in ${sink} where nothing was planted`, async () => {
      const canary = createCanary(secrets);
      await plant(canary, "an innocent text, 0123456789abcdef0123456789abcdef, QUJDREVGR0hJSktMTU5PUA==, %20 \\n");
      assertEquals(canary.leaks, []);
    });
  }
});

describe("the canary", () => {
  test("names the form", () => {
    for (const form of forms) {
      for (const text of writings[form]) {
        const found = formsFound(text, awkward);
        // The digits of the two are the same, but for two of them.
        assert(
          found.includes(form) || form.startsWith("base64") && found.some((other) => other.startsWith("base64")),
          text,
        );
      }
    }
  });

  test("finds what is left of a secret that was cut", () => {
    assertEquals(formsFound(`cut ${secrets.token.slice(0, 16)}…`, secrets.token), ["raw"]);
    assertEquals(formsFound(`cut ${secrets.token.slice(0, 15)}…`, secrets.token), []);
    assertEquals(formsFound(btoa(secrets.token.slice(5, 25)), secrets.token).length > 0, true);
  });

  test("leaves a secret alone where it belongs: in what goes to the origins that may know it", async () => {
    const canary = createCanary(secrets);
    const send = canary.fetch(reached, ["https://a.test"]);
    await send("https://a.test/", { method: "POST", headers: { "X-Key": secrets.token }, body: awkward });
    assertEquals(canary.leaks, []);
  });

  test("gives the console back, also after a failure, and hands on what came", async () => {
    const canary = createCanary(secrets);
    const before = console.log;
    assertEquals(await canary.console(() => Promise.resolve(7)), 7);
    await canary.console(() => Promise.reject(new Error("no"))).catch(() => {});
    assertEquals(console.log, before);
  });

  test("learns secrets that come later, and refuses those that stand in any text", () => {
    const canary = createCanary({});
    canary.text("before", "later-secret");
    canary.add("late", "later-secret");
    canary.text("after", "later-secret");
    assertEquals(canary.leaks.map(({ sink, secret }) => [sink, secret]), [["before", "late"], ["after", "late"]]);
    assertThrows(() => formsFound("any", "short"), RangeError);
  });

  test("an error whose causes go in a circle is looked at once", () => {
    const canary = createCanary(secrets);
    const error = new Error(awkward);
    error.cause = error;
    canary.error("error", error);
    assert(canary.leaks.length > 0);
  });
});

function bytesOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

function base64url(text: string): string {
  return btoa(bytesOf(text)).replaceAll("+", "-").replaceAll("/", "_").replace(/=*$/, "");
}

function hex(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function escaped(text: string): string {
  return Array.from(text, (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0")).join("");
}

/** Headers take bytes: what is none of them goes as its bytes in UTF-8, which is what a server would read. */
function toHeader(text: string): string {
  return text.replace(/[^ -~]/g, (character) => bytesOf(character));
}
