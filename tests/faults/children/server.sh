# server.sh <fault> <ledger> <modern|legacy>: an MCP server in a shell, because it starts in no time, can close its own
# pipes (Deno cannot) and can kill itself. The first tools/call is spoilt by the fault, and the tool "hold" is never answered;
# the ledger says what happened: a line "started <pid>" for each start, "ran" for each execution, "grandchild <pid>" for each
# process that is left behind.
fault=$1
ledger=$2
era=$3
echo "started $$" >> "$ledger"

list='"tools":[{"name":"hold","inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}}]'

answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
leave_grandchild() {
  sleep 60 &
  echo "grandchild $!" >> "$ledger"
}

case $fault in
  banner) printf 'Server version 1.2\nListening on standard input\n' ;;
  exit-at-start) echo "API_KEY is missing" >&2; exit 3 ;;
  stubborn) trap '' TERM; ;;
esac

spoil() {
  case $fault in
    kill) kill -KILL $$ ;;
    exit) echo "out of cheese" >&2; exit 3 ;;
    exit-quietly) exit 0 ;;
    close-output) exec 1>&-; sleep 60; exit ;;
    grandchild) leave_grandchild; exit 0 ;;
    grandchild-kill) leave_grandchild; kill -KILL $$ ;;
    truncated-line) printf '{"jsonrpc":"2.0","id":%s,"result":{"con' "$id"; exit 0 ;;
    silent) return 0 ;;
    deaf) exec sleep 60 ;;
    close-input) exec 0<&-; sleep 60; exit ;;
    bad-json) printf '{"jsonrpc":"2.0","id":%s,"result":{"con\n' "$id"; return 0 ;;
    wrong-id) id='"nobody asked this"'; answer "$result"; return 0 ;;
    noise) printf 'Debug: calling echo\n\nDebug: done\n' ;;
    duplicate-answer) answer "$result" ;;
    result-and-error)
      printf '{"jsonrpc":"2.0","id":%s,"result":%s,"error":{"code":1,"message":"x"}}\n' "$id" "$result"
      return 0 ;;
    endless-line) exec tr '\0' x < /dev/zero ;;
    long-line) head -c 4000000 /dev/zero | tr '\0' x; echo; return 0 ;;
    stderr-flood) head -c 20000000 /dev/zero | tr '\0' e >&2 ;;
    notification-flood)
      yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"again"}}' | head -n 50000 ;;
    stubborn) leave_grandchild; (trap '' TERM; exec sleep 60) & echo "grandchild $!" >> "$ledger" ;;
  esac
  answer "$result"
}

while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[!0-9]*}
  case $line in
    *'"method":"server/discover"'*)
      if [ "$era" = modern ]; then
        answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}'
      else
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"
      fi ;;
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer "{\"resultType\":\"complete\",$list,\"ttlMs\":0,\"cacheScope\":\"private\"}" ;;
    *'"method":"tools/call"'*'"name":"hold"'*) echo ran >> "$ledger" ;;
    *'"method":"tools/call"'*)
      text=${line#*\"text\":\"}
      text=${text%%\"*}
      result='{"resultType":"complete","content":[{"type":"text","text":"'$text'"}]}'
      echo ran >> "$ledger"
      if [ -e "$ledger.done" ]; then answer "$result"; else : > "$ledger.done"; spoil; fi ;;
  esac
done
# Stubborn: the end of its input is nothing to it either.
[ "$fault" = stubborn ] && [ -e "$ledger.done" ] && while :; do sleep 60; done
exit 0
