/** A person with a browser elsewhere. */
import { describe, test } from "node:test";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { deviceCode, type DeviceCodeOptions, type DeviceCodePrompt } from "../../../src/auth/mod.ts";
import { AuthorizationError, ConnectionClosedError } from "../../../src/protocol/errors.ts";
import {
  type Answer,
  deviceEndpoint,
  GrantWorld,
  issuer,
  refusal,
  resource,
  token,
  tokenEndpoint,
  type WorldOptions,
} from "./context.ts";

const grantType = "urn:ietf:params:oauth:grant-type:device_code";
const sound = {
  device_code: "the-s3cret-device-code",
  user_code: "WDJB-MJHT",
  verification_uri: "https://auth.example.com/device",
  verification_uri_complete: "https://auth.example.com/device?user_code=WDJB-MJHT",
  expires_in: 600,
  interval: 5,
};

/** A world whose server answers so to who asks for a code, and so, in turn, to who asks for the token. */
function worldOf(document: unknown, polls: Answer[] = [token], given: WorldOptions = {}): GrantWorld {
  const world = new GrantWorld({
    ...given,
    metadata: { device_authorization_endpoint: deviceEndpoint, ...given.metadata },
  });
  world.servers.set(deviceEndpoint, () => typeof document === "function" ? document() : Response.json(document));
  world.servers.set(tokenEndpoint, (seen, count) => {
    times.set(world, [...(times.get(world) ?? []), world.clock.monotonic()]);
    return (polls[Math.min(count, polls.length) - 1] ?? token)(seen, count);
  });
  return world;
}

/** When each world's server was asked for the token, in milliseconds. */
const times = new WeakMap<GrantWorld, number[]>();

const pending = (): Response => refusal("authorization_pending");
const dead = (): Promise<Response> => Promise.reject(new TypeError("connection reset"));
const ignore: DeviceCodeOptions = { onCode: () => {} };

