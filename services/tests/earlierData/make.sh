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
node --input-type=module - "$query" "$management" "$key" > "$here/said.json" << 'END'
/** Registers, links and teaches over HTTP as it was then, and prints what the server says afterwards. */
const [query, management, key] = process.argv.slice(2);

async function post(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${text}`);
  return text.startsWith('Success') ? text : JSON.parse(text);
}
const admin = (verb, body) => post(`${management}/admin/${verb}`, body);

await admin('add_app', {
  name: 'app',
  input_type: 'doubles',
  default_output: 'none',
  latency_slo_micros: 2_000_000,
  policy: { name: 'exp3', parameters: {} },
  max_in_flight: 100,
});
for (const output of ['1', '2']) {
  await admin('add_model', {
    model_name: `m${output}`,
    model_version: '1',
    input_type: 'doubles',
    container_name: 'windjammer/constant',
    output,
  });
}
await admin('add_model_links', { app_name: 'app', model_names: ['m1', 'm2'] });
for (let at = 0; at < 60; at++) {
  const uid = at % 3 === 0 ? { uid: 'ada' } : {};
  const { query_id } = await post(`${query}/app/predict`, { input: [at], ...uid });
  await post(`${query}/app/update`, { query_id, label: 2, ...uid });
}
const models = await admin('get_all_models', { verbose: true });
const said = {
  key,
  applications: await admin('get_all_applications', { verbose: true }),
  models: models.map(({ replicas_up: _, ...model }) => model),
  state: await admin('get_state', { app_name: 'app' }),
  context: await admin('get_state', { app_name: 'app', uid: 'ada' }),
  keys: await admin('get_all_keys', {}),
};
process.stdout.write(`${JSON.stringify(said, null, 2)}\n`);
END
kill -TERM $server
wait $server
rm -rf "$here/out" "$here/data/jobs" "$here/data/store-lock" "$here/data/store/lock.mdb"
