/** What stands in a config, and the line that is said about it. */
export type Case = readonly [given: unknown, line: string];

/** Texts that are no JSON. */
export const noJson: readonly Case[] = [
  [String.raw``, "mcp.json:1:1: there is nothing in it: expected an object"],
  [String.raw`{ "mcpServers": { "s": { "command": "x" } }`, 'mcp.json:1:44: found the end: expected "," or "}"'],
  [String.raw`{ mcpServers: {} }`, 'mcp.json:1:3: found "m": expected a name in double quotes, or "}"'],
  [String.raw`{ 'mcpServers': {} }`, 'mcp.json:1:3: found "\'": expected a name in double quotes, or "}"'],
  [
    '{\n  "mcpServers": {\n    "s": { "command": "x" "args": [] }\n  }\n}',
    'mcp.json:3:27: found "\\"": expected "," or "}"',
  ],
  [
    String.raw`{ "mcpServers": { "s": { "command": "x", "args": ["a" "b"] } } }`,
    'mcp.json:1:55: found "\\"": expected "," or "]"',
  ],
  [
    String.raw`{ "mcpServers": { "s": { "command": "C:\Users" } } }`,
    "mcp.json:1:40: this backslash begins nothing that JSON knows: expected \\\\ for the backslash itself",
  ],
  [
    '{ "mcpServers": { "s": { "command": "x\n" } } }',
    "mcp.json:1:37: this text is not closed on its line: expected a double quote, or \\n for a line break",
  ],
  [
    String.raw`{ "mcpServers": { "s": { "command": "x } } }`,
    "mcp.json:1:37: this text is not closed: expected a double quote at its end",
  ],
  [
    String.raw`{ "mcpServers": { "s": { "disabled": True } } }`,
    'mcp.json:1:38: found "T": expected a text in double quotes, a number, true, false, null, "{" or "["',
  ],
  [String.raw`{ "mcpServers": {} } }`, 'mcp.json:1:22: found "}": expected nothing more'],
  [String.raw`{ "mcpServers": {} /* the end`, "mcp.json:1:20: this comment is not closed: expected */"],
  [`{ "mcpServers": ${"[".repeat(100)}`, "mcp.json:1:116: it nests deeper than 100: make it flatter"],
  [
    '[mcp_servers.s]\ncommand = "x"',
    'mcp.json:1:2: it is TOML, as Codex keeps it, expected JSON: { "mcpServers": { "<name>": { … } } } with the same servers',
  ],
  [
    '# mine\n\nmodel = "gpt-5.1"\n\n[mcp_servers."s"]\ncommand = "x"',
    'mcp.json:1:1: it is TOML, as Codex keeps it, expected JSON: { "mcpServers": { "<name>": { … } } } with the same servers',
  ],
  // A banner of YAML: looked at once, however it could be taken apart.
  [
    `${"#".repeat(80)}\nmcpServers:\n`,
    'mcp.json:1:1: found "#": expected a text in double quotes, a number, true, false, null, "{" or "["',
  ],
  [
    '[projects."/home/ada/my app"]\ntrust_level = "trusted"',
    'mcp.json:1:2: it is TOML, as Codex keeps it, expected JSON: { "mcpServers": { "<name>": { … } } } with the same servers',
  ],
  [
    `${"#".repeat(80)}\n\nservers:\n  - x`,
    'mcp.json:1:1: found "#": expected a text in double quotes, a number, true, false, null, "{" or "["',
  ],
  [
    String.raw`<mcpServers/>`,
    'mcp.json:1:1: found "<": expected a text in double quotes, a number, true, false, null, "{" or "["',
  ],
];
/** Texts that hold no servers, or names that cannot be used. */
export const noShape: readonly Case[] = [
  [String.raw`[]`, 'mcp.json: expected { "mcpServers": { "<name>": { … } } }, found a list'],
  [String.raw`"x"`, 'mcp.json: expected { "mcpServers": { "<name>": { … } } }, found a text'],
  [
    String.raw`{ "mcpservers": { "s": { "command": "x" } } }`,
    'mcp.json: it has no servers (did you mean "mcpServers" where it says "mcpservers"?): expected { "mcpServers": { "<name>": { … } } }',
  ],
  [
    String.raw`{ "s": { "command": "x" } }`,
    'mcp.json: it has no servers: expected { "mcpServers": { "<name>": { … } } }',
  ],
  [
    String.raw`{ "mcpServers": null }`,
    'mcp.json: it has no servers: expected { "mcpServers": { "<name>": { … } } }',
  ],
  [
    String.raw`{ "mcpServers": [{ "command": "x" }] }`,
    'mcp.json: mcpServers: expected { "<name>": { … } }, found a list',
  ],
  [String.raw`{ "mcpServers": null, "servers": "x" }`, 'mcp.json: servers: expected { "<name>": { … } }, found a text'],
  [
    String.raw`{ "mcpServers": { "s": { "command": "x" }, "s": { "command": "y" } } }`,
    "mcp.json:1:44: mcpServers.s: it stands twice: take one out or rename it",
  ],
  [
    String.raw`{ "mcpServers": { "GitHub": { "command": "x" }, "github": { "command": "y" } } }`,
    'mcp.json: mcpServers.github: it differs from "GitHub" in case only: give it another name',
  ],
  [
    String.raw`{ "mcpServers": { "": { "command": "x" } } }`,
    'mcp.json: mcpServers[""]: the name is empty: give the server a name',
  ],
  [
    String.raw`{ "mcpServers": { "__proto__": { "command": "x" } } }`,
    "mcp.json: mcpServers.__proto__: JavaScript uses this name itself: give the server another one",
  ],
  [
    String.raw`{ "mcpServers": { "a\u202eb": { "command": "x" } } }`,
    'mcp.json: mcpServers["a b"]: the name holds characters that it may not: expected letters, digits, dashes, dots and spaces inside',
  ],
  [
    `{ "mcpServers": { "${"n".repeat(129)}": { "command": "x" } } }`,
    'mcp.json: mcpServers["nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…"]: the name has 129 characters: expected 128 at most',
  ],
];
/** Files whose inputs are wrong. */
export const noInput: readonly Case[] = [
  [
    { servers: { s: { command: "x" } }, inputs: {} },
    'mcp.json: inputs: expected a list of { "id": …, "type": … }, found an object',
  ],
  [
    { servers: { s: { command: "x" } }, inputs: [{ id: "a b", type: "promptString" }] },
    "mcp.json: inputs[0].id: this is no id: expected letters, digits, dashes, dots and underscores",
  ],
  [
    { servers: { s: { command: "x" } }, inputs: [{ id: "a", type: "promptstring" }] },
    'mcp.json: inputs[0].type: "promptstring" is no type of input (did you mean "promptString"?): expected "promptString", "pickString" or "command"',
  ],
  [
    { servers: { s: { command: "x" } }, inputs: [{ id: "a", type: "pickString" }] },
    'mcp.json: inputs[0].options: expected a list of texts, or of { "label": …, "value": … }',
  ],
  [
    { servers: { s: { command: "x", env: { A: "${input:tokn}" } } }, inputs: [{ id: "token", type: "promptString" }] },
    'mcp.json: servers.s.env.A: there is no input "tokn" (did you mean "token"?): define it in "inputs", or give its value',
  ],
  [
    { servers: { s: { command: "x", env: { A: "${input:token}" } } }, inputs: [{ id: "token", type: "promptString" }] },
    'mcp.json: servers.s.env.A: the input "token" was not answered: give its value',
  ],
  [{
    servers: { s: { command: "x", env: { A: "${input:color}" } } },
    inputs: [{ id: "color", type: "pickString", options: ["red", "blue"] }],
  }, 'mcp.json: servers.s.env.A: the answer to the input "color" is no choice: expected one of "red", "blue"'],
];
/** What stands for one server, and what follows `mcp.json: mcpServers.s`. */
export const noServer: readonly Case[] = [
  ["npx server", ': expected { "command": … } or { "url": … }, found a text'],
  [["npx"], ': expected { "command": … } or { "url": … }, found a list'],
  [{}, ': it has neither a "command" nor a "url": write one of them'],
  [
    { comand: "x" },
    ': it has neither a "command" nor a "url" (did you mean "command" where it says "comand"?): write one of them',
  ],
  [
    { uri: "https://x" },
    ': it has neither a "command" nor a "url" (did you mean "url" where it says "uri"?): write one of them',
  ],
  [{ command: "" }, ".command: it is empty: expected a text"],
  [{ command: 5 }, ".command: expected a text, found a number: write it in double quotes"],
  [{ command: "x", url: "https://example.com/mcp" }, '.url: it stands beside "command": keep one of the two'],
  [{ command: "x", args: "a b" }, '.args: expected a list of texts, found a text: write it in brackets, as in ["…"]'],
  [{ command: "x", args: ["a", 5] }, ".args[1]: expected a text, found a number: write it in double quotes"],
  [{ command: "x", args: ["a\0b"] }, ".args[0]: it holds a NUL character: take it out"],
  [{ command: "x", env: ["A=1"] }, '.env: expected { "NAME": "value" }, found a list'],
  [{ command: "x", env: { PORT: 8080 } }, ".env.PORT: expected a text, found a number: write it in double quotes"],
  [{ command: "x", env: { "A=B": "1" } }, '.env["A=B"]: this is no name of a variable: expected one without "="'],
  [
    { command: "x", env: { TOKEN: "${TOKEN}" } },
    '.env.TOKEN: the environment variable "TOKEN" is not set (did you mean "TOKN"?): set it, or write "${TOKEN:-default}"',
  ],
  [
    { command: "x", env: { TOKEN: "${input:token}" } },
    '.env.TOKEN: there is no input "token": define it in "inputs", or give its value',
  ],
  [
    { command: "x", args: ["${file:/etc/passwd}"] },
    '.args[0]: "${file…}" is no variable that is known here: expected "${NAME}", "${env:NAME}" or "${input:id}"',
  ],
  [
    { command: "x", args: ["${TOKEN"] },
    '.args[0]: a "${" is not closed: write "}" after the name, or "$${" for the characters',
  ],
  [
    { command: "x", args: ["${TOKEN:secret}"] },
    '.args[0]: "${TOKEN…}" cannot be read: a default is written "${TOKEN:-default}"',
  ],
  [{ command: "x", args: ["${A:-${B}}"] }, '.args[0]: a default holds a "$": expected plain text between ":-" and "}"'],
  [{ command: "x", cwd: "" }, ".cwd: it is empty: expected a text"],
  [
    { command: "x", cwd: "${workspaceFolder}/sub" },
    '.cwd: "${workspaceFolder}" is not known here: write the path itself',
  ],
  [
    { type: "stdio", url: "https://example.com/mcp" },
    ': "command" is missing: a server of type "stdio" is started by one; for a "url" the type is "http"',
  ],
  [{ type: "http", command: "x" }, '.type: it does not fit to "command": expected "stdio"'],
  [{ type: "http" }, ': "url" is missing: a server of this type is at a URL'],
  [
    { type: "htpp", url: "https://example.com/mcp" },
    '.type: "htpp" is no type of server (did you mean "http"?): expected "stdio", "http", "sse" or "ws"',
  ],
  [{ type: 1, url: "https://example.com/mcp" }, '.type: expected "stdio", "http", "sse" or "ws", found a number'],
  [
    { type: "ws", url: "https://example.com/mcp" },
    '.url: "https://example.com/mcp" is no URL that can be connected to: expected wss: or ws: for its type',
  ],
  [{ url: "htp://x" }, '.url: "htp://x" is no URL that can be connected to: expected https:, http:, wss: or ws:'],
  [{ url: "example.com/mcp" }, '.url: "example.com/mcp" has no scheme: write "https://example.com/mcp"'],
  [
    { url: "localhost:3000/mcp?token=geheim" },
    '.url: "localhost:3000/mcp" has no scheme: write "http://localhost:3000/mcp"',
  ],
  [
    { url: "https://ada:geheim@example.com/mcp?key=geheim" },
    '.url: "https://example.com/mcp" carries a user name or a password: send them in "headers" instead',
  ],
  [
    { url: "https://example.com/m cp" },
    '.url: "https://example.com/m cp" holds white space or control characters: take them out',
  ],
  [
    { url: "file:///etc/passwd" },
    '.url: "file:///etc/passwd" is no URL that can be connected to: expected https:, http:, wss: or ws:',
  ],
  [{ url: "https://" }, '.url: "https://" is no URL that can be connected to: expected https:, http:, wss: or ws:'],
  [
    { url: "https://${HOST}/mcp" },
    '.url: the environment variable "HOST" is not set: set it, or write "${HOST:-default}"',
  ],
  [
    { url: "https://example.com", serverUrl: "https://example.org" },
    '.url: it stands beside "serverUrl": keep one of the two',
  ],
  [
    { url: "https://example.com", headers: "Authorization: Bearer geheim" },
    '.headers: expected { "NAME": "value" }, found a text',
  ],
  [
    { url: "https://example.com", headers: { "X Key": "geheim" } },
    '.headers["X Key"]: this is no name of a header: expected letters, digits and dashes',
  ],
  [
    { url: "https://example.com", headers: { "X-Key": "geheim\n" } },
    ".headers.X-Key: its value holds characters that cannot be sent: expected visible ones of Latin-1, spaces and tabs",
  ],
  [
    { url: "https://example.com", headers: { "X-Key": "1", "x-key": "2" } },
    '.headers.x-key: it is the same header as "X-Key": keep one of the two',
  ],
  [
    { url: "https://example.com", headers: { Authorization: "Bearer ${TOKEN}" } },
    '.headers.Authorization: the environment variable "TOKEN" is not set (did you mean "TOKN"?): set it, or write "${TOKEN:-default}"',
  ],
  [
    { command: "x", timeout: "30s" },
    ".timeout: expected milliseconds from 1 to 2147483647, without quotes, found a text",
  ],
  [{ command: "x", timeout: -5 }, ".timeout: -5 cannot be used: expected milliseconds from 1 to 2147483647"],
  [{ command: "x", timeout: NaN }, ".timeout: NaN cannot be used: expected milliseconds from 1 to 2147483647"],
  [{ command: "x", maxRetries: 1.5 }, ".maxRetries: 1.5 is no whole number: expected a whole number from 0 to 1000"],
  [{ command: "x", retryDelay: -1 }, ".retryDelay: -1 cannot be used: expected milliseconds from 0 to 2147483647"],
  [{ command: "x", concurrency: 0 }, ".concurrency: 0 cannot be used: expected a whole number from 1 to 10000"],
  [{ command: "x", disabled: "true" }, ".disabled: expected true or false, found a text: take the quotes away"],
  [{ command: "x", tools: "echo" }, '.tools: expected a list of names, or { "allow": […], "deny": […] }, found a text'],
  [
    { command: "x", tools: { allow: "echo" } },
    '.tools.allow: expected a list of texts, found a text: write it in brackets, as in ["…"]',
  ],
  [{ command: "x", includeTools: ["echo", ""] }, ".includeTools[1]: expected a text, found an empty text"],
  [{ command: "x", autoApprove: true }, ".autoApprove: expected a list of texts, found true"],
  [
    { command: "x", era: "2025" },
    '.era: expected "legacy" (up to 2025-11-25), found "2025": leave it out for all others',
  ],
  [{ command: "x", idempotent: true }, ".idempotent: expected a list of texts, found true"],
  [{ command: "x", pins: { echo: "abc" } }, ".pins.echo: this is no SHA-256: expected 64 hexadecimal digits"],
  [
    { url: "https://example.com", auth: { type: "basic" } },
    '.auth.type: "basic" is no way to sign in: expected "bearer", "oauth", "client_credentials" or "none"',
  ],
  [
    { url: "https://example.com", auth: { type: "bearer", token: "Bearer geheim" } },
    '.auth.token: it cannot be sent: expected visible ASCII without spaces, and without "Bearer"',
  ],
  [
    { url: "https://example.com", auth: { type: "bearer", token: "geheim" }, headers: { authorization: "x" } },
    '.auth: it stands beside the header "Authorization": keep one of the two',
  ],
  [
    { url: "https://example.com", oauth: { clientId: 5 } },
    ".oauth.clientId: expected a text, found a number: write it in double quotes",
  ],
  [
    { url: "https://example.com", oauth: { callbackPort: 99999 } },
    ".oauth.callbackPort: this is no port: expected a whole number from 1 to 65535",
  ],
  [
    { url: "https://example.com", oauth: { issuer: "example" } },
    ".oauth.issuer: this is no URL: expected one like https://example.com/",
  ],
  [
    { url: "https://example.com", oauth: { metadataUrl: "metadata.json" } },
    ".oauth.metadataUrl: this is no URL: expected one like https://example.com/",
  ],
  [
    { url: "https://example.com", oauth: { authServerMetadataUrl: 5 } },
    ".oauth.authServerMetadataUrl: expected a text, found a number: write it in double quotes",
  ],
  [
    { url: "https://example.com", oauth: { issuer: "https://as.example", metadata: ["S256"] } },
    '.oauth.metadata: expected fields of RFC 8414 without "issuer", as in { "code_challenge_methods_supported": ["S256"] }',
  ],
  [
    { url: "https://example.com", oauth: { issuer: "https://as.example", metadata: { issuer: "https://as.example" } } },
    '.oauth.metadata: expected fields of RFC 8414 without "issuer", as in { "code_challenge_methods_supported": ["S256"] }',
  ],
  [
    { url: "https://example.com", oauth: { issuer: "https://as.example", metadata: { jwks: {} } } },
    '.oauth.metadata: expected fields of RFC 8414 without "issuer", as in { "code_challenge_methods_supported": ["S256"] }',
  ],
  [
    { url: "https://example.com", oauth: { resource: "" } },
    ".oauth.issuer: it is missing: expected the authorization server that this is about",
  ],
  [
    { url: "https://example.com", oauth: { issuer: "https://as.example", resource: false } },
    ".oauth.resource: expected a text, found false: write it in double quotes",
  ],
  [{ source: "extension", settings: {} }, ": an extension of Zed brings it along: it cannot be used from here"],
];
/** What can be used all the same. */
export const warned: readonly Case[] = [
  [
    { mcpServers: { s: { command: "x", disabled: false, enabled: false } } },
    'mcp.json: mcpServers.s.enabled: it is false, and so is "disabled": keep one of the two',
  ],
  [
    { mcpServers: { s: { command: "x", comand: "y" } } },
    'mcp.json: mcpServers.s.comand: unknown field (did you mean "command"?): correct its name or take it out',
  ],
  [
    { mcpServers: { s: { command: "x", workingDirectory: "/" } } },
    'mcp.json: mcpServers.s.workingDirectory: unknown field (did you mean "cwd"?): correct its name or take it out',
  ],
  [
    { mcpServers: { s: { url: "https://example.com", headers: { Accept: "*/*" } } } },
    "mcp.json: mcpServers.s.headers.Accept: the protocol writes this header itself, so it is left out: take it out",
  ],
  [
    { mcpServers: { s: { command: "x", whatever: 1 } } },
    "mcp.json: mcpServers.s.whatever: unknown field: correct its name or take it out",
  ],
  [
    { mcpServers: { s: { command: "npx -y server" } } },
    'mcp.json: mcpServers.s.command: it holds spaces, and no shell splits it: put what follows the program into "args"',
  ],
  [
    { mcpServers: { s: { command: "x", headers: {} } } },
    'mcp.json: mcpServers.s.headers: a program is sent no headers: use "env"',
  ],
  [
    { mcpServers: { s: { command: "x", envFile: ".env" } } },
    'mcp.json: mcpServers.s.envFile: it is not heeded here: put its variables into "env", or set them before',
  ],
  [
    { mcpServers: { s: { command: "x", timeout: 60 } } },
    "mcp.json: mcpServers.s.timeout: 60 is taken for seconds: milliseconds would be 60000",
  ],
  [
    { mcpServers: { s: { command: "x", env: { TOKEN: "$TOKEN" } } } },
    'mcp.json: mcpServers.s.env.TOKEN: "$TOKEN" stays as it is: write "${TOKEN}" for the variable',
  ],
  [
    { mcpServers: { s: { command: "x", tools: { alow: [] } } } },
    'mcp.json: mcpServers.s.tools.alow: unknown field (did you mean "allow"?): expected "allow" or "deny"',
  ],
  [
    { mcpServers: { s: { url: "http://example.com/mcp" } } },
    'mcp.json: mcpServers.s.url: "http://example.com/mcp" is reached without encryption: use https: if it can',
  ],
  [
    { mcpServers: { s: { url: "ws://10.0.0.1/mcp?x=geheim" } } },
    'mcp.json: mcpServers.s.url: "ws://10.0.0.1/mcp" is reached without encryption: use wss: if it can',
  ],
  [
    { mcpServers: { s: { url: "https://example.com", args: [] } } },
    "mcp.json: mcpServers.s.args: a server at a URL is not started: take it out",
  ],
  [
    String.raw`{ "mcpServers": { "s": { "command": "x", "command": "y" } } }`,
    "mcp.json:1:42: mcpServers.s.command: it stands twice: the last one counts, take the other out",
  ],
  [
    { mcpServers: { s: { command: "x" } }, servers: {} },
    'mcp.json: servers: it stands beside "mcpServers", which counts: keep one of the two',
  ],
];
