import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryStore } from '../store/index.js';
import { AccessKeys, chosenProtocol, Denial, Gate, SCOPES, type AccessKey } from './index.js';
import { requestWith } from './tests/requests.js';

let keys: AccessKeys;
let gate: Gate;
let told: Readonly<Record<string, unknown>>[];
let nowMs: number;
let text: string;
let id: string;

beforeEach(async () => {
  nowMs = 1_000_000;
  told = [];
  keys = new AccessKeys(new MemoryStore(), undefined, () => nowMs);
  gate = new Gate({
    keys,
    interfaceName: 'query',
    complain: (_message, details) => told.push(details),
    nowMs: () => nowMs,
  });
  const added = await keys.add({ name: 'a', scopes: ['predict'], lifetimeMs: 1000 });
  ({ text } = added);
  ({ id } = added.record);
});

/** The key's name, or the code and the reason of its denial. */
function outcome(admitted: AccessKey | Denial): string {
  return admitted instanceof Denial ? `${admitted.code} ${admitted.reason}` : admitted.record.name;
}
const ask = (...headers: readonly string[]) => outcome(gate.admit(requestWith(...headers), 'predict'));
const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('a key is taken', () => {
  it('from Authorization and from x-api-key, whatever the case of names and scheme', () => {
    expect(ask('Authorization', `Bearer ${text}`)).toBe('a');
    expect(ask('AUTHORIZATION', `bEARER   ${text}`)).toBe('a');
    expect(ask('X-API-Key', text)).toBe('a');
    expect(ask('Authorization', basic('anna', text))).toBe('a');
    expect(ask('Authorization', basic('', text))).toBe('a');
  });

  it('from the subprotocols of a handshake, and never sent back in them', () => {
    const request = requestWith('Sec-WebSocket-Protocol', `windjammer, ${text}`);
    expect(outcome(gate.admitWebSocket(request))).toBe('a');
    expect(outcome(gate.admit(request, 'predict'))).toBe('key_required missing');
    expect(chosenProtocol(new Set([text, 'windjammer']))).toBe('windjammer');
    expect(chosenProtocol(new Set([text, 'graphql']))).toBe('graphql');
    expect(chosenProtocol(new Set([text]))).toBe(false);
  });
});

