# mute.sh <output|input>: closes its standard output or input, and lives on.
# A shell, because Deno keeps copies of its standard streams and cannot close them.
if [ "$1" = output ]; then
  echo "no API key" >&2
  exec 1>&-
else
  exec 0<&-
  echo '{"ready":true}'
fi
exec sleep 120
