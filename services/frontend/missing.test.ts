import { expect, it } from 'vitest';
import { Registry } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { missingText, type Missing } from './missing.js';
import { QueryFrontend, type QueryFrontendOptions } from './queryFrontend.js';
import { FakePredictionService } from './tests/fakePredictionService.js';

const MISSING: readonly Missing[] = [
  {
    what: 'store',
    cause: 'unreachable',
    message: 'Redis cannot be reached',
    since: '2026-01-01T00:00:00.000Z',
  },
  { what: 'nodes', message: 'none of them can be used: n1: it is silent', since: '2026-01-01T00:00:01.000Z' },
  { what: 'replicas', model: 'secret', version: '1', up: 0, wanted: 2, message: 'no node has room' },
];

async function readyz(isStarted: boolean, options: Partial<QueryFrontendOptions>): Promise<[number, string]> {
  const frontend = new QueryFrontend({
    registry: new Registry(new MemoryStore()),
    service: new FakePredictionService(),
    metrics: () => Promise.reject(new Error('nobody asks')),
    queryIdPrefix: 'x',
    missing: () => MISSING,
    ...options,
  });
  const { port } = await frontend.listen({ host: '127.0.0.1', port: 0 });
  if (isStarted) frontend.markReady();
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  const text = await response.text();
  await frontend.drain(0, 100);
  return [response.status, text];
}

/** Asked for nothing: probes have no key. */
const gate = {} as QueryFrontendOptions['gate'];

it('what is missing is named by a server that is ready, and by one that is not', async () => {
  const [status, text] = await readyz(true, {});
  expect([status, JSON.parse(text)]).toEqual([
    200,
    {
      status: 'ready',
      store: { status: 'failing', cause: 'unreachable', message: 'Redis cannot be reached' },
      missing: MISSING,
    },
  ]);
  const [unready, why] = await readyz(false, {});
  expect(unready).toBe(503);
  expect(JSON.parse(why)).toMatchObject({
    error: { code: 'not_ready', message: `the server is starting: ${missingText(MISSING)}` },
  });
  expect(missingText(MISSING)).toBe(
    'changes are not kept since 2026-01-01T00:00:00.000Z: Redis cannot be reached; ' +
      'no node since 2026-01-01T00:00:01.000Z: none of them can be used: n1: it is silent; ' +
      "model 'secret' version '1' has 0 of 2 replicas: no node has room",
  );
  expect(await readyz(true, { missing: () => [] })).toEqual([200, '{"status":"ready"}']);
});

it('names of models and nodes are not told to everybody where keys are required', async () => {
  const [status, text] = await readyz(true, { gate });
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({
    missing: [{ what: 'store' }, { what: 'nodes' }, { what: 'replicas', up: 0, wanted: 2 }],
  });
  const [unready, why] = await readyz(false, { gate });
  expect(unready).toBe(503);
  for (const said of [text, why]) expect(said).not.toMatch(/secret|n1/);
});
