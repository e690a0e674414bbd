/**
 * What a server has given out: codes, access tokens, refresh tokens. A family is what one sign-in led to.
 *
 * @module
 */
import type { Clock } from "../../../../src/ports.ts";

/** What a thing was given out for. */
export interface Grounds {
  readonly clientId: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  /** The thumbprint of the key that it is bound to. */
  readonly jkt?: string | undefined;
  readonly family: string;
}

/** A code. */
export interface IssuedCode extends Grounds {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly expiresAt: number;
  isUsed: boolean;
}

/** An access token or a refresh token. */
export interface IssuedToken extends Grounds {
  readonly token: string;
  readonly expiresAt: number;
  /** A refresh token that was exchanged for another one. */
  isUsed: boolean;
  isRevoked: boolean;
}

/** What was given out, by its text. */
export class Issued {
  readonly codes: Map<string, IssuedCode> = new Map();
  readonly access: Map<string, IssuedToken> = new Map();
  readonly refresh: Map<string, IssuedToken> = new Map();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** All that is secret, so that tests can look for it where it must not be. */
  get secrets(): string[] {
    return [...this.codes.keys(), ...this.access.keys(), ...this.refresh.keys()];
  }

  /** Names a new family. */
  family(): string {
    return unguessable("family");
  }

  code(code: Omit<IssuedCode, "expiresAt" | "isUsed">): string {
    const text = unguessable("code");
    this.codes.set(text, { ...code, expiresAt: this.#clock.now() + 60_000, isUsed: false });
    return text;
  }

  token(kind: "access" | "refresh", grounds: Grounds, seconds: number): string {
    const token = unguessable(kind);
    const expiresAt = this.#clock.now() + seconds * 1_000;
    this[kind].set(token, { ...grounds, token, expiresAt, isUsed: false, isRevoked: false });
    return token;
  }

  /** Whether a token is good now. */
  isGood(token: IssuedToken): boolean {
    return !token.isRevoked && !token.isUsed && token.expiresAt > this.#clock.now();
  }

  /** Takes back all that one sign-in led to. */
  revokeFamily(family: string): void {
    for (const tokens of [this.access, this.refresh]) {
      for (const token of tokens.values()) if (token.family === family) token.isRevoked = true;
    }
  }

  /** Takes back every access token, as a server that lost its keys would. */
  revokeAccess(): void {
    for (const token of this.access.values()) token.isRevoked = true;
  }
}

/** A text that nobody guesses, with the name of its kind in front. */
export function unguessable(kind: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `${kind}-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
