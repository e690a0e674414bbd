/**
 * What a config says, once it is read: servers, what has to be asked for, and what is wrong.
 *
 * @module
 */
import type { ConfiguredProgram } from "../../auth/grants/configured.ts";
import type { KnownServer } from "../../auth/discovery/known_servers.ts";
import type { LocalServer, RemoteServer } from "../seam.ts";

/** The systems between which paths differ. */
export type Platform = "mac" | "linux" | "windows";

/** What a config knows of an authorization server beside its issuer: `knownServers` takes it. */
export type ConfiguredServer = Pick<KnownServer, "metadata" | "metadataUrl" | "resource">;

/** How a config wants one to sign in. Its texts are filled in already; the secret is among `secrets`. */
export type SignIn =
  | { readonly type: "none" }
  | ConfiguredServer & {
    /** By OAuth, with what the config says of it; nothing of it is needed. */
    readonly type: "oauth";
    /** The client that the authorization server knows. */
    readonly clientId?: string | undefined;
    /** Its secret. */
    readonly clientSecret?: string | undefined;
    /** What to ask for. */
    readonly scopes?: readonly string[] | undefined;
    /** The authorization server that knows the client. */
    readonly issuer?: string | undefined;
    /** Where the browser comes back to. */
    readonly redirectUri?: string | undefined;
    /** The port on this machine that the browser comes back to. */
    readonly callbackPort?: number | undefined;
    /** The URL of the document that names the client. */
    readonly clientMetadataUrl?: string | undefined;
  }
  | ConfiguredServer & ConfiguredProgram & {
    /** As a program of its own, where nobody signs in (RFC 6749, section 4.4). */
    readonly type: "client_credentials";
    /** What to ask for. */
    readonly scopes?: readonly string[] | undefined;
  };

/** What a config says of a server beside what connects to it: `withConfig` and `authForConfig` make something of it. */
export interface ServerNotes {
  /** Tools that need no approval, by their names at the server; true: none needs it. */
  readonly approved?: true | readonly string[] | undefined;
  /** Tools that may be called again when it is not known whether they ran. */
  readonly idempotent?: readonly string[] | undefined;
  /** The SHA-256 of the definition of each tool that may be used, by the tool's name: `digest` of a report of `withPins`. */
  readonly pins?: Readonly<Record<string, string>> | undefined;
  /** How to sign in, where the config says it. */
  readonly signIn?: SignIn | undefined;
  /** Texts that must not be shown: what came out of variables and inputs, and credentials that stand in the config. */
  readonly secrets: readonly string[];
}

/** One server of a config, checked and filled in: a hub takes it as it is. */
export type ReadServer = (RemoteServer & { readonly url: string } | LocalServer) & ServerNotes;

/** Something that a person is asked for: VS Code's `inputs`. */
export interface InputDefinition {
  /** Its name in `${input:id}`. */
  readonly id: string;
  /** A text, one of a list, or what a command of the editor gives. */
  readonly type: "promptString" | "pickString" | "command";
  /** What a person is shown. */
  readonly description?: string | undefined;
  /** Whether it is hidden while it is typed. */
  readonly password: boolean;
  /** What it is when nobody answers. */
  readonly default?: string | undefined;
  /** `pickString`: what can be chosen. */
  readonly options?: readonly string[] | undefined;
  /** `command`: what gives the value. It is never run here. */
  readonly command?: string | undefined;
}

/** What kind of thing is wrong. */
export type ConfigProblemCode =
  | "json"
  | "shape"
  | "name"
  | "value"
  | "variable"
  | "unknown-field"
  | "unsupported"
  | "plain-text"
  | "unreadable"
  | "more";

/** One thing that is wrong with a config. An error leaves out what it is about: the file, or one server. */
export interface ConfigProblem {
  /** Whether something was left out for it. */
  readonly severity: "error" | "warning";
  /** What kind of thing it is. */
  readonly code: ConfigProblemCode;
  /** The file, as it was given. */
  readonly source: string;
  /** The name of the server, where it is about one. */
  readonly server?: string | undefined;
  /** The field of the server: `env.TOKEN`. */
  readonly field?: string | undefined;
  /** Where the text cannot be read; both count from 1. */
  readonly line?: number | undefined;
  /** The column; see `line`. */
  readonly column?: number | undefined;
  /** All of it in one line, without values that may be secret. */
  readonly message: string;
}

/** What a config says. */
export interface ReadConfig {
  /** The servers that can be used, by their names, in the order of the config: the `mcpServers` of a hub. */
  readonly servers: Readonly<Record<string, ReadServer>>;
  /** The names of all servers, also of those that cannot be used. */
  readonly names: readonly string[];
  /** What its servers ask for. */
  readonly inputs: readonly InputDefinition[];
  /** What is wrong with it. */
  readonly problems: readonly ConfigProblem[];
}

/** What reading a config needs to know. */
export interface ReadOptions {
  /** What problems call the file ("config"). */
  readonly source?: string | undefined;
  /** The variables that may be named. An empty one counts as missing. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What was answered to `inputs`, by their ids. */
  readonly inputs?: Readonly<Record<string, string | undefined>> | undefined;
  /** On Windows names of variables have no case, and paths have backslashes ("linux"). */
  readonly platform?: Platform | undefined;
  /** `${userHome}`; `HOME` or `USERPROFILE` without it. */
  readonly home?: string | undefined;
  /** `${workspaceFolder}`, and what a relative `cwd` is relative to. */
  readonly folder?: string | undefined;
  /** Reads this server alone; problems of the others are not looked for. */
  readonly only?: string | undefined;
}
