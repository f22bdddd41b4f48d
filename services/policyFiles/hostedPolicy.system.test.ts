import { afterEach, expect, it, vi } from 'vitest';
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

it('refuses more feedback than it keeps while it cannot learn, and other states than its own', async () => {
  const own = await started(
    fileText({ observe: 'for (;;);' }).replace('for (;;);', `if (feedback.label === 'x') for (;;);`),
  );
  let state = own.policy.init(['a', 'b'], null);
  const all = (): void => {
    for (let at = 0; at <= 1000; at++) state = after(own, state, 'x');
  };
  expect(all).toThrow(/it has 1000 feedbacks to learn, as many as are kept/);
  for (const value of [null, {}, { schema: 1, policy: 'exp3' }, { ...(state as object), unlearned: [1] }])
    expect(() => own.policy.restore(value as Json)).toThrow(/no state of a policy from a file/);
});

it('asks no model that is not linked, whatever the process says', async () => {
  const faults: PolicyFault[] = [];
  const own = await started(fileText({ select: `return { arms: ['a', 'a'], propensity: 1 };` }), faults);
  const state = own.policy.init(['a', 'b'], null);
  const found = await new Promise((resolve) => own.select(state, ARMS, 'q', { context: '' }, resolve));
  expect(found).toBeUndefined();
  expect(faults).toEqual([{ kind: 'bad_answer', message: `select gave 'a' twice` }]);
});
