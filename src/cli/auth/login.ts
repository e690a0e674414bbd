/**
 * `causeway login <target>`: signs a person in to a server.
 *
 * @module
 */
import { AuthorizationError } from "../../protocol/mod.ts";
import type { CommandLine } from "../command_line.ts";
import { withDeadline } from "../deadline.ts";
import { exitCodes, UsageError } from "../failure.ts";
import { isAttended, writeError, writeOut } from "../terminal.ts";
import { oneLine, plainJson } from "../text/plain.ts";
import { readPlace } from "../../entry/sign_in/authorize_in_browser.ts";
import { listenForCallback } from "../../entry/sign_in/callback.ts";
import type { CallbackServer } from "../../entry/sign_in/callback.ts";
import { createFinisher } from "./finish.ts";
import type { Finisher } from "./finish.ts";
import { keepSignIn, readKept } from "./kept.ts";
import type { KeptSignIn } from "./kept.ts";
import type { AuthWorld, DevicePrompt, SignInStatus } from "./oauth.ts";
import type { Store } from "../../ports.ts";
import { pageAddress } from "../../entry/sign_in/open.ts";
import { statusJson, statusText } from "./report.ts";
import { readServerTarget, shownAddress } from "./server.ts";
import type { ServerTarget } from "./server.ts";
import { openKept, toKeep } from "./settings.ts";
import { readUrl } from "../../egress/url.ts";

/** How long a person may take in a browser, and with a code on another device, in milliseconds. */
const patience = { browser: 300_000, device: 900_000 };

/** One sign-in. */
interface Attempt extends ServerTarget {
  readonly world: AuthWorld;
  readonly store: Store;
  /** The last sign-in to it. */
  readonly earlier: KeptSignIn | undefined;
  readonly kept: KeptSignIn;
  readonly signal: AbortSignal;
}

/** Signs in, and answers the exit code. */
export async function login(line: CommandLine, given: AbortSignal, world: AuthWorld): Promise<number> {
  const options = line.signIn;
  if (!options) throw new UsageError("Cannot sign in without options: write causeway login <target>");
  const target = await readServerTarget(line);
  const { server, own } = target;
  const run = async (signal: AbortSignal): Promise<number> => {
    const store = world.openStore();
    const earlier = (await readKept(store)).find((kept) => kept.server === server);
    const kept = toKeep(target, options, earlier, world.environment);
    const attempt = { ...target, world, store, earlier, kept, signal };
    const { kept: made, result } = options.device
      ? await byDevice(attempt)
      : await byBrowser(attempt, { port: options.port, open: options.open });
    await keepSignIn(store, made);
    const oauth = await openKept(world, store, made, { own });
    const status = { ...result, ...await oauth.status(server) };
    await writeOut(line.json ? plainJson(statusJson(status)) + "\n" : `Signed in to ${statusText(status)}\n`);
    return exitCodes.ok;
  };
  return await withDeadline(given, line.timeout ?? patience[options.device ? "device" : "browser"], run, tooLate);
}

function tooLate(timeout: number): AuthorizationError {
  return new AuthorizationError(
    `Cannot sign in: nobody came back within ${timeout / 1_000} s; run it again, or raise --timeout`,
  );
}

/** By a code that the person enters on another device. */
async function byDevice(
  { world, store, server, own, kept, signal }: Attempt,
): Promise<{ result: SignInStatus; kept: KeptSignIn }> {
  const oauth = await openKept(world, store, kept, { own, showCode: (prompt) => showCode(prompt, server) });
  return { result: await oauth.signIn(server, { scopes: kept.scopes, signal }).catch(inOurWords("")), kept };
}

async function showCode(prompt: DevicePrompt, server: string): Promise<void> {
  const { verificationUri, verificationUriComplete, userCode } = prompt;
  const address = pageAddress(verificationUri);
  if (address === undefined) throw noPage(server);
  const whole = verificationUriComplete === undefined ? undefined : pageAddress(verificationUriComplete);
  await writeError(
    `To sign in to ${shownAddress(server)}, open ${address} on any device and enter the code: ${oneLine(userCode)}\n${
      whole === undefined ? "" : `The same with the code in it: ${whole}\n`
    }`,
  );
}

/** By a browser on this machine, or by the address that a browser elsewhere ended at. */
async function byBrowser(
  attempt: Attempt,
  options: { port: number | undefined; open: boolean },
): Promise<{ result: SignInStatus; kept: KeptSignIn }> {
  const { world, store, server, own, signal } = attempt;
  let finisher: Finisher | undefined;
  let isTold = false;
  const callback = await listen(attempt, options.port, (url) => {
    if (!finisher || finisher.take(url) || isTold) return;
    isTold = true;
    void writeError(`causeway: ${otherAnswer(url)}\n`);
  });
  const reading = new AbortController();
  try {
    const kept = { ...attempt.kept, redirectUri: callback.redirectUri };
    const oauth = await openKept(world, store, kept, { own });
    const isFixed = options.port !== undefined || own.redirectUri !== undefined;
    const words = inOurWords(isFixed ? callback.redirectUri : undefined);
    const { authorizationUrl } = await oauth.begin(server, { scopes: kept.scopes, signal }).catch(words);
    const address = pageAddress(authorizationUrl);
    if (address === undefined) throw noPage(server);
    finisher = createFinisher(oauth, authorizationUrl, signal);
    const { done } = finisher;
    world.readLines(readAnswer(finisher, callback.redirectUri), reading.signal);
    await writeError(
      `To sign in to ${shownAddress(server)}, open this page:\n${address}\n${
        isAttended() ? "In a browser on another machine: paste the address here that it ends at.\n" : ""
      }`,
    );
    if (options.open && !signal.aborted) world.openPage(address);
    return { result: await done, kept };
  } finally {
    reading.abort();
    await callback.close();
  }
}