describe('a request is turned away', () => {
  it.each([
    ['without a key', () => [], 'key_required missing'],
    ['with another scheme', () => ['Authorization', 'Digest username="a"'], 'key_required missing'],
    ['with an empty key', () => ['Authorization', 'Bearer'], 'invalid_key malformed'],
    ['with an empty header', () => ['x-api-key', ''], 'invalid_key malformed'],
    ['with upper case', () => ['x-api-key', text.toUpperCase()], 'invalid_key malformed'],
    [
      'with white space in the key',
      () => ['x-api-key', `${text.slice(0, 30)} ${text.slice(30)}`],
      'invalid_key malformed',
    ],
    ['with white space behind the key', () => ['Authorization', `Bearer ${text}\t`], 'invalid_key malformed'],
    ['with a second word', () => ['Authorization', `Bearer ${text} ${text}`], 'invalid_key malformed'],
    ['with a line end in the key', () => ['x-api-key', `${text}\n`], 'invalid_key malformed'],
    ['with other digits', () => ['x-api-key', text.replace(/[0-9]/g, '٣')], 'invalid_key malformed'],
    ['with a very long key', () => ['x-api-key', text + 'a'.repeat(16_000)], 'invalid_key malformed'],
    ['with a prefix of the key', () => ['x-api-key', text.slice(0, -1)], 'invalid_key malformed'],
    [
      'with two Authorization headers',
      () => ['Authorization', `Bearer ${text}`, 'authorization', 'Bearer x'],
      'invalid_key malformed',
    ],
    [
      'with the key in two headers',
      () => ['Authorization', `Bearer ${text}`, 'x-api-key', text],
      'invalid_key malformed',
    ],
    ['with two x-api-key headers', () => ['x-api-key', text, 'X-Api-Key', text], 'invalid_key malformed'],
    [
      'with an id that nobody has',
      () => ['x-api-key', text.replace(id, '0123456789abcdef')],
      'invalid_key unknown',
    ],
    ['with another secret', () => ['x-api-key', `wj_${id}_${'0'.repeat(64)}`], 'invalid_key wrong_secret'],
    ['with the key as a bare Authorization', () => ['Authorization', text], 'key_required missing'],
  ] as const)('%s', (_how, headers, expected) => {
    expect(ask(...headers())).toBe(expected);
  });

  it('with two keys in a handshake', () => {
    const twice = requestWith('Sec-WebSocket-Protocol', `windjammer, ${text}, ${text}`);
    expect(outcome(gate.admitWebSocket(twice))).toBe('invalid_key malformed');
    const both = requestWith('Sec-WebSocket-Protocol', `windjammer, ${text}`, 'x-api-key', text);
    expect(outcome(gate.admitWebSocket(both))).toBe('invalid_key malformed');
  });

  it('once its key has expired, or is removed', async () => {
    nowMs += 1000;
    expect(ask('x-api-key', text)).toBe('key_expired expired');
    await keys.remove(id);
    expect(ask('x-api-key', text)).toBe('invalid_key unknown');
  });

  it('with an answer that shows nothing of what came, and says how to ask', () => {
    for (const header of [text.toUpperCase(), `wj_${id}_${'1'.repeat(64)}`]) {
      const denial = gate.admit(requestWith('x-api-key', header), 'predict') as Denial;
      expect(JSON.stringify(denial)).not.toContain(header.slice(4, 60));
      expect(denial.headers).toEqual([
        'www-authenticate',
        'Bearer realm="windjammer", error="invalid_token"',
      ]);
    }
    const asked = gate.admit(requestWith(), 'metrics', 'basic') as Denial;
    expect(asked.headers[1]).toMatch(/^Basic realm="/);
    const scope = gate.admit(requestWith('x-api-key', text), 'metrics') as Denial;
    expect(scope.code).toBe('missing_scope');
    expect(scope.message).toContain('metrics');
    expect(scope.headers[1]).toBe('Bearer realm="windjammer", error="insufficient_scope", scope="metrics"');
  });
});

describe('a check', () => {
  it('costs one hash and one comparison of hashes, whether the id is known or not', () => {
    const spies = [vi.spyOn(crypto, 'hash'), vi.spyOn(crypto, 'timingSafeEqual')];
    syncBuiltinESMExports();
    try {
      for (const header of [text, text.replace(id, 'ffffffffffffffff'), `wj_${id}_${'0'.repeat(64)}`]) {
        for (const spy of spies) spy.mockClear();
        ask('x-api-key', header);
        for (const spy of spies) expect(spy).toHaveBeenCalledOnce();
      }
    } finally {
      for (const spy of spies) spy.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it.each(SCOPES)(
    'of a key with the scope %s lets it do that and no more, but admin everything',
    async (scope) => {
      const added = await keys.add({ name: scope, scopes: [scope] });
      for (const wanted of SCOPES) {
        const allowed = scope === 'admin' || scope === wanted;
        const admitted = gate.admit(requestWith('x-api-key', added.text), wanted);
        expect(outcome(admitted), wanted).toBe(allowed ? scope : 'missing_scope scope');
      }
    },
  );

  it('holds a limited key to the applications and models that it names', async () => {
    const added = await keys.add({ name: 'limited', scopes: ['predict'], applications: ['mine'] });
    const key = keys.find(added.record.id);
    if (key === undefined) throw new Error('the key is not there');
    expect(gate.refusal(key, 'predict', 'application', 'mine')).toBeUndefined();
    expect(gate.refusal(key, 'predict', 'application', 'other')?.code).toBe('outside_key');
    expect(gate.refusal(key, 'predict', 'model', 'mine')?.code).toBe('outside_key');
    expect(gate.refusal(key, 'feedback', 'application', 'mine')?.code).toBe('missing_scope');
  });
});

describe('what is turned away', () => {
  it('is counted by reason, and told once an interval without what came as a key', () => {
    for (let i = 0; i < 1000; i++) ask('x-api-key', `wj_${id}_${String(i).padStart(64, '0')}`);
    ask();
    expect(told).toMatchObject([
      { interface: 'query', reason: 'wrong_secret', requests: 1, keyId: id },
      { reason: 'missing', requests: 1, keyId: undefined },
    ]);
    nowMs += 10_000;
    ask('x-api-key', `wj_${id}_${'9'.repeat(64)}`);
    expect(told[2]).toMatchObject({ reason: 'wrong_secret', requests: 1000 });
    expect(JSON.stringify(told)).not.toMatch(/0{40}|9{40}/);
    const counts = gate.counts();
    expect(counts).toHaveLength(7);
    expect(counts.find(({ reason }) => reason === 'wrong_secret')?.count).toBe(1001);
  });
});
