import { once } from 'node:events';
import { connect } from 'node:net';
import { Router } from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccessKeys, Gate, type NewKey } from '../access/index.js';
import { MemoryStore } from '../store/index.js';
import { encodePredict } from '../wire/index.js';
import { FrontendHarness } from './tests/harness.js';
import { TestSocket } from './tests/webSocketHarness.js';

let keys: AccessKeys;
let gate: Gate;
let harness: FrontendHarness;
let complaints: unknown[];

beforeEach(async () => {
  complaints = [];
  keys = new AccessKeys(new MemoryStore());
  gate = new Gate({
    keys,
    interfaceName: 'query',
    complain: (message, details) => complaints.push([message, details]),
  });
  harness = await FrontendHarness.start({ gate });
});
afterEach(() => harness.close());

async function newKey(wanted: Omit<NewKey, 'name'>): Promise<{ readonly text: string; readonly id: string }> {
  const { text, record } = await keys.add({ name: 'test', ...wanted });
  return { text, id: record.id };
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const codeOf = ({ json }: { readonly json: unknown }) => (json as { error: { code: string } }).error.code;

/** Every route: how it is asked, and the scope that it needs; undefined: none. */
const ROUTES = [
  ['POST', '/doubles/predict', '{"input":[1]}', 'predict'],
  ['POST', '/doubles/predict/', '{"input_batch":[[1],[2]]}', 'predict'],
  ['GET', '/doubles/predict', undefined, undefined],
  ['POST', '/nobody/predict', '{"input":[1]}', 'predict'],
  ['POST', '/doubles/update', '{"query_id":"q","label":1}', 'feedback'],
  ['GET', '/metrics', undefined, 'metrics'],
  ['GET', '/METRICS', undefined, 'metrics'],
  ['GET', '//metrics', undefined, 'metrics'],
  ['GET', '/metrics?a=/healthz', undefined, 'metrics'],
  ['GET', '/nowhere', undefined, 'metrics'],
  ['GET', '/healthz/../metrics', undefined, 'metrics'],
  ['GET', '/', undefined, 'metrics'],
  ['GET', '/dashboard/feed', undefined, 'metrics'],
  ['GET', '/healthz', undefined, undefined],
  ['GET', '/readyz', undefined, undefined],
  ['GET', '/openapi.json', undefined, undefined],
  ['GET', '/ws', undefined, undefined],
  ['GET', '/v2', undefined, 'predict'],
  ['GET', '/v2/health/live', undefined, undefined],
  ['GET', '/v2/health/ready', undefined, undefined],
  ['GET', '/v2/models/doubles', undefined, 'predict'],
  ['GET', '/v2/models/doubles/ready', undefined, 'predict'],
  ['GET', '/v2/models/nobody', undefined, 'predict'],
  ['POST', '/v2/models/doubles/infer', '{}', 'predict'],
  ['POST', '/v2/models/doubles/versions/1/infer', '{}', 'predict'],
  ['GET', '/v2/models/stats', undefined, 'metrics'],
  ['GET', '/v2/models/doubles/stats', undefined, 'metrics'],
  ['POST', '/v2/repository/index', '{}', 'metrics'],
  ['POST', '/v2/repository/models/doubles/load', '{}', 'admin'],
  ['POST', '/v2/repository/models/doubles/unload', '{}', 'admin'],
] as const;

describe('where keys are required', () => {
  it.each(ROUTES)('%s %s %s needs the scope %s', async (method, path, body, scope) => {
    const ask = (headers: Record<string, string>) => harness.send(path, { method, body, headers });
    const anonymous = await ask({});
    if (scope === undefined) {
      expect([200, 405, 426]).toContain(anonymous.status);
      return;
    }
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers['www-authenticate']).toMatch(/^(Bearer|Basic) realm="/);
    for (const own of ['predict', 'feedback', 'metrics', 'admin'] as const) {
      const { text } = await newKey({ scopes: [own] });
      const { status, headers } = await ask(bearer(text));
      const isAllowed = own === 'admin' || own === scope;
      expect([401, 403].includes(status), `${own}: ${status}`).toBe(!isAllowed);
      if (!isAllowed) expect(headers['www-authenticate']).toContain(`scope="${scope}"`);
    }
  });

  it('takes what a key asks as of one source, by each route', async () => {
    const container = { kind: 'external', containerName: 'test', modelDataPath: '' } as const;
    const record = { name: 'm', version: '1', inputType: 'doubles', labels: [], container } as const;
    await harness.registry.addModel({ ...record, batching: { strategy: 'aimd' } });
    const tensor = { name: 'input', datatype: 'FP64', shape: [1, 1], data: [1] };
    const asked: Record<string, unknown>[] = [];
    for (const { text } of [await newKey({ scopes: ['predict'] }), await newKey({ scopes: ['predict'] })]) {
      for (const [path, body] of [
        ['/doubles/predict', { input: [1] }],
        ['/v2/models/doubles/infer', { inputs: [tensor] }],
        ['/v2/models/m/infer', { inputs: [tensor] }],
      ] as const) {
        const { status } = await harness.send(path, { body: JSON.stringify(body), headers: bearer(text) });
        expect(status, path).toBe(200);
      }
      const { queries, evaluations } = harness.service;
      const sources = [...queries, ...evaluations].map(({ source }) => source);
      expect(sources).toHaveLength(3);
      expect(new Set(sources).size).toBe(1);
      asked.push(sources[0] as Record<string, unknown>);
      queries.length = evaluations.length = 0;
    }
    expect(asked[0]).not.toBe(asked[1]);
  });

  it('describes in its OpenAPI document what each route needs, as it is enforced', async () => {
    const { json } = await harness.send('/openapi.json', { method: 'GET' });
    const { paths, components } = json as {
      readonly paths: Record<string, Record<string, { readonly security: Record<string, string[]>[] }>>;
      readonly components: { readonly securitySchemes: object };
    };
    expect(Object.keys(components.securitySchemes)).toEqual(['bearer', 'apiKey']);
    for (const [path, operations] of Object.entries(paths)) {
      const url = path.replace(/\{\w+\}/g, 'doubles');
      for (const [verb, { security }] of Object.entries(operations)) {
        const method = verb.toUpperCase();
        const ask = async (headers: Record<string, string>) =>
          (await harness.send(url, { method, body: method === 'POST' ? '{}' : undefined, headers })).status;
        const told = security.map((scheme) => Object.values(scheme)[0][0]);
        if (told.length === 0) expect(await ask({}), path).not.toBe(401);
        else {
          expect(await ask({}), path).toBe(401);
          const { text } = await newKey({ scopes: [told[0] as NewKey['scopes'][number]] });
          expect([401, 403], path).not.toContain(await ask(bearer(text)));
        }
      }
    }
    const open = await FrontendHarness.start();
    expect((await open.send('/openapi.json', { method: 'GET' })).text).not.toContain('securitySchemes');
    await open.close();
  });

  it('asks a browser for its key by its own dialogue, and takes it from there', async () => {
    const page = await harness.send('/dashboard/style.css', { method: 'GET' });
    expect([page.status, page.headers['www-authenticate']]).toEqual([401, expect.stringMatching(/^Basic /)]);
    const { text } = await newKey({ scopes: ['metrics'] });
    const authorization = `Basic ${Buffer.from(`anna:${text}`).toString('base64')}`;
    expect((await harness.send('/metrics', { method: 'GET', headers: { authorization } })).status).toBe(200);
  });

  it('says what is wrong in the protocol of the route, with the code of the catalogue', async () => {
    const none = await harness.predict('doubles', { input: [1] });
    expect(codeOf(none)).toBe('key_required');
    const { text } = await newKey({ scopes: ['metrics'] });
    expect(codeOf(await harness.predict('doubles', { input: [1] }, bearer(text)))).toBe('missing_scope');
    const v2 = await harness.send('/v2/models/doubles', { method: 'GET' });
    expect(v2.json).toEqual({ error: expect.stringContaining('no key came') as unknown });
    expect(harness.refused).toEqual(['-:key_required', '-:missing_scope', '-:key_required']);
    expect(gate.counts().filter(({ count }) => count > 0)).toMatchObject([
      { reason: 'missing', count: 2 },
      { reason: 'scope', count: 1 },
    ]);
  });

  it('holds a limited key to its applications and models, on every route and whether they exist or not', async () => {
    const { text } = await newKey({ scopes: ['predict', 'feedback'], applications: ['doubles'] });
    const headers = bearer(text);
    expect((await harness.predict('doubles', { input: [1] }, headers)).status).toBe(200);
    for (const name of ['floats', 'nobody', 'Doubles', 'doubles%00', '%64oubles%2e']) {
      const answer = await harness.predict(name, { input_batch: [[1], [2]] }, headers);
      expect([answer.status, codeOf(answer)], name).toEqual([403, 'outside_key']);
    }
    // Encoded otherwise it is the same application.
    expect((await harness.predict('%64oubles', { input: [1] }, headers)).status).toBe(200);
    const update = await harness.send('/floats/update', { body: '{"query_id":"q","label":1}', headers });
    expect(codeOf(update)).toBe('outside_key');
    const seen: Record<string, number> = {};
    for (const name of ['doubles', 'application:doubles', 'floats', 'application:floats', 'nobody']) {
      seen[name] = (await harness.send(`/v2/models/${name}`, { method: 'GET', headers })).status;
    }
    expect(seen).toEqual({
      doubles: 200,
      'application:doubles': 200,
      floats: 403,
      'application:floats': 403,
      nobody: 403,
    });
    expect(harness.service.queries.every(({ application }) => application === 'doubles')).toBe(true);
  });

  it('lets nothing of a key into answers and logs', async () => {
    const { text, id } = await newKey({ scopes: ['predict'] });
    const secret = text.slice(-64);
    await keys.remove(id);
    const slips = [
      text,
      text.toUpperCase(),
      ` ${text}x`,
      text.replace('wj_', 'wj-'),
      `wj_${id}_${'ab'.repeat(32)}`,
    ];
    for (const slip of slips) {
      for (const headers of [bearer(slip), { 'x-api-key': slip }]) {
        const answer = await harness.predict('doubles', { input: [1] }, headers);
        expect(answer.status).toBe(401);
        const told = JSON.stringify([answer.headers, answer.text, complaints]).toLowerCase();
        expect(told).not.toContain(secret);
        expect(told).not.toContain('abab');
      }
    }
  });

  it('is not talked round by headers that are injected, repeated or folded', async () => {
    const { text } = await newKey({ scopes: ['predict'] });
    const body = '{"input":[1]}';
    const statusOf = async (...lines: readonly string[]) => {
      const socket = connect(harness.address.port, '127.0.0.1');
      let answer = '';
      socket.on('data', (part: Buffer) => (answer += part.toString()));
      const head = ['POST /doubles/predict HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...lines];
      socket.write(
        `${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
      await once(socket, 'close');
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
    };
    const good = `Authorization: Bearer ${text}`;
    expect(await statusOf(good)).toBe(200);
    expect(await statusOf(`${good}   \t`)).toBe(200);
    expect(await statusOf(good, good)).toBe(401);
    expect(await statusOf('Authorization: Bearer x', good)).toBe(401);
    expect(await statusOf(good, `X-Api-Key: ${text}`)).toBe(401);
    expect(await statusOf(`X-Api-Key: ${text}`, `x-api-key: ${text}`)).toBe(401);
    expect(await statusOf(`X-Forwarded-Authorization: Bearer ${text}`)).toBe(401);
    expect(await statusOf(`Authorization : Bearer ${text}`)).toBe(400);
    expect(await statusOf('Authorization: Bearer', ` ${text}`)).not.toBe(200);
    expect(await statusOf(`Authorization: Bearer ${text}\0`)).toBe(400);
    expect(await statusOf(`Authorization: Bearer ${text}${'a'.repeat(10_000)}`)).toBe(401);
    expect(await statusOf(`Authorization: Bearer ${'a'.repeat(20_000)}`)).toBe(431);
    // Letters that look like the key's: a Cyrillic j, and its last digit in full width (a key is random, so no
    // one hexadecimal digit is certain to be in it).
    const fullWidth = String.fromCharCode(text.charCodeAt(text.length - 1) + 0xfee0);
    expect(await statusOf(`Authorization: Bearer ${text.replace('j', 'ј')}`)).toBe(401);
    expect(await statusOf(`Authorization: Bearer ${text.slice(0, -1)}${fullWidth}`)).toBe(401);
  });
});

describe('a WebSocket where keys are required', () => {
  const open = (headers: Record<string, string>) => TestSocket.open(harness, { headers });

  it('is opened with a key only, and its messages need their scopes and applications', async () => {
    await expect(open({})).rejects.toThrow('401');
    await expect(open(bearer('x'))).rejects.toThrow('401');
    const metrics = await newKey({ scopes: ['metrics'] });
    await expect(open(bearer(metrics.text))).rejects.toThrow('403');
    const { text } = await newKey({ scopes: ['predict'], applications: ['doubles'] });
    const socket = await open(bearer(text));
    socket.send({ type: 'predict', id: 1, application: 'doubles', input: [1] });
    expect(await socket.nextJson()).toMatchObject({ type: 'prediction', id: 1 });
    socket.send({ type: 'feedback', id: 2, application: 'doubles', query_id: 'q', label: 1 });
    const scope = { type: 'error', id: 2, status: 403, error: { code: 'missing_scope' } };
    expect(await socket.nextJson()).toMatchObject(scope);
    for (const [id, application] of [
      [3, 'floats'],
      [4, 'nobody'],
    ] as const) {
      socket.send({ type: 'predict', id, application, input: [1] });
      expect(await socket.nextJson()).toMatchObject({
        id,
        error: { code: 'outside_key', field: 'application' },
      });
    }
    const other = { inputType: 'floats', input: new Uint8Array(4), objectiveUs: undefined } as const;
    socket.send(encodePredict({ id: 5, application: 'floats', ...other }));
    expect((await socket.next()).data.toString('latin1')).toContain('outside_key');
    expect(harness.service.queries.map(({ application }) => application)).toEqual(['doubles']);
    socket.close();
  });

  it('lets go of a client that was refused and keeps its side open', async () => {
    const socket = connect({ port: harness.address.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.resume();
    const handshake = ['GET /ws HTTP/1.1', 'Host: x', 'Upgrade: websocket', 'Connection: Upgrade'];
    socket.write(
      `${handshake.join('\r\n')}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\n\r\n`,
    );
    await once(socket, 'end');
    expect(harness.frontend.connections().open).toBe(1);
    await expect.poll(() => harness.frontend.connections().open, { timeout: 20_000 }).toBe(0);
    socket.destroy();
  });

  it('takes the key of a page among its subprotocols, and does not repeat it', async () => {
    const { text } = await newKey({ scopes: ['predict'] });
    for (const protocols of [
      ['windjammer', text],
      [text, 'windjammer'],
    ]) {
      const socket = await TestSocket.open(harness, {}, protocols);
      expect(socket.webSocket.protocol).toBe('windjammer');
      socket.close();
    }
    await expect(TestSocket.open(harness, {}, ['windjammer', `${text.slice(0, -1)}_`])).rejects.toThrow(
      '401',
    );
  });

  it('ends at once with 4401 when its key is removed, and so does the feed; other keys are left alone', async () => {
    await harness.close();
    // An answer that goes on for ever, as the dashboard's feed does.
    const router = Router().get(
      '/dashboard/feed',
      (_request, response) => void response.write('data: 1\n\n'),
    );
    harness = await FrontendHarness.start({ gate, pages: { router, close: () => undefined } });
    const gone = await newKey({ scopes: ['predict', 'metrics'] });
    const stays = await newKey({ scopes: ['predict'] });
    const [socket, other] = [await open(bearer(gone.text)), await open(bearer(stays.text))];
    const url = `http://127.0.0.1:${harness.address.port}/dashboard/feed`;
    const feed = (await fetch(url, { headers: bearer(gone.text) })).body?.getReader();
    expect((await feed?.read())?.done).toBe(false);
    harness.service.holding = true;
    const taken = new Promise<void>((resolve) => (harness.service.onQuery = resolve));
    socket.send({ type: 'predict', id: 1, application: 'doubles', input: [1] });
    await taken;
    await keys.remove(gone.id);
    expect(await socket.closed()).toEqual({ code: 4401, reason: 'the key was removed or has expired' });
    expect(harness.service.cancelled).toHaveLength(1);
    await expect(
      (async () => {
        while ((await feed?.read())?.done === false);
        throw new Error('ended');
      })(),
    ).rejects.toThrow();
    harness.service.holding = false;
    other.send({ type: 'predict', id: 2, application: 'doubles', input: [1] });
    expect(await other.nextJson()).toMatchObject({ type: 'prediction', id: 2 });
    await expect(open(bearer(gone.text))).rejects.toThrow('401');
    other.close();
  });

  it('ends when its key expires', async () => {
    const { text } = await newKey({ scopes: ['predict'], lifetimeMs: 300 });
    const socket = await open(bearer(text));
    expect((await socket.closed()).code).toBe(4401);
    await expect(open(bearer(text))).rejects.toThrow('401');
  });
});

describe('WebSockets over their number', () => {
  it('are refused with 503, and taken again when one has gone', async () => {
    await harness.close();
    harness = await FrontendHarness.start({ webSocketLimits: { connections: 2 } });
    const [first, second] = [await TestSocket.open(harness), await TestSocket.open(harness)];
    await expect(TestSocket.open(harness)).rejects.toThrow('503');
    expect(harness.refused).toEqual(['-:too_many_connections']);
    first.close();
    await expect.poll(() => harness.frontend.webSocketCount(), { timeout: 20_000 }).toBe(1);
    (await TestSocket.open(harness)).close();
    second.close();
  });
});

describe('where keys are not required', () => {
  it('nobody is asked, whatever they show', async () => {
    await harness.close();
    harness = await FrontendHarness.start();
    expect((await harness.predict('doubles', { input: [1] }, bearer('x'))).status).toBe(200);
    (await TestSocket.open(harness, { headers: bearer('x') })).close();
  });
});