describe("a device code", () => {
  test("the person is shown where to go and what to enter; the token comes when they have", async () => {
    const world = worldOf(sound, [pending, pending, token]);
    const prompts: DeviceCodePrompt[] = [];
    const grant = deviceCode({ onCode: (prompt) => void prompts.push(prompt) });
    assertEquals([grant.isInteractive, grant.grantTypes.includes(grantType)], [true, true]);
    const expiresAt = world.clock.now() + 600_000;
    const result = await world.clock.until(world.obtain(grant));
    assertEquals(result.accessToken, "the-access-token");
    const { signal, ...shown } = prompts[0] ?? {};
    assertEquals(shown, {
      verificationUri: sound.verification_uri,
      verificationUriComplete: sound.verification_uri_complete,
      userCode: "WDJB-MJHT",
      expiresAt,
    });
    assertEquals([prompts.length, signal?.aborted], [1, true], "there is nothing left to show");
    assertEquals(Object.fromEntries(world.forms(deviceEndpoint)[0] ?? []), {
      client_id: "registered",
      scope: "files:read",
      resource,
    });
    const form = world.forms(tokenEndpoint)[0];
    assertEquals([form?.get("grant_type"), form?.get("device_code")], [grantType, sound.device_code]);
    assertEquals(times.get(world), [5_000, 10_000, 15_000]);
    assertEquals(world.clock.waiting, 0);
    assertEquals(world.redactor.redact(sound.device_code), "[redacted]");
    assertEquals(JSON.stringify(shown).includes(sound.device_code), false);
  });

  test("no scopes, no resource, no interval, no complete URL: five seconds, and nothing that is not there", async () => {
    const { interval: _, verification_uri_complete: __, ...bare } = sound;
    const world = worldOf(bare, [token], { scopes: [], resource: undefined });
    let shown: string | undefined = "unset";
    await world.clock.until(
      world.obtain(deviceCode({ onCode: (prompt) => void (shown = prompt.verificationUriComplete) })),
    );
    assertEquals(shown, undefined);
    assertEquals(Object.fromEntries(world.forms(deviceEndpoint)[0] ?? []), { client_id: "registered" });
    assertEquals(times.get(world), [5_000]);
  });

  test("slow_down adds five seconds for good; an interval below a second is one second", async () => {
    const slow = worldOf(sound, [() => refusal("slow_down"), pending, () => refusal("slow_down"), token]);
    await slow.clock.until(slow.obtain(deviceCode(ignore)));
    assertEquals(times.get(slow), [5_000, 15_000, 25_000, 40_000]);
    const hasty = worldOf({ ...sound, interval: 0.001 }, [pending, token]);
    await hasty.clock.until(hasty.obtain(deviceCode(ignore)));
    assertEquals(times.get(hasty), [1_000, 2_000]);
  });

  test("a connection that breaks is tried again, less and less often, four times in a row at most", async () => {
    const world = worldOf(sound, [dead, dead, pending, dead, token]);
    await world.clock.until(world.obtain(deviceCode(ignore)));
    assertEquals(times.get(world), [5_000, 15_000, 35_000, 40_000, 50_000]);
    const silent = worldOf(sound, [() => new Promise<Response>(() => {}), token]);
    await silent.clock.until(silent.obtain(deviceCode(ignore)));
    assertEquals(times.get(silent)?.length, 2, "a time-out is such a failure");
    const gone = worldOf(sound, [dead]);
    await assertRejects(() => gone.clock.until(gone.obtain(deviceCode(ignore))), ConnectionClosedError);
    assertEquals(times.get(gone)?.length, 4);
  });

  test("a person who refuses, and a code that ends, end it; so does any other refusal", async () => {
    for (const [code, words] of [["access_denied", "the person refused"], ["expired_token", "not entered in time"]]) {
      const world = worldOf(sound, [pending, () => refusal(code ?? "")]);
      const work = () => world.clock.until(world.obtain(deviceCode(ignore)));
      const error = await assertRejects(work, AuthorizationError, words);
      assertEquals([error.error, times.get(world)?.length], [code, 2]);
      assertStringIncludes(error.message, issuer);
    }
    for (const code of ["invalid_client", "invalid_grant", "unsupported_grant_type"]) {
      const world = worldOf(sound, [() => refusal(code)]);
      const work = () => world.clock.until(world.obtain(deviceCode(ignore)));
      const error = await assertRejects(work, AuthorizationError);
      assertEquals([error.error, times.get(world)?.length, world.clock.waiting], [code, 1, 0]);
    }
    const nonsense = worldOf(sound, [() => new Response("<html>hello</html>")]);
    await assertRejects(() => nonsense.clock.until(nonsense.obtain(deviceCode(ignore))), AuthorizationError);
    assertEquals(times.get(nonsense)?.length, 1);
  });

  test("nobody is waited for longer than the code is good, or than half an hour", async () => {
    for (const [seconds, longest] of [[12, 12_000], [86_400, 1_800_000], [1e300, 1_800_000]] as const) {
      const world = worldOf({ ...sound, expires_in: seconds }, [pending]);
      let expiresAt = 0;
      const begun = world.clock.now();
      const grant = deviceCode({ onCode: (prompt) => void (expiresAt = prompt.expiresAt) });
      const work = () => world.clock.until(world.obtain(grant));
      const error = await assertRejects(work, AuthorizationError, "not entered in time");
      assertEquals([error.error, expiresAt - begun, world.clock.monotonic()], ["expired_token", longest, longest]);
      assert(times.get(world)?.every((time) => time < longest), "no poll after the end");
    }
    const never = worldOf({ ...sound, interval: 1e300 }, [token]);
    await assertRejects(() => never.clock.until(never.obtain(deviceCode(ignore))), AuthorizationError, "in time");
    assertEquals([times.get(never), never.clock.monotonic()], [undefined, 600_000]);
  });

  test("who no longer waits gets their own reason; the server is not asked again", async () => {
    const controller = new AbortController();
    const world = worldOf(sound, [pending], { signal: controller.signal });
    let prompt: DeviceCodePrompt | undefined;
    const work = world.obtain(deviceCode({ onCode: (given) => void (prompt = given) }));
    work.catch(() => {});
    await world.clock.advance(12_000);
    const reason = new Error("enough");
    controller.abort(reason);
    assertStrictEquals(await assertRejects(() => work, Error), reason);
    assertStrictEquals(prompt?.signal.reason, reason);
    await world.clock.advance(60_000);
    assertEquals([times.get(world), world.clock.waiting], [[5_000, 10_000], 0]);
    assertStrictEquals(await assertRejects(() => world.obtain(deviceCode(ignore)), Error), reason);
    assertEquals(world.forms(deviceEndpoint).length, 1);
  });

  test("an abort while the server is being asked ends it too", async () => {
    for (const [hung, time] of [[deviceEndpoint, 1_000], [tokenEndpoint, 5_001]] as const) {
      const controller = new AbortController();
      const world = worldOf(sound, [token], { signal: controller.signal });
      world.servers.set(hung, () => new Promise<Response>(() => {}));
      const work = world.obtain(deviceCode(ignore));
      work.catch(() => {});
      await world.clock.advance(time);
      assertEquals(world.seen.at(-1)?.url, hung);
      const reason = new Error("enough");
      controller.abort(reason);
      assertStrictEquals(await assertRejects(() => work, Error), reason);
      assertEquals(world.clock.waiting, 0);
    }
  });

  test("what shows the code may take its time; what it throws ends the sign-in", async () => {
    const patient = worldOf(sound, [token]);
    const result = await patient.clock.until(patient.obtain(deviceCode({ onCode: () => new Promise<void>(() => {}) })));
    assertEquals(result.accessToken, "the-access-token");
    const failure = new Error("there is no terminal");
    const failing: DeviceCodeOptions["onCode"][] = [() => Promise.reject(failure), () => {
      throw failure;
    }];
    for (const onCode of failing) {
      const world = worldOf(sound, [token]);
      assertStrictEquals(
        await assertRejects(() => world.clock.until(world.obtain(deviceCode({ onCode }))), Error),
        failure,
      );
      await world.clock.advance(60_000);
      assertEquals([times.get(world), world.clock.waiting], [undefined, 0], "nobody polls for who does not wait");
    }
  });

  test("onCode has to be a function", () => {
    for (const onCode of [undefined, "console.log"]) {
      assertThrows(() => deviceCode({ onCode } as unknown as DeviceCodeOptions), TypeError, '"onCode"');
    }
  });
});

