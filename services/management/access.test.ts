import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccessKeys, Gate, SCOPES } from '../access/index.js';
import { BundleDesk } from '../bundles/index.js';
import { RefusedError, WindjammerClient, type ManagementClient } from '../client/index.js';
import { EventLog } from '../events/index.js';
import { Registry } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { ManagementServer } from './index.js';

let server: ManagementServer;
let keys: AccessKeys;
let events: EventLog;
let url: string;
let rootText: string;
let rootId: string;
let root: ManagementClient;

const nothing = (): void => undefined;

async function start(requiresKeys: boolean): Promise<void> {
  const store = new MemoryStore();
  keys = new AccessKeys(store);
  events = new EventLog({ store, server: 'here', announce: nothing, complain: nothing });
  server = new ManagementServer(
    {
      registry: new Registry(store),
      bundles: new BundleDesk({ dataDirectory: undefined, models: () => [], complain: nothing }),
      events,
      backup: { store, models: () => [], nowMs: Date.now },
      replicas: () => [],
      servingVersion: () => undefined,
      rooms: () => [],
      capacity: { admit: (_changes, make) => make() },
      selectionShares: () => undefined,
      nodes: () => [],
      queues: () => [],
      recordTimeline: () => Promise.reject(new Error('nothing is recorded')),
      arrivals: {
        record: () => {
          throw new Error('no arrivals are recorded');
        },
      },
    },
    (error) => {
      throw error;
    },
    { keys, ...(requiresKeys ? { gate: new Gate({ keys, interfaceName: 'management' }) } : {}) },
  );
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${port}`;
  const added = await keys.add({ name: 'root', scopes: ['admin'] });
  rootText = added.text;
  rootId = added.record.id;
  root = clientWith(rootText);
}

function clientWith(apiKey?: string): ManagementClient {
  return new WindjammerClient({ managementUrl: url, apiKey }).management;
}

beforeEach(() => start(true));
afterEach(() => server.close(0));

async function verbs(): Promise<(readonly [path: string, method: string])[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  return Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)[0]]);
}

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof RefusedError ? error.code : String(error)),
  );

describe('management where keys are required', () => {
  it('lets nobody in to any verb but keys that may administer', async () => {
    const all = await verbs();
    expect(all.length).toBeGreaterThan(15);
    for (const [path, method] of all) {
      const ask = async (authorization?: string) => {
        const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
        const body = method === 'post' ? { body: '[]' } : {};
        const response = await fetch(url + path, { method: method.toUpperCase(), headers, ...body });
        await response.arrayBuffer();
        return response.status;
      };
      const taken = method === 'post' ? 400 : 200;
      expect(await ask(), path).toBe(401);
      expect(await ask('Bearer x'), path).toBe(401);
      for (const scope of SCOPES) {
        const { key } = await root.addKey({ name: scope, scopes: [scope] });
        expect(await ask(`Bearer ${key}`), `${path} ${scope}`).toBe(scope === 'admin' ? taken : 403);
      }
    }
    for (const path of ['/nowhere', '/admin/', '/ADMIN/ping/..', '/admin/ping/x', '/']) {
      expect((await fetch(url + path)).status, path).toBe(401);
    }
    for (const path of ['/admin/ping', '/healthz', '/openapi.json']) {
      expect((await fetch(url + path)).status, path).toBe(200);
    }
  });

  it('describes it in its OpenAPI document', async () => {
    const text = await (await fetch(`${url}/openapi.json`)).text();
    expect(text).toContain('"security":[{"bearer":["admin"]},{"apiKey":["admin"]}]');
    expect(text).toContain('missing_scope');
    await server.close(0);
    await start(false);
    expect(await (await fetch(`${url}/openapi.json`)).text()).not.toContain('securitySchemes');
  });

  it('makes keys, shows them without their secrets, and removes them', async () => {
    const { key, ...shown } = await root.addKey({
      name: 'mobile',
      scopes: ['predict'],
      applications: ['digits'],
      lifetime_seconds: 60,
    });
    expect(shown).toMatchObject({ name: 'mobile', scopes: ['predict'], applications: ['digits'] });
    expect(Date.parse(shown.expires_at ?? '') - Date.parse(shown.created_at)).toBe(60_000);
    const listed = await root.keys();
    expect(listed.map(({ id }) => id).sort()).toEqual([rootId, shown.id].sort());
    expect(listed.find(({ id }) => id === shown.id)).toEqual(shown);
    expect(JSON.stringify(listed)).not.toMatch(/[0-9a-f]{64}|hash/);
    expect(await refusal(clientWith(key).keys())).toBe('missing_scope');
    await root.deleteKey(shown.id);
    expect(await refusal(clientWith(key).keys())).toBe('invalid_key');
    expect(await refusal(root.deleteKey(shown.id))).toBe('unknown_key');
  });

  it('refuses to remove the last key that may administer, and takes it once there is another', async () => {
    expect(await refusal(root.deleteKey(rootId))).toBe('last_admin_key');
    const { key } = await root.addKey({ name: 'next', scopes: ['admin'] });
    expect(await refusal(root.deleteKey(rootId))).toBe('done');
    expect(await refusal(root.keys())).toBe('invalid_key');
    expect(await clientWith(key).keys()).toHaveLength(1);
  });

  it.each([
    [{ scopes: ['predict'] }, 'missing_field', 'name'],
    [{ name: '', scopes: ['predict'] }, 'invalid_value', 'name'],
    [{ name: 'a' }, 'missing_field', 'scopes'],
    [{ name: 'a', scopes: [] }, 'invalid_value', 'scopes'],
    [{ name: 'a', scopes: ['root'] }, 'invalid_value', 'scopes[0]'],
    [{ name: 'a', scopes: 'admin' }, 'wrong_type', 'scopes'],
    [{ name: 'a', scopes: ['predict'], applications: [] }, 'invalid_value', 'applications'],
    [{ name: 'a', scopes: ['predict'], applications: ['../x'] }, 'invalid_name', 'applications[0]'],
    [{ name: 'a', scopes: ['admin'], applications: ['x'] }, 'conflicting_fields', 'applications'],
    [{ name: 'a', scopes: ['predict'], lifetime_seconds: 0 }, 'invalid_value', 'lifetime_seconds'],
    [{ name: 'a', scopes: ['predict'], lifetime_seconds: 1e12 }, 'invalid_value', 'lifetime_seconds'],
    [{ name: 'a', scopes: ['predict'], secret: 'x' }, 'unknown_field', 'secret'],
  ])('refuses the key %j', async (body, code, field) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': rootText };
    const answer = await fetch(`${url}/admin/add_key`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(await answer.json()).toMatchObject({ error: { code, field } });
    expect(keys.list()).toHaveLength(1);
  });

  it('does not read the body of a request without a key', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (part: Buffer) => (text += part.toString()));
    const head = 'POST /admin/add_app HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    socket.write(`${head}Content-Length: 4000000\r\nExpect: 100-continue\r\n\r\n`);
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('management where keys are not required', () => {
  it('makes keys all the same, for the day on which they are', async () => {
    await server.close(0);
    await start(false);
    const { key } = await clientWith().addKey({ name: 'first', scopes: ['admin'] });
    expect(key).toMatch(/^wj_/);
    expect(await clientWith().keys()).toHaveLength(2);
  });
});
