#!/bin/sh
# Makes the data directory of the upgrade test with the build of an earlier commit: make.sh FOLDER_OF_ITS_CHECKOUT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$1/dist/services/cli/main.js
[ -e "$program" ] || program=$1/dist/loadtest/cli/main.js
windjammer="node $program"
rm -rf "$here/data"
key=$($windjammer key add ops --scope admin --data-dir "$here/data" 2>/dev/null)
$windjammer serve --port 0 --management-port 0 --no-defaults --require-keys --data-dir "$here/data" > "$here/out" &
server=$!
until grep -q Ctrl-C "$here/out"; do sleep 0.1; done
query=$(sed -n 's/.*serves on \([^,]*\),.*/\1/p' "$here/out")
management=$(sed -n 's/.*management on \([^,]*\),.*/\1/p' "$here/out")
node "$here/teach.mjs" "$query" "$management" "$key" > "$here/said.json"
kill -TERM $server
wait $server
rm -rf "$here/out" "$here/data/jobs" "$here/data/store-lock" "$here/data/store/lock.mdb"
