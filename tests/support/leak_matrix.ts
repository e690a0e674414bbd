/**
 * No secret of any flow gets out, whatever endpoints, stores and connections say. Each flow tries an eighth of the places of each
 * endpoint, others than the next flow; all of them with
 *
 *     CAUSEWAY_LEAKS=full bun tools/run.ts test --filter tests/auth/leaks --only bun
 *
 * @module
 */
import { env } from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { Authorizer } from "../../src/ports.ts";
import { networkFailure, silence } from "../auth/world/faults.ts";
import { isMeant, type SeenRequest } from "../auth/world/request_log.ts";
import { resourceUrl } from "../auth/world/world.ts";
import { allPlaces, echo, told } from "../auth/leaks/oauth_echoes.ts";
import type { Flow } from "../auth/leaks/oauth_flows.ts";
import { createRig, isOAuth, type Rig } from "../auth/leaks/oauth_rig.ts";

/** What goes wrong for a while. */
interface Trouble {
  readonly name: string;
  begin(rig: Rig): void;
  end(rig: Rig): void;
}

/** Signs in and calls. */
async function signIn(rig: Rig, auth: Authorizer, when: string): Promise<boolean> {
  if (isOAuth(auth)) await rig.step(`signIn ${when}`, () => auth.signIn(resourceUrl));
  return await call(rig, auth, `call ${when}`);
}

function call(rig: Rig, auth: Authorizer, step: string, tool: string = "echo"): Promise<boolean> {
  return rig.step(step, async () => {
    await using client = await rig.open(auth);
    if (step === "call first") rig.canary.value("client", client);
    return await client.callTool(tool, { text: "hello" });
  });
}

/** All steps that a sign-in can go through. */
async function goThrough(rig: Rig, auth: Authorizer, when: string): Promise<void> {
  const { world } = rig;
  await world.clock.advance(300_000);
  await call(rig, auth, `call after the end of the token ${when}`);
  world.server.issued.revokeAccess();
  await call(rig, auth, `call after a refusal ${when}`);
  world.resource.knobs.needs = ({ name }) => name === "write" ? ["files:write"] : [];
  await call(rig, auth, `call that needs more ${when}`, "write");
  if (!isOAuth(auth)) return;
  await rig.step(`begin ${when}`, async () => {
    const { authorizationUrl, pending } = await auth.begin(resourceUrl);
    const back = await world.person.follow(authorizationUrl);
    const forged = new URL(back);
    forged.searchParams.set("iss", "https://evil.example.com");
    const words = `error=access_denied&error_description=${new URL(back).search.slice(1)}`;
    const refused = `${back.replace(/code=[^&]*/, "")}&${words.replaceAll("&", "%26").replace("%26", "&")}`;
    const urls = [`${back}x`, `${back}&code=${back}`, forged, when === "first" ? back : refused, back, back];
    for (const url of urls) await rig.step(`finishAuth ${when}`, () => auth.finishAuth(url));
    return pending;
  });
  await rig.step(`abort ${when}`, async () => {
    await auth.signIn(resourceUrl, { signal: AbortSignal.abort(new Error("enough")) });
  });
  await signIn(rig, auth, when);
  await rig.step(`status ${when}`, () => auth.status(resourceUrl));
  await rig.step(`signOut ${when}`, () => auth.signOut(resourceUrl));
}

/** Endpoints that say what they have heard so far. */
function echoesAt(endpoint: string): Trouble[] {
  return allPlaces.map((place) => {
    let isOn = false;
    const heard = new Set<string>();
    const isTheirs = (seen: SeenRequest): boolean => {
      const isOurs = seen.by === "client" && isMeant(seen, endpoint);
      if (isOurs) { for (const word of told(seen)) heard.add(word); }
      return isOurs && isOn;
    };
    // A redactor has room for so many secrets: what was heard last.
    const answer = echo(place, () => [...heard].slice(-4));
    let isSet = false;
    return {
      name: `${place} at ${endpoint}`,
      begin({ world }) {
        if (!isSet) { for (const seen of world.log.of(endpoint)) isTheirs(seen); }
        if (!isSet) world.fault(isTheirs, answer, Infinity);
        isSet = isOn = true;
      },
      end: () => void (isOn = false),
    };
  });
}