describe("a server that answers badly to who asks for a code", () => {
  const bad: [string, object, string][] = [
    ["no device code", { device_code: undefined }, '"device_code" to be a text of visible ASCII'],
    ["a number", { device_code: 7 }, '"device_code" to be a text of visible ASCII'],
    ["an empty device code", { device_code: "" }, '"device_code" to be a text of visible ASCII'],
    ["two lines", { device_code: "a\nb" }, '"device_code" to be a text of visible ASCII'],
    ["no user code", { user_code: undefined }, '"user_code" to be a text of 1 to 64 characters'],
    ["only control characters", { user_code: "\u0007\u202e \u2028" }, '"user_code" to be a text of 1 to 64'],
    ["a long user code", { user_code: "A".repeat(65) }, '"user_code" to be a text of 1 to 64'],
    ["a list", { user_code: ["WDJB"] }, '"user_code" to be a text of 1 to 64'],
    ["no lifetime", { expires_in: undefined }, '"expires_in" to be a number of seconds above 0'],
    ["a text", { expires_in: "600" }, '"expires_in" to be a number of seconds above 0'],
    ["no time at all", { expires_in: 0 }, '"expires_in" to be a number of seconds above 0'],
    ["a past", { expires_in: -1 }, '"expires_in" to be a number of seconds above 0'],
    ["an interval as a text", { interval: "5" }, '"interval" to be a number of seconds above 0'],
    ["no interval between", { interval: 0 }, '"interval" to be a number of seconds above 0'],
  ];
  for (const [name, changed, wanted] of bad) {
    test(`${name}: which document, which field, what was expected; nobody is shown anything`, async () => {
      const world = worldOf({ ...sound, ...changed });
      let shown = 0;
      const work = () => world.clock.until(world.obtain(deviceCode({ onCode: () => void shown++ })));
      const error = await assertRejects(work, AuthorizationError, `expected ${wanted}`);
      assertStringIncludes(error.message, `the device authorization response of "${issuer}"`);
      assertEquals([shown, times.get(world)], [0, undefined]);
    });
  }

  test("addresses that no person should be sent to", async () => {
    const addresses: unknown[] = [
      undefined,
      7,
      "",
      "/device",
      "//auth.example.com/device",
      "http://auth.example.com/device",
      "http://127.0.0.1/device",
      "http://localhost/device",
      "javascript:alert(1)",
      "JavaScript:alert(1)//https://auth.example.com",
      "\u0001javascript:alert(1)",
      "java\nscript:alert(1)",
      "data:text/html,hello",
      "file:///etc/passwd",
      "vbscript:x",
      "blob:https://auth.example.com/1",
      "--help",
      "https://",
      "https://auth.example.com@evil.example/device",
      "https://user:pass@auth.example.com/device",
      "https://auth.example.com/\u001b]8;;",
      "https://auth.example.com/\u202edevice",
      "https://auth.example.com/ device",
      `https://auth.example.com/${"x".repeat(2_048)}`,
    ];
    for (const field of ["verification_uri", "verification_uri_complete"]) {
      for (const address of addresses) {
        if (field === "verification_uri_complete" && address === undefined) continue;
        const world = worldOf({ ...sound, [field]: address });
        const work = () => world.clock.until(world.obtain(deviceCode(ignore)));
        const error = await assertRejects(work, AuthorizationError, `expected "${field}" to be an https URL`);
        assertEquals(error.message.includes("on this machine"), false, String(address));
      }
    }
  });

  test("on this machine people go without TLS when the server is here too, and nowhere else", async () => {
    const here = { metadata: { issuer: "http://127.0.0.1:9000" } };
    for (
      const address of ["http://127.0.0.1:9000/device", "http://localhost:9000/device", "https://auth.example.com/"]
    ) {
      const world = worldOf({ ...sound, verification_uri: address }, [token], here);
      let shown = "";
      await world.clock.until(world.obtain(deviceCode({ onCode: (prompt) => void (shown = prompt.verificationUri) })));
      assertEquals(shown, address);
    }
    for (const address of ["http://auth.example.com/device", "http://127.0.0.1.evil.example/", "http://10.0.0.1/"]) {
      const world = worldOf({ ...sound, verification_uri: address }, [token], here);
      const work = () => world.clock.until(world.obtain(deviceCode(ignore)));
      await assertRejects(
        work,
        AuthorizationError,
        'expected "verification_uri" to be an https URL, or http on this machine',
      );
    }
  });

  test("what is shown is fit for a terminal: names as DNS has them, codes without control characters", async () => {
    const world = worldOf({
      ...sound,
      user_code: " WD\u001b[2JJB\u200b-\u202eMJHT\r\n",
      verification_uri: "https://\u0430uth.example.com/ger\u00e4t",
    });
    let prompt: DeviceCodePrompt | undefined;
    await world.clock.until(world.obtain(deviceCode({ onCode: (given) => void (prompt = given) })));
    assertEquals(prompt?.userCode, "WD[2JJB-MJHT");
    assertEquals(prompt?.verificationUri, "https://xn--uth-5cd.example.com/ger%C3%A4t");
  });

  test("HTML, a refusal, or no such endpoint: nobody is shown anything", async () => {
    let shown = 0;
    const grant = deviceCode({ onCode: () => void shown++ });
    const html = worldOf(() => new Response("<html>hello</html>"));
    await assertRejects(() => html.clock.until(html.obtain(grant)), AuthorizationError);
    const refused = worldOf(() => refusal("unauthorized_client"));
    const error = await assertRejects(() => refused.clock.until(refused.obtain(grant)), AuthorizationError);
    assertEquals(error.error, "unauthorized_client");
    const without = worldOf(sound, [], { metadata: { device_authorization_endpoint: "" } });
    const missing = await assertRejects(() => without.obtain(grant), AuthorizationError);
    assertStringIncludes(missing.message, `the metadata of "${issuer}" to have "device_authorization_endpoint"`);
    assertEquals([shown, without.seen.length], [0, 0]);
  });

  test("an endpoint without TLS, or in the private network, is not asked", async () => {
    for (
      const endpoint of ["http://auth.example.com/device", "https://10.0.0.1/device", "https://router.local/device"]
    ) {
      const world = worldOf(sound, [], { metadata: { device_authorization_endpoint: endpoint } });
      await assertRejects(() => world.obtain(deviceCode(ignore)), Error, "Cannot fetch");
      assertEquals(world.seen, []);
    }
  });
});
