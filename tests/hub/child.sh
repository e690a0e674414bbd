# child.sh <ledger> <modern|legacy> [exit]: an MCP server in a shell, since that starts in no time. The tool "hold" is never
# answered, "echo" is. The ledger gets a line for each start, with the pid, and one for each call.
ledger=$1
era=$2
echo "started $$" >> "$ledger"
[ "$3" = exit ] && { echo "API_KEY is missing" >&2; exit 3; }

answer() { printf '{"jsonrpc":"2.0","id":"%s","result":%s}\n' "$id" "$1"; }
list='"tools":[{"name":"hold","inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}}]'

while IFS= read -r line; do
  id=${line#*\"id\":\"}
  id=${id%%\"*}
  case $line in
    *'"method":"server/discover"'*)
      if [ "$era" = modern ]; then
        answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}'
      else
        printf '{"jsonrpc":"2.0","id":"%s","error":{"code":-32601,"message":"Method not found"}}\n' "$id"
      fi ;;
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer "{\"resultType\":\"complete\",$list,\"ttlMs\":0,\"cacheScope\":\"private\"}" ;;
    *'"method":"tools/call"'*)
      echo ran >> "$ledger"
      case $line in
        *'"name":"echo"'*)
          text=${line#*\"text\":\"}
          answer '{"resultType":"complete","content":[{"type":"text","text":"'"${text%%\"*}"'"}]}' ;;
      esac ;;
  esac
done
