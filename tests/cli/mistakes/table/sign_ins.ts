/** Mistakes with sign-ins and credentials. */
import type { Mistake } from "../mistake.ts";

export const signIns: readonly Mistake[] = [
  {
    number: 104,
    title: "no sign-in",
    typed: "causeway tools $HTTP/401",
    code: 3,
    says: "Sign in first: causeway login $HTTP/401, or send credentials with --header 'Authorization: Bearer …'",
  },
  {
    number: 105,
    title: "a token that has expired",
    typed: "causeway tools $HTTP/expired --header 'Authorization: Bearer t0p-s3cret'",
    code: 3,
    says:
      '"$HTTP/expired" answered 401: these credentials are wrong or have expired; renew those of --header, or of the config',
  },
  {
    number: 106,
    title: "a token that does not allow it",
    typed: "causeway tools $HTTP/403 --header 'Authorization: Bearer t0p-s3cret'",
    code: 3,
    says: '"$HTTP/403" answered 403: check that the credentials allow it',
  },
  {
    number: 107,
    title: "a sign-in where there is none",
    typed: "causeway login $HTTP/page",
    code: 3,
    says:
      "Cannot sign in to \"$HTTP/page\": it has no resource metadata (RFC 9728); try --legacy where it is of 2025-03-26; where it wants a token, send it with --header 'Authorization: Bearer …' to the other commands",
  },
  {
    number: 108,
    title: "a sign-in to a program",
    typed: "causeway login npx",
    code: 2,
    says: 'Cannot sign in to the program "npx": only servers at a URL have sign-ins…',
  },
  {
    number: 109,
    title: "a secret on the command line",
    typed: "causeway login $HTTP/401 --client-secret t0p-s3cret",
    code: 2,
    says: "Cannot take a secret from the command line: use --client-secret-file or the variable CAUSEWAY_CLIENT_SECRET",
  },
  {
    number: 110,
    title: "a port for the browser that is taken",
    typed: "causeway login $HTTP/401 --no-open --port $PORT",
    code: 2,
    says: "Cannot listen on port $PORT of 127.0.0.1: …; choose another with --port",
  },
  {
    number: 111,
    title: "who one is where one is nobody",
    typed: "causeway whoami $HTTP/401",
    code: 3,
    says: 'Not signed in to "$HTTP/401": causeway login $HTTP/401',
  },
  {
    number: 112,
    title: "a sign-out from nowhere",
    typed: "causeway logout",
    code: 2,
    says: "The target is missing: write causeway logout <target>",
  },
  {
    number: 113,
    title: "a list of sign-ins that is damaged",
    typed: "causeway whoami",
    code: 2,
    says:
      'Cannot read "$FOLDER/store/auth/07e1dc0369af1013ac1b380a0c01069566e82e390aaee913f1af759261e29b7b": it is no file of this store, or damaged; remove it, and sign in again',
    env: { CAUSEWAY_HOME: "store" },
    files: {
      "store/auth/": "",
      "store/auth/07e1dc0369af1013ac1b380a0c01069566e82e390aaee913f1af759261e29b7b": "garbage",
    },
  },
  {
    number: 114,
    title: "a damaged list, where no sign-in is needed",
    typed: "causeway tools $HTTP/401",
    code: 3,
    says: [
      'no sign-in is used: Cannot read "$FOLDER/store/auth/07e1dc0369af1013ac1b380a0c01069566e82e390aaee913f1af759261e29b7b": it is no file of this store, or damaged; remove it, and sign in again',
      "Sign in first: causeway login $HTTP/401, or send credentials with --header 'Authorization: Bearer …'",
    ],
    env: { CAUSEWAY_HOME: "store" },
    files: {
      "store/auth/": "",
      "store/auth/07e1dc0369af1013ac1b380a0c01069566e82e390aaee913f1af759261e29b7b": "garbage",
    },
  },
];
