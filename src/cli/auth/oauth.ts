/**
 * What the commands need of signing in, and of the world: all of it is given to them.
 *
 * @module
 */
import type { SignInOptions } from "../../auth/oauth.ts";
import type { Authorizer, Store } from "../../ports.ts";

/** The part of OAuth that the commands use. */
export interface OAuth extends Authorizer {
  /** Begins a sign-in that a person goes on with. */
  begin(server: string, options?: SignInOptions): Promise<{ readonly authorizationUrl: string }>;
  /** Finishes it with the address that the person came back to. */
  finishAuth(callbackUrl: string, options?: Pick<SignInOptions, "signal">): Promise<SignedIn>;
  /** The whole sign-in, in a way that needs no address to come back to. */
  signIn(server: string, options?: SignInOptions): Promise<SignedIn>;
  /** Withdraws and forgets the tokens; undefined where nothing was kept. */
  signOut(server: string, options?: Pick<SignInOptions, "signal">): Promise<{ readonly revoked: boolean } | undefined>;
  /** What is kept of a server. */
  status(server: string): Promise<SignInStatus | undefined>;
}

/** What a sign-in was for. */
export interface SignedIn {
  readonly server: string;
  readonly issuer: string;
  readonly resource?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** What is known of a sign-in, without secrets. */
export interface SignInStatus extends SignedIn {
  readonly clientId?: string | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Whether it is prolonged by itself. */
  readonly refreshable?: boolean | undefined;
}

/** What a person does on another device. */
export interface DevicePrompt {
  /** Where the code is entered. */
  readonly verificationUri: string;
  /** The same with the code in it. */
  readonly verificationUriComplete?: string | undefined;
  readonly userCode: string;
}

/** How OAuth is opened. */
export interface OAuthSettings {
  readonly store: Store;
  readonly redirectUri?: string | undefined;
  readonly client?: { readonly clientId: string; readonly clientSecret?: string | undefined } | undefined;
  readonly clientMetadataUrl?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Signs in by a code that is entered elsewhere, and shows it. */
  readonly showCode?: ((prompt: DevicePrompt) => void | Promise<void>) | undefined;
}

/** What the commands ask of the world. */
export interface AuthWorld {
  /** The place where sign-ins are kept. */
  openStore(): Store;
  openOAuth(settings: OAuthSettings): OAuth | Promise<OAuth>;
  /** Shows a page in the browser. */
  openPage(url: string): unknown;
  /** Gives each line that is typed or pasted, until the signal says that no more are wanted. */
  readLines(take: (line: string) => void, signal: AbortSignal): void;
  readonly environment: Readonly<Record<string, string | undefined>>;
}
