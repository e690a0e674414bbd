/** Mistakes of the machine: disks, pipes, signals, and a person without a folder. */
import type { Mistake } from "../mistake.ts";

export const machine: readonly Mistake[] = [
  {
    number: 175,
    title: "a disk that is full",
    typed: 'causeway tools "$PEER" > /dev/full',
    code: 1,
    says: "Cannot write the results: the disk is full",
  },
  {
    number: 176,
    title: "a disk that is full, for help",
    typed: "causeway --help > /dev/full",
    code: 1,
    says: "Cannot write the results: the disk is full",
  },
  {
    number: 177,
    title: "a reader that goes away",
    typed: 'causeway call "$PEER" big bytes=5000000 | head -c 5',
    code: 0,
    says: [],
    out: "xxxxx",
  },
  {
    number: 178,
    title: "a reader of lines that goes away",
    typed: 'causeway tools "$PEER" | head -n 1',
    code: 0,
    says: [],
    out: "echo  Echo: Gives back the text\n",
  },
  { number: 179, title: "a standard output that is closed", typed: 'causeway tools "$PEER" >&-', code: 0, says: [] },
  {
    number: 180,
    title: "a folder of one's own that cannot be written",
    typed: 'causeway servers add peer "$PEER"',
    code: 2,
    says:
      'Cannot write "/dev/null/causeway/causeway.json": a part of the path is a file; set CAUSEWAY_HOME to a folder of yours',
    env: { XDG_CONFIG_HOME: "/dev/null" },
  },
  {
    number: 181,
    title: "a folder of one's own that is a file",
    typed: "causeway whoami",
    code: 2,
    says:
      'Cannot use "/dev/null/causeway/auth": a part of the path is a file, expected a folder; set CAUSEWAY_HOME to a folder of yours',
    env: { XDG_CONFIG_HOME: "/dev/null" },
  },
  {
    number: 182,
    title: "tasks where there is no folder of one's own",
    typed: "causeway tasks list",
    code: 2,
    says:
      'Cannot use "/dev/null/causeway/auth": a part of the path is a file, expected a folder; set CAUSEWAY_HOME to a folder of yours',
    env: { XDG_CONFIG_HOME: "/dev/null" },
  },
  {
    number: 183,
    title: "Ctrl-C while it connects",
    typed: "causeway tools \"sh -c 'touch ready; exec sleep 60'\"",
    code: 130,
    says: "interrupted",
    signal: "SIGINT",
  },
  {
    number: 184,
    title: "Ctrl-C in the middle of a call",
    typed:
      "echo \"tee seen | $PEER\" > server.sh; { until grep -q tools/call seen 2>/dev/null; do sleep 0.1; done; touch ready; } & causeway call 'sh server.sh' slow",
    code: 130,
    says: "interrupted",
    signal: "SIGINT",
  },
  {
    number: 185,
    title: "Ctrl-C while it reads what is typed",
    typed:
      'mkfifo pipe; exec 3<>pipe; { head -c 200000 /dev/zero > pipe; touch ready; } & causeway call "$PEER" echo - < pipe',
    code: 130,
    says: "interrupted",
    signal: "SIGINT",
  },
  {
    number: 186,
    title: "an end that the system asks for",
    typed: "causeway tools \"sh -c 'touch ready; exec sleep 60'\"",
    code: 143,
    says: "interrupted",
    signal: "SIGTERM",
  },
  {
    number: 187,
    title: "Ctrl-C at a search",
    typed: "causeway search numbers",
    code: 130,
    says: "interrupted",
    files: { "mcp.json": '{"mcpServers": {"slow": {"command": "sh", "args": ["-c", "touch ready; exec sleep 60"]}}}' },
    signal: "SIGINT",
  },
  {
    number: 188,
    title: "Ctrl-C at a run",
    typed: "causeway run hello",
    code: 130,
    says: "interrupted",
    files: { "mcp.json": '{"mcpServers": {"slow": {"command": "sh", "args": ["-c", "touch ready; exec sleep 60"]}}}' },
    signal: "SIGINT",
  },
  {
    number: 189,
    title: "Ctrl-C at a doctor",
    typed: "causeway doctor",
    code: 130,
    says: "interrupted",
    files: { "mcp.json": '{"mcpServers": {"slow": {"command": "sh", "args": ["-c", "touch ready; exec sleep 60"]}}}' },
    signal: "SIGINT",
  },
  {
    number: 190,
    title: "Ctrl-C at a server that is served",
    typed: "causeway serve",
    code: 130,
    says: "interrupted",
    files: { "mcp.json": '{"mcpServers": {"slow": {"command": "sh", "args": ["-c", "touch ready; exec sleep 60"]}}}' },
    signal: "SIGINT",
  },
  {
    number: 191,
    title: "a number with more digits than can be sent",
    typed: 'causeway call "$PEER" big bytes=9007199254740993',
    code: 2,
    says:
      "Cannot send the number 9007199254740993: it would arrive as 9007199254740992; send it as a text, if the tool takes one",
  },
  {
    number: 192,
    title: "such a number in a file",
    typed: 'causeway call "$PEER" echo @ids.json',
    code: 2,
    says:
      "Cannot send the number 9007199254740993: it would arrive as 9007199254740992; send it as a text, if the tool takes one",
    files: { "ids.json": '{ "text": "9007199254740993 \\" ", "ids": [1, 9007199254740993] }' },
  },
  {
    number: 193,
    title: "a file that is not UTF-8",
    typed: `printf '{"text":"Z\\374rich"}' > latin.json; causeway call "$PEER" echo @latin.json`,
    code: 2,
    says: 'Cannot read the file "latin.json": it is not UTF-8; save it as that',
  },
  {
    number: 194,
    title: "an input that is not UTF-8",
    typed: `printf '{"text":"Z\\374rich"}' | causeway call "$PEER" echo -`,
    code: 2,
    says: "Cannot read the standard input: it is not UTF-8; save it as that",
  },
  {
    number: 195,
    title: "an answer that is too large",
    typed: 'causeway call "$PEER" big bytes=17000000',
    code: 5,
    says:
      '"…": "limits.messageBytes" is 16777216, … was seen: the command takes no more, and the tool may have run; ask for less',
  },
  {
    number: 196,
    title: "a config of VS Code that asks for a key",
    typed: "causeway tools docs --config mcp.json",
    code: 2,
    says: 'mcp.json: servers.docs.env.KEY: the input "key" was not answered: set CAUSEWAY_INPUT_KEY',
    files: {
      "mcp.json":
        '{ "inputs": [{ "id": "key", "type": "promptString" }], "servers": { "docs": { "command": "docs", "env": { "KEY": "${input:key}" } } } }',
    },
  },
  {
    number: 197,
    title: "a project in a folder whose name is not UTF-8",
    typed:
      `mkdir "$(printf 'lat\\374n')"; cd lat*; causeway init agent sub; code=$?; ls -d ../lat* | wc -l; ls -A; exit $code`,
    code: 2,
    says: "The folder that you are in is not there any more, or has a name that is not UTF-8: go to another",
    out: "1\n",
  },
  {
    number: 198,
    title: "a server for such a folder",
    typed: `mkdir "$(printf 'lat\\374n')"; cd lat*; causeway servers add --here peer "$PEER"`,
    code: 2,
    says: "The folder that you are in is not there any more, or has a name that is not UTF-8: go to another",
  },
  {
    number: 199,
    title: "a project for which there is no room: nothing is left of it",
    // Of the first try there would be a folder in the second one's way.
    typed:
      "trap '' XFSZ; ulimit -f 0; causeway init agent here/a/b 2> /dev/null; causeway init agent here; code=$?; ls -A here; exit $code",
    code: 2,
    says: 'Cannot begin in "here": a file may not be so large here; name another folder',
    files: { "here/": "" },
  },
  {
    number: 200,
    title: "a runner whose store can be read and not written",
    typed: "trap '' XFSZ; ulimit -f 0; causeway start --port 0 --store kept",
    code: 2,
    says: 'Cannot use --store "kept": …',
    files: { "kept/": "" },
  },
  {
    number: 201,
    title: "types for which there is no room: nothing is left of them",
    typed:
      "trap '' XFSZ; ulimit -f 0; causeway types \"$PEER\" --output tools.ts; code=$?; ls tools.ts 2>&-; exit $code",
    code: 2,
    says: 'Cannot write "tools.ts": a file may not be so large here',
  },
  {
    number: 202,
    title: "a store of a runner in a folder whose name is not UTF-8",
    typed:
      `mkdir "$(printf 'lat\\374n')"; cd lat*; causeway start --port 0 --store kept; code=$?; ls -d ../lat* | wc -l; ls -A; exit $code`,
    code: 2,
    says: "The folder that you are in is not there any more, or has a name that is not UTF-8: go to another",
    out: "1\n",
  },
  {
    number: 203,
    title: "a name by which the server is not reached",
    typed: "causeway tools $HTTP/host",
    code: 3,
    says:
      '"$HTTP/host" answered 403: …This Host is not in allowedHosts…: use a name or an address that the server knows, or let those who run it allow this one',
  },
  {
    number: 204,
    title: "the same of a server in Python",
    typed: "causeway tools $HTTP/other-host",
    code: 4,
    says:
      '"$HTTP/other-host" answered 421: Invalid Host header: use a name or an address that the server knows, or let those who run it allow this one',
  },
];