/**
 * What the library would have a programmer do, a person at a terminal cannot: they are told what they can.
 *
 * @param redirectUri Where the browser comes back to, where that was chosen; empty: no browser does.
 */
function inOurWords(redirectUri: string | undefined): (error: unknown) => never {
  const back = redirectUri ?? "http://127.0.0.1:8085/callback";
  const place = back && ` that comes back to ${back}`;
  const port = redirectUri === undefined ? " --port 8085" : "";
  const secret = "(with --client-secret-file <file> where it has a secret)";
  const client = `make a client there${place}, and add --client-id <id>${port} ${secret}`;
  const ours: readonly (readonly [theirs: string, ours: string])[] = [
    [
      '; a server of 2025-03-26 needs "fallback"',
      "; try --legacy where it is of 2025-03-26; where it wants a token, send it with --header 'Authorization: Bearer …' to the other commands",
    ],
    ['; set "client" to one that it knows', `; ${client}`],
    ['; if that is right, name it in "issuers"', "; if that is right, name it with --issuer"],
    [
      '; set "discover"',
      '; if it knows PKCE all the same, say so in a config: "oauth": { "issuer": …, "metadata": { "code_challenge_methods_supported": ["S256"] } }',
    ],
    [', expected a "client_id"', `; where it registers nobody, ${client}`],
    ['; name the "issuer" of each', "; name each with --issuer"],
  ];
  return (error) => {
    if (!(error instanceof AuthorizationError) || error.retryable) throw error;
    const found = ours.find(([end]) => error.message.endsWith(end));
    if (!found) throw error;
    throw new AuthorizationError(error.message.slice(0, -found[0].length) + found[1], { cause: error });
  };
}

/** Where the config says; else on the port of last time where it is free, since the client may be registered with it. */
async function listen(
  { own, earlier }: Attempt,
  port: number | undefined,
  arrived: (url: string) => void,
): Promise<CallbackServer> {
  if (port !== undefined) {
    return await listenForCallback(arrived, { port }).catch((error) => {
      throw new UsageError(`${error.message}; choose another with --port`);
    });
  }
  if (own.redirectUri !== undefined) return await listenAt(own.redirectUri, arrived);
  const { redirectUri = "" } = earlier ?? {};
  const last = Number(readUrl(redirectUri)?.port ?? 0);
  if (last === 0) return await listenForCallback(arrived);
  return await listenForCallback(arrived, { port: last }).catch(() => listenForCallback(arrived));
}

/** Where a config says that the browser comes back to, letter by letter: the client is registered with that. */
async function listenAt(redirectUri: string, arrived: (url: string) => void): Promise<CallbackServer> {
  const place = readPlace(redirectUri);
  if (!place) {
    throw new UsageError(
      `Cannot sign in with "redirectUri" ${JSON.stringify(redirectUri)} of the config: ` +
        "write http://127.0.0.1:<port>/callback, or sign in with --port",
    );
  }
  const server = await listenForCallback(arrived, place).catch((error) => {
    throw new UsageError(`${error.message}; correct the config, or choose another with --port`);
  });
  return { ...server, redirectUri };
}

/** What is done with a line that was typed or pasted. */
function readAnswer(finisher: Finisher, redirectUri: string): (line: string) => void {
  return (line) => {
    const text = line.trim();
    if (text === "") return;
    const isAnswer = text.startsWith(`${redirectUri}?`);
    if (isAnswer && finisher.take(text)) return;
    const why = isAnswer ? "it belongs to another sign-in" : `paste the whole address; it begins with ${redirectUri}?`;
    void writeError(`causeway: that is not the address of this sign-in: ${why}\n`);
  };
}

/** What came back that is of nobody here: the page says that an answer has arrived, and the person waits for its end. */
function otherAnswer(url: string): string {
  const { searchParams } = new URL(url);
  const said = ["error", "error_description"].flatMap((name) => searchParams.get(name) ?? []).join(": ");
  const what = searchParams.has("state") ? "the state of another sign-in" : "no state";
  return `an answer with ${what} came back, and was left aside${said && `: ${oneLine(said).slice(0, 300)}`}`;
}

function noPage(server: string): AuthorizationError {
  return new AuthorizationError(
    `Cannot sign in to "${shownAddress(server)}": its authorization server names a page that is no plain https address`,
  );
}
