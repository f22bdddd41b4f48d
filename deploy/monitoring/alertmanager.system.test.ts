import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newKeyText } from '../../services/access/index.js';
import { ServedProcess } from '../../services/tests/servedProcess.js';
import { Alertmanager, checkConfiguration } from './tests/alertmanager.js';

const EXAMPLE = 'deploy/prometheus/alertmanager.yml';
const SOON = { timeout: 60_000, interval: 100 };

let folder: string;
let key: string;
let server: ServedProcess;
let alertmanager: Alertmanager;

/** The example, of a server that asks for keys, and without its waits. */
function configuration(): string {
  return readFileSync(EXAMPLE, 'utf8')
    .replace('http://127.0.0.1:1338', server.management)
    .replace('# http_config', 'http_config')
    .replace('/etc/alertmanager/windjammer.key', join(folder, 'admin'))
    .replace(/group_wait: .*/, 'group_wait: 100ms')
    .replace(/group_interval: .*/, 'group_interval: 200ms')
    .replace(/repeat_interval: .*/, 'repeat_interval: 300ms');
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-alerts-'));
  key = newKeyText();
  writeFileSync(join(folder, 'admin'), key, { mode: 0o600 });
  server = await ServedProcess.start([
    ...['--ephemeral', '--no-defaults', '--require-keys', '--admin-key-file', join(folder, 'admin')],
  ]);
  alertmanager = await Alertmanager.start(configuration());
});
afterAll(async () => {
  await alertmanager?.stop();
  await server?.end('SIGTERM');
  rmSync(folder, { recursive: true });
});

async function admin(
  verb: string,
  body: object,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(`${server.management}/admin/${verb}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function told(): Promise<readonly (readonly [string, unknown, unknown])[]> {
  const response = await admin('list_events', {}, { authorization: `Bearer ${key}` });
  const { events } = (await response.json()) as {
    readonly events: readonly { readonly verb: string; readonly about: unknown; readonly after: unknown }[];
  };
  return events
    .filter(({ verb }) => verb.startsWith('alert_'))
    .map(({ verb, about, after }) => [verb, about, after]);
}

it('takes the example of a configuration', () => {
  expect(checkConfiguration(EXAMPLE)).toMatchObject({ status: 0 });
});

it('tells a server of alerts that begin and end, and of none again that it repeats', async () => {
  const labels = { alertname: 'WindjammerQueueGrows', severity: 'ticket', model: 'm', version: '1' };
  const annotations = { summary: '12 inputs wait' };
  const startsAt = new Date().toISOString();
  await alertmanager.send([{ labels, annotations, startsAt }]);
  const about = { alert: 'WindjammerQueueGrows', model: 'm', version: '1' };
  const after = { summary: '12 inputs wait', alerts: 1, since: startsAt, severity: 'ticket' };
  await expect.poll(told, SOON).toEqual([['alert_firing', about, after]]);
  await alertmanager.send([{ labels: { alertname: 'WindjammerDown' }, annotations, startsAt }]);
  const down = { alert: 'WindjammerDown' };
  await expect.poll(told, SOON).toHaveLength(2);
  const endsAt = new Date().toISOString();
  await alertmanager.send([{ labels, annotations, startsAt, endsAt }]);
  await expect.poll(told, SOON).toHaveLength(3);
  expect(await told()).toMatchObject([
    ['alert_firing', about, after],
    ['alert_firing', down, { summary: '12 inputs wait' }],
    ['alert_resolved', about, { ...after, until: endsAt }],
  ]);
});

it('tells nothing without a key', async () => {
  const answer = await admin('note_alerts', { version: '4', alerts: [] }, {});
  expect(answer.status).toBe(401);
});
