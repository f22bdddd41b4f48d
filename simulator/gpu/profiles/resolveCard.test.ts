import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILE_NAMES, cardJson, cardNamed, findCard, profileNamed } from './index.js';
import { resolveCard } from './resolveCard.js';

const head = { name: 'mine', productName: 'Mine', description: 'a test', measured: false };
const resolve = (card: object) => resolveCard({ ...head, ...card }, 'mine.json', cardNamed);

describe('a card of the user', () => {
  it('takes what it leaves out from its base, by the rules for sizes and clocks', () => {
    const base = profileNamed('h200');
    const { profile, figures } = resolve({
      base: 'h200',
      clockHz: 0.99e9,
      clocks: { baseHz: 0.9e9 },
      memory: { declaredBytesPerSecond: 2.4e12, l2Bytes: 30 * 2 ** 20 },
    });
    expect(profile.sms).toBe(base.sms);
    expect(profile.timing.dramBytesPerSecond).toBeCloseTo(base.timing.dramBytesPerSecond / 2, -9);
    expect(profile.timing.l2BytesPerSecond).toBeCloseTo(base.timing.l2BytesPerSecond / 2, -9);
    expect(profile.timing.latency.dram).toBeCloseTo(base.timing.latency.dram / 2, 0);
    expect(profile.timing.l2MissCurve.map(([, share]) => share)).toEqual(
      base.timing.l2MissCurve.map(([, share]) => share),
    );
    expect(profile.timing.l2MissCurve[0][0]).toBeCloseTo(base.timing.l2MissCurve[0][0] / 2, -4);
    const l2 = figures.find(({ path }) => path === 'timing.l2BytesPerSecond');
    expect(l2?.source).toEqual({ kind: 'assumed', text: 'by number of SMs and clock from h200' });
    const clock = figures.find(({ path }) => path === 'clockHz');
    expect(clock?.source).toEqual({ kind: 'document', text: 'mine.json' });
  });

  it.each([
    [{}, 'sms: found nothing; expected a value, or a "base" card to take it from'],
    [{ base: 'h300' }, "no device profile 'h300'"],
    [{ base: 'h200', sms: 0 }, 'sms: found 0; expected a whole number, 1 to 1024'],
    [{ base: 'h200', sms: 131 }, 'gpcTpcs: found 66 TPCs of 2 SMs; expected as many as there are SMs: 131'],
    [{ base: 'h200', limit: {} }, 'limit: found an unknown field; expected one of name, '],
    [{ base: 'h200', limits: { threads: 1 } }, 'limits.threads: found an unknown field; expected one of '],
    [{ base: 'h200', limits: 3 }, 'limits: found 3; expected an object'],
    [
      { base: 'h200', timing: { latency: { l1: { value: 9, source: 'lab' } } } },
      'timing.latency.l1.source: found "lab"; expected one of sources: none',
    ],
    [
      { base: 'h200', timing: { latency: { l1: { value: 9, why: 'x' } } } },
      'timing.latency.l1.why: found an unknown field; expected value, source and note only',
    ],
    [
      { base: 'h200', sources: { lab: { kind: 'guess', text: 'x' } } },
      'sources.lab.kind: found "guess"; expected one of measured',
    ],
    [
      { base: 'h200', timing: { l2MissCurve: [[5, 0]] } },
      'timing.l2MissCurve: found [[5,0]]; expected two or more points',
    ],
    [{ base: 'h200', measured: 'yes' }, 'measured: found "yes"; expected true or false'],
    [
      { base: 'h200', clocks: { baseHz: 3e9 } },
      'clocks.baseHz: found 3000000000; expected a clock from minimumHz',
    ],
    [
      { base: 'h200', power: { idleWatts: 900 } },
      'power.idleWatts: found 900; expected below limitWatts (700)',
    ],
  ])('is refused with field, found and expected: %j', (card, message) => {
    expect(() => resolve(card)).toThrow(message);
  });

  it.each(PROFILE_NAMES)('can be what gpu devices prints of %s', (name) => {
    const card = cardNamed(name);
    const again = resolve({ ...cardJson(card), name: 'mine' });
    expect(again.profile).toEqual({ ...card.profile, name: 'mine' });
    expect(again.figures).toEqual(card.figures);
  });
});

describe('a card in a file', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'card-'));
    writeFileSync(join(folder, 'mine.json'), JSON.stringify({ ...head, base: 't4' }));
    writeFileSync(join(folder, 'ours.json'), JSON.stringify({ ...head, name: 'h200', base: 't4' }));
    writeFileSync(join(folder, 'broken.json'), '{');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is found from the folder that it is given in', () => {
    expect(findCard('./mine.json', folder).profile.sms).toBe(profileNamed('t4').sms);
  });

  it('is refused under the name of one of ours, and when it is no JSON or not there', () => {
    expect(() => findCard('ours.json', folder)).toThrow('name: found "h200"; expected a name of its own');
    expect(() => findCard('broken.json', folder)).toThrow('broken.json: ');
    expect(() => findCard('none.json', folder)).toThrow('ENOENT');
  });
});