/** Connections that fail, and stores. */
function otherTroubles(endpoints: readonly string[]): Trouble[] {
  const stores = (["get", "set", "compareAndSet", "delete"] as const).map((way): Trouble => ({
    name: `a store that fails at ${way}`,
    begin: (rig) => rig.breakStore(way),
    end: (rig) => rig.breakStore(undefined),
  }));
  const ways = endpoints.flatMap((endpoint) =>
    Object.entries({ silence, networkFailure }).map(([name, fault]): Trouble => {
      let isOn = true;
      return {
        name: `${name} at ${endpoint}`,
        begin: ({ world }) => world.fault((seen) => isOn && isMeant(seen, endpoint), fault, Infinity),
        end: () => void (isOn = false),
      };
    })
  );
  return [...stores, ...ways];
}

const isFull = env["CAUSEWAY_LEAKS"] === "full";

/** The troubles that are tried: in the short form every eighth. */
function chosen(troubles: readonly Trouble[], first: number): readonly Trouble[] {
  return isFull ? troubles : troubles.filter((_, index) => (index + 3 * first) % 8 === 0);
}

interface Counts {
  troubles: number;
  secrets: number;
  forms: number;
  texts: number;
  looks: number;
  errors: number;
}

/** Goes through all troubles, one after another, and says what got out. */
async function runAll(counts: Counts, flow: Flow, troubles: readonly Trouble[]): Promise<string[]> {
  const rig = await createRig(flow.world);
  const auth = await flow.make(rig);
  await signIn(rig, auth, "before");
  for (const trouble of troubles) {
    trouble.begin(rig);
    await goThrough(rig, auth, `with ${trouble.name}`);
    trouble.end(rig);
    await signIn(rig, auth, `after ${trouble.name}`);
  }
  rig.canary.value("auth", auth);
  await rig.finish();
  const { secrets, forms, texts } = rig.canary.counts;
  counts.troubles += troubles.length;
  counts.secrets += secrets;
  counts.forms = forms;
  counts.texts += texts;
  counts.looks += secrets * forms * texts;
  counts.errors += rig.errors.length;
  return rig.canary.leaks.map((leak) => `${leak.secret} in ${leak.form}: ${leak.sink}: ${leak.text}`);
}

/** Registers the tests of some flows. */
export function testFlows(flows: readonly (readonly [name: string, flow: Flow])[]): void {
  const counts: Counts = { troubles: 0, secrets: 0, forms: 0, texts: 0, looks: 0, errors: 0 };
  describe("no secret of a flow gets out", { concurrency: false }, () => {
    for (const [turn, [name, flow]] of flows.entries()) {
      test(`${name}: all as it should be, and every kind of secret is met`, async () => {
        const rig = await createRig(flow.world);
        const auth = await flow.make(rig);
        assert(await signIn(rig, auth, "first"), String(rig.errors[0]));
        await goThrough(rig, auth, "first");
        rig.canary.value("auth", auth);
        await rig.finish();
        const kinds = [...rig.secrets.values()];
        assertEquals(flow.kinds.filter((kind) => !kinds.includes(kind)), []);
        assertEquals(rig.canary.leaks, []);
        // The reverse: each of them is found where it is planted.
        for (const secret of rig.secrets.keys()) rig.canary.error(secret, new Error(`planted ${secret}`));
        const found = rig.canary.leaks.filter(({ form }) => form === "raw").map(({ sink }) => sink);
        assertEquals([...rig.secrets.keys()].filter((secret) => !found.includes(`${secret}.message`)), []);
      });

      for (const [nth, endpoint] of flow.endpoints.entries()) {
        const troubles = chosen(echoesAt(endpoint), turn + nth);
        // A redactor has room for so many secrets, again.
        for (const [at, size] of isFull ? [[0, 9], [9, 9], [18, 9]] as const : [[0, 9]] as const) {
          test(`${name}: ${endpoint} says what it heard, ${at + 1} to ${at + size}`, async () => {
            assertEquals((await runAll(counts, flow, troubles.slice(at, at + size))).slice(0, 8), []);
          });
        }
      }

      test(`${name}: connections and stores fail`, async () => {
        assertEquals((await runAll(counts, flow, chosen(otherTroubles(flow.endpoints), turn))).slice(0, 8), []);
      });
    }

    test("so many looks were taken", () => {
      console.log(`secrets: ${JSON.stringify(counts)}`);
      const least = isFull ? [30, 1_000_000] as const : [3, 50_000] as const;
      assert(counts.troubles > flows.length * least[0] && counts.errors > counts.troubles && counts.looks > least[1]);
    });
  });
}
