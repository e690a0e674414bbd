/**
 * What a server may say where an address of a page is expected: for what opens pages, and for what makes addresses of them.
 *
 * @module
 */
const schemes = [
  "file",
  "javascript",
  "data",
  "vbscript",
  "ms-msdt",
  "search-ms",
  "smb",
  "ftp",
  "ws",
  "about",
  "blob",
  "a",
];
const payloads = [
  ...[
    "$(calc)",
    "`calc`",
    '" & calc',
    "' ; calc '",
    "| calc",
    "& calc &",
    "%0d%0acalc",
    "%22%20%26%20calc",
    "^& calc",
    "\\calc",
  ],
  ...[
    "\r\ncalc",
    "\ncalc",
    "\tcalc",
    "\u0000calc",
    "\u001b]8;;x\u0007",
    "\u0085calc",
    "\u2028calc",
    "\u202ecalc",
    "<calc>",
    "--calc",
  ],
  ...[
    "%COMSPEC%",
    "%SystemRoot%\\calc.exe",
    "$HOME",
    "${IFS}calc",
    "~/calc",
    "a b",
    "../../calc",
    "é",
    "💥",
    "%",
    "%zz",
  ],
];
/** Those that are no address of a page anywhere. */
export const others: readonly string[] = [
  ...[
    "--flag",
    "-n",
    "--new-window=https://x.example",
    " -e",
    "-https://as.example",
    "",
    " ",
    "calc",
    "calc.exe",
    "/bin/sh",
  ],
  ...["\\\\evil.example\\share\\calc.exe", "//evil.example/share", "C:\\Windows\\calc.exe", "C:/Windows/calc.exe"],
  ...[
    "https:",
    "https://",
    "https:///",
    "http://x/",
    "http://10.0.0.1/",
    "http://localhost.evil.example/",
    "http://127.0.0.1.evil.example/",
  ],
  ...[
    "https://user@as.example/",
    "https://user:pass@as.example/",
    "https://:@as.example/",
    "https://as.example:99999/",
  ],
  ...[
    " https://as.example/",
    "https://as.example/ ",
    "\thttps://as.example/",
    "java\nscript:alert(1)",
    "https:\\\\as.example\\",
  ],
  ...["https://as.example\\@evil.example/", "https://as.example/\u0000", "https://[::1", "https://a b.example/"],
];
/** All of them: about 500. Some are harmless in their place. */
export const hostile: readonly string[] = [
  ...others,
  ...schemes.flatMap((scheme) => [`${scheme}:`, ...payloads.slice(0, 10).map((payload) => `${scheme}:${payload}?`)]),
  ...payloads.flatMap((payload) => [
    payload,
    `http://x${payload}`,
    `http://x/${payload}`,
    `https://as.example${payload}`,
    `https://as.example/${payload}`,
    `https://as.example/?a=${payload}`,
    `https://as.example/#${payload}`,
    `http://127.0.0.1:8080/${payload}`,
    `https://${payload}.example/`,
    `https://${payload}@as.example/`,
    `--url=https://as.example/${payload}`,
  ]),
];
