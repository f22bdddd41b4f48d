import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../selection/index.js';
import { checkFile, HostedPolicy, type HostedSelection, type PolicyFault } from './index.js';
import { fileText } from './tests/fileText.js';

const WAIT = { timeout: 60_000, interval: 20 };
const ARMS = new Map([
  ['a', 1],
  ['b', 2],
]);

let hosted: HostedPolicy | undefined;
afterEach(() => hosted?.close());

async function started(text: string, faults: PolicyFault[] = []): Promise<HostedPolicy> {
  const file = { name: 'own.mjs', text };
  const traits = await checkFile(file, { parameters: null });
  const made = new HostedPolicy({ file, traits, seed: 1, onFault: (fault) => faults.push(fault) });
  hosted = made;
  await vi.waitFor(() => expect(made.isUp).toBe(true), WAIT);
  return made;
}

/** What it selects in a state, once it is followed. */
async function selected(own: HostedPolicy, state: Json): Promise<readonly string[]> {
  let found: HostedSelection;
  await vi.waitFor(async () => {
    found = await new Promise<HostedSelection>((resolve) => {
      own.select(state, ARMS, 'q', { context: '' }, resolve);
    });
    expect(found).toBeDefined();
  }, WAIT);
  return found !== undefined && 'selection' in found ? found.selection.arms : [];
}

function after(own: HostedPolicy, state: Json, label: string): Json {
  return own.policy.observe(state, { arms: ['a'], propensity: 1 }, [], { label }, { context: '' });
}

it('learns all but the feedback on which its process ends, once it is there again', async () => {
  const faults: PolicyFault[] = [];
  const own = await started(
    fileText({
      observe: `if (feedback.label === 'loop') for (;;);`,
      select: `return { arms: [state.learned === 5 ? 'b' : 'a'], propensity: 1 };`,
    }),
    faults,
  );
  let state = own.policy.init(['a', 'b'], null);
  for (const label of ['1', '2', '3', 'loop', '4', '5']) state = after(own, state, label);
  await vi.waitFor(async () => expect(await selected(own, state)).toEqual(['b']), WAIT);
  expect(own.restarts).toBe(2);
  expect(faults.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['stuck']));
  // What is kept can be learned by whoever reads it, without what it failed on.
  const kept = JSON.parse(JSON.stringify(after(own, state, '6'))) as { learned: { learned: number } };
  expect(kept.learned.learned).toBe(5);
});

it('goes on from a state that another server has kept, with what that had yet to learn', async () => {
  const own = await started(
    fileText({ select: `return { arms: [state.learned === 3 ? 'b' : 'a'], propensity: 1 };` }),
  );
  const learned = { schema: 1, policy: 'own', arms: ['a', 'b'], learned: 1 };
  const fresh = own.policy.init(['a', 'b'], null);
  const unlearned = (after(own, after(own, fresh, '1'), '2') as { unlearned: Json }).unlearned;
  const kept = { schema: 1, policy: 'file', arms: ['a', 'b'], parameters: null, learned, unlearned };
  const state = own.policy.restore(JSON.parse(JSON.stringify(kept)) as Json);
  await vi.waitFor(async () => expect(await selected(own, state)).toEqual(['b']), WAIT);
  expect(own.policy.shares(state)).toEqual(
    new Map([
      ['a', 0],
      ['b', 1],
    ]),
  );
});

it('begins contexts with what its prior makes of the application’s own state, and keeps that', async () => {
  const own = await started(
    fileText({
      more: 'prior(own) { return { ...own, learned: own.learned * 10 }; },',
      select: `return { arms: [state.learned >= 30 ? 'b' : 'a'], propensity: 1 };`,
    }),
  );
  const fresh = own.policy.init(['a', 'b'], null);
  expect(own.policy.prior?.(fresh)).toBe(fresh);
  const state = after(own, after(own, after(own, fresh, '1'), '2'), '3');
  await vi.waitFor(() => expect(own.policy.settled?.(state)).toMatchObject({ unlearned: [] }), WAIT);
  const began = own.policy.prior?.(state) ?? fresh;
  expect(await selected(own, began)).toEqual(['b']);
  // Before its first feedback is learned it is kept so, and comes back so.
  const kept = JSON.parse(JSON.stringify(after(own, began, '4'))) as Json;
  const restored = own.policy.restore(kept);
  expect(await selected(own, restored)).toEqual(['b']);
  await vi.waitFor(
    () => expect(own.policy.settled?.(restored)).toMatchObject({ learned: { learned: 31 }, unlearned: [] }),
    WAIT,
  );
  expect(own.policy.settled?.(restored)).not.toHaveProperty('isPrior');
});

