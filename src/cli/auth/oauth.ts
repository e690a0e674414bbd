/**
 * What the commands need of signing in, and of the world: all of it is given to them.
 *
 * @module
 */
import type { DeviceCodePrompt } from "../../auth/grants/device_code.ts";
import type { KnownServer } from "../../auth/discovery/known_servers.ts";
import type { OAuth as WholeOAuth } from "../../auth/oauth.ts";
import type { OAuthOptions } from "../../auth/options.ts";
import type { OAuthClient } from "../../auth/seam.ts";
import type { ProgramSignIn } from "../../hub/config/sign_in_settings.ts";
import type { Authorizer, Store } from "../../ports.ts";

export type { SignInStatus } from "../../auth/oauth.ts";

/** The part of OAuth that the commands use. */
export type OAuth = Authorizer & Pick<WholeOAuth, "begin" | "finishAuth" | "signIn" | "signOut" | "status">;

/** What of a code a person is shown. */
export type DevicePrompt = Pick<DeviceCodePrompt, "verificationUri" | "verificationUriComplete" | "userCode">;

/** How OAuth is opened. */
export interface OAuthSettings
  extends Readonly<Pick<OAuthOptions, "redirectUri" | "clientMetadataUrl" | "issuers" | "scopes">> {
  /** Where it is kept; none: with this process it is forgotten. */
  readonly store?: Store | undefined;
  /** The authorization servers that a config knows, by the servers. */
  readonly known?: Readonly<Record<string, KnownServer>> | undefined;
  /** A program that signs in by itself. */
  readonly program?: ProgramSignIn | undefined;
  readonly client?: OAuthClient | undefined;
  /** A server of 2025-03-26 is its own authorization server. */
  readonly legacy?: boolean | undefined;
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