it('refuses more feedback than it keeps while it cannot learn, and other states than its own', async () => {
  const own = await started(
    fileText({ observe: 'for (;;);' }).replace('for (;;);', `if (feedback.label === 'x') for (;;);`),
  );
  let state = own.policy.init(['a', 'b'], null);
  const all = (): void => {
    for (let at = 0; at <= 1000; at++) state = after(own, state, 'x');
  };
  expect(all).toThrow(/it has 1000 feedbacks to learn, as many as are kept/);
  for (const value of [
    null,
    {},
    { schema: 1, policy: 'exp3' },
    { ...(state as object), unlearned: [1] },
    { ...(state as object), isPrior: 1 },
  ])
    expect(() => own.policy.restore(value as Json)).toThrow(/no state of a policy from a file/);
});

it('asks no model that is not linked, whatever the process says', async () => {
  const faults: PolicyFault[] = [];
  const own = await started(
    fileText({ select: `if (state.arms[0] === 'a') return { arms: ['a', 'a'], propensity: 1 };` }),
    faults,
  );
  const state = own.policy.init(['a', 'b'], null);
  const found = await new Promise((resolve) => own.select(state, ARMS, 'q', { context: '' }, resolve));
  expect(found).toBeUndefined();
  expect(faults).toEqual([{ kind: 'bad_answer', message: `select gave 'a' twice` }]);
});

describe('a file that can never be followed', () => {
  it.each<[string, string, RegExp]>([
    [
      'asks one twice',
      fileText({ select: 'return { arms: [state.arms[0], state.arms[0]], propensity: 1 };' }),
      /^select gave "first" twice$/,
    ],
    [
      'asks nobody',
      fileText({ select: 'return { arms: [], propensity: 1 };' }),
      /^select gave no arms where models are linked: give one at least$/,
    ],
    [
      'has shares of others',
      fileText({ shares: 'return new Map([["first", 1]]);' }),
      /^shares gave \["first"\]: one of each of \["first","second"\], which are linked$/,
    ],
    [
      'has shares that are none',
      fileText({ shares: 'return new Map(state.arms.map((arm) => [arm, 7]));' }),
      /^shares gave \[\["first",7\],\["second",7\]\]: numbers from 0 that add up to one$/,
    ],
    [
      'forgets the state when it notices',
      fileText({ more: 'notice() {},' }),
      /^the state of notice is undefined/,
    ],
    ['throws when it escalates', fileText({ more: 'escalate() { throw 1; },' }), /^check threw 1$/],
    [
      'has a fault that is none',
      fileText({ more: 'featureFault() { return 3; },' }),
      /^featureFault gave 3: give/,
    ],
    [
      'has no end with other parameters',
      fileText({ more: 'withParameters() { for (;;); },' }),
      /^it did not come to an end within 5 s: it loops$/,
    ],
    [
      'has losses alone, without an end',
      'export const losses = { own: () => { for (;;); } };',
      /^it did not come to an end within 5 s: it loops$/,
    ],
    [
      'has losses without number',
      'export const losses = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`own${at}`, () => 0]));',
      /^`losses` may have 64 names, of 1 to 64 characters each$/,
    ],
    [
      'has parameters without number',
      fileText({}).replace('parameters: []', `parameters: new Array(65).fill('own')`),
      /^`parameters` may have 64 names/,
    ],
    ['waits while it is loaded', `${fileText({})}\nawait 1;`, /^own\.mjs:\d+: awaits while it is loaded/],
    [
      'is of CommonJS',
      fileText({}).replace('export default', 'module.exports ='),
      /is not defined .*: a policy file is an ES module/,
    ],
    [
      'is of TypeScript',
      'interface Own {}',
      /^own\.mjs:1: .*: a policy file is an ES module in JavaScript, to which TypeScript is compiled before$/,
    ],
    [
      'nests without end',
      `export default ${'['.repeat(60_000)}`,
      /^own\.mjs: is nested deeper than can be read$/,
    ],
  ])('since it %s is refused', async (_, text, message) => {
    const refusal = await checkFile({ name: 'own.mjs', text }, { parameters: null }).then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    expect(refusal.replace('own.mjs: ', refusal.includes('nested') ? 'own.mjs: ' : '')).toMatch(message);
  });
});

it('tries files a few at a time, so that others are served meanwhile', async () => {
  const looping = { name: 'own.mjs', text: 'for (;;);' };
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, childrenOf(process.pid));
  }, 50);
  const order: string[] = [];
  const loops = Array.from({ length: 5 }, () =>
    checkFile(looping, { parameters: null }).finally(() => order.push('loops')),
  );
  const good = checkFile({ name: 'good.mjs', text: fileText({}) }, { parameters: null }).then(() =>
    order.push('good'),
  );
  const refusals = await Promise.allSettled(loops);
  await good;
  clearInterval(look);
  // All are tried shortly before any is tried for long.
  expect(order[0]).toBe('good');
  expect(refusals.map(({ status }) => status)).toEqual(new Array(5).fill('rejected'));
  expect(most).toBeGreaterThan(0);
  // Two, and those that have just been ended.
  expect(most).toBeLessThan(5);
});

/** Processes that the threads of this one have started. */
function childrenOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.length;
}
