import { describe, expect, it } from 'vitest';
import {
  canaryPolicy,
  checkPolicy,
  KeyedDraw,
  trialOf,
  type ArmOutcome,
  type CanaryState,
  type Json,
  type Selection,
} from '../index.js';
import { gathered, NO_EVIDENCE, strength } from './evidence.js';
import { afterOne, isBroken, isProven, NEW_RAIL, type Rail } from './rail.js';

const BOTH = ['old', 'new'];
const answered = (arm: string, latencyMs = 5, isCached = false): ArmOutcome => ({
  arm,
  kind: 'answered',
  latencyMs,
  isCached,
});

/** So many queries, of which the candidate is asked its share; nobody judges them. */
function live(
  first: CanaryState,
  queries: number,
  outcomesOf: (arm: string, at: number) => readonly ArmOutcome[],
): CanaryState {
  const draw = new KeyedDraw(3);
  let state = first;
  for (let at = 0; at < queries; at++) {
    const [arm] = canaryPolicy.select(state, draw.of(`${at}`)).arms;
    state = canaryPolicy.notice?.(state, [outcomesOf(arm, at)]) ?? state;
  }
  return state;
}

const init = (parameters: Json = null) => canaryPolicy.init(BOTH, parameters);

describe('evidence', () => {
  it('is shown of what is not so no more often than is said, however often somebody looks', () => {
    let shown = 0;
    for (let seed = 0; seed < 400; seed++) {
      const next = new KeyedDraw(seed).of('stream');
      let evidence = NO_EVIDENCE;
      for (let at = 0; at < 1500; at++) {
        const drawn = next();
        const value = drawn < 0.05 ? 1 : drawn < 0.1 ? -1 : 0;
        evidence = gathered(evidence, { value, scale: 1, least: -1, most: 1 }, 0.02);
        if (strength(evidence) >= Math.log(20)) {
          shown += 1;
          break;
        }
      }
    }
    // 20 of 400 at most, and 4.4 more or less by chance.
    expect(shown).toBeLessThan(33);
    expect(shown).toBeGreaterThan(0);
  });

  it('holds whatever the share, which may change, and whatever strikes both alike', () => {
    let broken = 0;
    let proven = 0;
    for (let seed = 0; seed < 300; seed++) {
      const next = new KeyedDraw(seed).of('outage');
      let rail: Rail = NEW_RAIL;
      let isBad = false;
      for (let at = 0; at < 1500 && !isBad; at++) {
        const share = at < 500 ? 0.05 : 0.5;
        // An outage of ten queries in every hundred.
        const loss = at % 100 < 10 ? 1 : 0;
        rail = afterOne(rail, next() < share, loss, share, 0.02);
        isBad = isBroken(rail, 0.05, 1);
      }
      if (isBad) broken += 1;
      else if (isProven(rail, 0.05)) proven += 1;
    }
    expect(broken).toBeLessThan(25);
    expect(proven).toBeLessThan(300);
  });

  it('stakes so little that no single observation decides', () => {
    let evidence = NO_EVIDENCE;
    for (let at = 0; at < 100_000; at++)
      evidence = gathered(evidence, { value: 0, scale: 0.01, least: -0.01, most: 0.99 }, 0.02);
    const before = strength(evidence);
    evidence = gathered(evidence, { value: 0.99, scale: 0.01, least: -0.01, most: 0.99 }, 0.02);
    expect(strength(evidence) - before).toBeLessThanOrEqual(Math.log(3) + 1e-9);
    expect(strength(evidence)).toBeGreaterThan(before);
  });
});

describe('canary', () => {
  it('gives the candidate its share, asks the other one beside it, and says so', () => {
    const state = init({ steps: [0.2] });
    const draw = new KeyedDraw(1);
    const chosen = Array.from({ length: 5000 }, (_, at) => canaryPolicy.select(state, draw.of(`${at}`)));
    const tried = chosen.filter(({ arms }) => arms[0] === 'new');
    expect(Math.abs(tried.length / 5000 - 0.2)).toBeLessThan(0.02);
    for (const { arms, shadows, propensity } of chosen) {
      expect([...arms, ...(shadows ?? [])].sort()).toEqual(['new', 'old']);
      expect(propensity).toBeCloseTo(arms[0] === 'new' ? 0.2 : 0.8, 12);
    }
    expect([...canaryPolicy.shares(state)]).toEqual([
      ['old', 0.8],
      ['new', 0.2],
    ]);
  });

  it('keeps a context with its model while the share grows, in one direction', () => {
    const served = (share: number) =>
      Array.from({ length: 2000 }, (_, at) => {
        const { arms, propensity } = canaryPolicy.select(init({ steps: [share] }), () => 0.5, {
          context: `user ${at}`,
        });
        expect(propensity).toBe(1);
        return arms[0];
      });
    const [few, more] = [served(0.1), served(0.5)];
    expect(few.filter((arm) => arm === 'new').length).toBeGreaterThan(100);
    expect(few.filter((arm, at) => arm === 'new' && more[at] !== 'new')).toEqual([]);
    expect(served(0.1)).toEqual(few);
  });

  it('compares a share of the queries only, where it is told', () => {
    const state = init({ compared: 0.25 });
    const draw = new KeyedDraw(1);
    const chosen = Array.from({ length: 4000 }, (_, at) => canaryPolicy.select(state, draw.of(`${at}`)));
    expect(Math.abs(chosen.filter(({ shadows }) => shadows !== undefined).length / 4000 - 0.25)).toBeLessThan(
      0.03,
    );
    expect(canaryPolicy.select(init({ loss: null }), () => 0).shadows).toBeUndefined();
  });

  it('goes up step by step as long as all is well, and is promoted once it is shown to be no worse', () => {
    const parameters = { loss: null, steps: [0.1, 0.4], queries: 20 };
    let state = live(init(parameters), 60, (arm) => [answered(arm)]);
    expect(trialOf(state)).toMatchObject({ phase: 'ramping', step: 0 });
    state = live(state, 300, (arm) => [answered(arm)]);
    expect(trialOf(state)).toMatchObject({ phase: 'ramping', step: 1 });
    expect(canaryPolicy.shares(state).get('new')).toBeCloseTo(0.4, 12);
    state = live(state, 3000, (arm) => [answered(arm)]);
    expect(trialOf(state)).toMatchObject({ phase: 'promoted' });
    expect(trialOf(state)?.reason).toMatch(/^it failed 0 of \d+ times, 'old' 0 of \d+ times; it was late/);
    expect(canaryPolicy.select(state, () => 0.99)).toEqual({ arms: ['new'], propensity: 1 });
    // The old one may go; another one that comes is a candidate again.
    const without = canaryPolicy.reconcile(state, ['new']);
    expect(canaryPolicy.select(without, () => 0.5).arms).toEqual(['new']);
    const next = canaryPolicy.reconcile(without, ['new', 'newer']);
    expect(trialOf(next)).toMatchObject({ incumbent: 'new', candidate: 'newer', phase: 'ramping', step: 0 });
  });

  it.each<[string, (arm: string, at: number) => readonly ArmOutcome[], RegExp]>([
    [
      'fails where the other one does not',
      (arm) => (arm === 'new' ? [{ arm, kind: 'failed' }, answered('old')] : [answered(arm)]),
      /^errors: it failed \d+ of \d+ times, 'old' 0 of \d+ times$/,
    ],
    [
      'is late',
      (arm) => [arm === 'new' ? { arm, kind: 'late' } : answered(arm)],
      /^latency: it was late, or slower than \d\.\d+ ms, \d+ of \d+ times/,
    ],
    [
      'is slow',
      (arm) => [answered(arm, arm === 'new' ? 50 : 5)],
      /^latency: it was late, or slower than \d+(\.\d+)? ms/,
    ],
  ])('withdraws one that %s, for good, and says why', (_what, outcomesOf, reason) => {
    let state = live(init(), 2000, outcomesOf);
    const trial = trialOf(state);
    expect(trial).toMatchObject({ phase: 'withdrawn', step: 0 });
    expect(trial?.reason).toMatch(reason);
    expect(canaryPolicy.select(state, () => 0)).toEqual({ arms: ['old'], propensity: 1 });
    state = live(state, 500, (arm) => [answered(arm)]);
    expect(trialOf(state)).toEqual(trial);
    // Unless somebody tries another one.
    expect(trialOf({ ...state, arms: ['old', 'newer'] })).toMatchObject({ phase: 'ramping' });
  });

  it('names no limit where none was known: the candidate was late before anybody knew what is usual', () => {
    const state = live(init({ steps: [0.5] }), 40, (arm) => [
      arm === 'new' ? { arm, kind: 'late' } : answered(arm),
    ]);
    expect(trialOf(state)?.reason).toMatch(/^latency: it was late \d+ of \d+ times, 'old' 0 of \d+ times$/);
  });

  it('notices what comes only with a larger share', () => {
    const parameters = { loss: null, queries: 200 };
    let state = init(parameters);
    const draw = new KeyedDraw(8);
    for (let at = 0; at < 20_000 && (trialOf(state)?.phase ?? 'ramping') === 'ramping'; at++) {
      const isCrowded = (trialOf(state)?.step ?? 0) > 1;
      const [arm] = canaryPolicy.select(state, draw.of(`${at}`)).arms;
      const outcome =
        arm === 'new' && isCrowded && at % 5 === 0 ? ({ arm, kind: 'late' } as const) : answered(arm);
      state = canaryPolicy.notice?.(state, [[outcome]]) ?? state;
    }
    expect(trialOf(state)).toMatchObject({ phase: 'withdrawn', step: 2 });
  });

  it.each<[string, (arm: string, at: number) => readonly ArmOutcome[]]>([
    [
      'fail with both',
      (arm) => [
        { arm, kind: 'failed' },
        { arm: arm === 'new' ? 'old' : 'new', kind: 'failed' },
      ],
    ],
    ['fail with either now and then', (arm, at) => [at % 7 === 0 ? { arm, kind: 'failed' } : answered(arm)]],
    [
      'come from the cache with the old one',
      (arm) => [answered(arm, arm === 'new' ? 20 : 0.1, arm === 'old')],
    ],
    ['are asked of nobody who is there', (arm) => [{ arm, kind: 'absent' }]],
  ])('holds nothing against a candidate of queries that %s', (_what, outcomesOf) => {
    expect(trialOf(live(init(), 3000, outcomesOf))).toMatchObject({ phase: 'ramping' });
  });

  it('asks the other one where one fails, and answers with it', () => {
    const state = init();
    const arrived = [{ arm: 'old', output: 'x' }];
    expect(canaryPolicy.escalate?.(state, ['new'], [])).toBe('old');
    expect(canaryPolicy.escalate?.(state, ['old'], [])).toBe('new');
    expect(canaryPolicy.escalate?.(state, ['old'], arrived)).toBeUndefined();
    expect(canaryPolicy.escalate?.(state, ['new', 'old'], [])).toBeUndefined();
    expect(canaryPolicy.combine(state, ['new', 'old'], arrived)).toEqual({ output: 'x', confidence: 1 });
  });

  const judge = (
    state: CanaryState,
    outputs: Readonly<Record<string, string>>,
    feedback: Parameters<typeof canaryPolicy.observe>[3],
    selection: Parameters<typeof canaryPolicy.observe>[1] = {
      arms: ['old'],
      shadows: ['new'],
      propensity: 0.95,
    },
  ) =>
    trialOf(
      canaryPolicy.observe(
        state,
        selection,
        Object.entries(outputs).map(([arm, output]) => ({ arm, output })),
        feedback,
      ),
    )?.rails.loss;

  it('judges both by a label where both have answered, and one alone where that was drawn', () => {
    const label = { label: 'y' };
    expect(judge(init(), { old: 'y', new: 'n' }, label)).toMatchObject({
      candidate: { count: 1, sum: 1 },
      incumbent: { count: 1, sum: 0 },
    });
    // A shadow that has not answered says nothing, nor what failed and went to the other one, nor a context that keeps its model.
    const { loss } = newRails();
    expect(judge(init(), { old: 'y' }, label)).toEqual(loss);
    expect(judge(init(), { old: 'y' }, label, { arms: ['new', 'old'], propensity: 0.05 })).toEqual(loss);
    expect(judge(init(), { new: 'n' }, { label: '', loss: 1 }, { arms: ['new'], propensity: 1 })).toEqual(
      loss,
    );
    expect(judge(init(), { new: 'n' }, label, { arms: ['new'], propensity: 0.05 })).toMatchObject({
      candidate: { count: 1, sum: 1 },
      incumbent: { count: 0 },
    });
    const losses = { old: 0.25, new: 0.5 };
    expect(judge(init(), { old: 'y', new: 'n' }, { label: '', losses })).toMatchObject({
      candidate: { sum: 0.5 },
      incumbent: { sum: 0.25 },
    });
    expect(judge(init({ loss: null }), { old: 'y', new: 'n' }, label)).toEqual(loss);
  });

  it('weighs what it hears late by the share of its draw, not by that of now', () => {
    // Feedback 1,500 queries later, when the share has grown twice: by it the old one would seem to lose nine times as much.
    for (let seed = 0; seed < 5; seed++) {
      const draws = new KeyedDraw(seed);
      const waiting: { readonly selection: Selection; readonly loss: number }[] = [];
      let state = init({ compared: 0 });
      for (let at = 0; at < 30_000 && trialOf(state)?.phase === 'ramping'; at++) {
        const draw = draws.of(`${at}`);
        const selection = canaryPolicy.select(state, draw);
        const [arm] = selection.arms;
        state = canaryPolicy.notice?.(state, [[answered(arm)]]) ?? state;
        waiting.push({ selection, loss: draw() < (arm === 'new' ? 0.3 : 0.1) ? 1 : 0 });
        const judged = at < 1500 ? undefined : waiting.at(at - 1500);
        if (judged === undefined) continue;
        const predictions = [{ arm: judged.selection.arms[0], output: 'x' }];
        state = canaryPolicy.observe(state, judged.selection, predictions, { label: '', loss: judged.loss });
      }
      expect(trialOf(state)).toMatchObject({ phase: 'withdrawn' });
    }
  });

  it.each(['', 'anna'])(
    'weighs an outcome by the share of when its query came, with context %j',
    (context) => {
      const early = canaryPolicy.select(init({ steps: [0.2, 0.5], loss: null }), () => 0.5, { context });
      const { propensity, share = propensity } = early;
      expect(share).toBeCloseTo(early.arms[0] === 'new' ? 0.2 : 0.8, 12);
      const grown = init({ steps: [0.5], loss: null });
      const outcome = { arm: 'new', kind: 'late' } as const;
      const weighed = (first: ArmOutcome) => trialOf(canaryPolicy.notice?.(grown, [[first]]) ?? grown)?.rails;
      const once = afterOne(NEW_RAIL, true, 1, 0.2, 0.05);
      expect(weighed({ ...outcome, share: 0.2 })?.latency).toEqual(once);
      expect(weighed(outcome)?.latency).not.toEqual(once);
      // Nobody else was to be had: it was before the trial.
      expect(weighed({ ...outcome, arm: 'old', share: 1 })).toEqual(newRails());
    },
  );

  it('learns nothing of queries that were asked beside another candidate', () => {
    const selection = { arms: ['old'], shadows: ['former'], propensity: 0.5 };
    expect(judge(init(), { old: 'n', former: 'y' }, { label: 'y' }, selection)).toEqual(newRails().loss);
  });

  it('goes on from a state that was kept in the midst', () => {
    const half = live(init(), 700, (arm) => [answered(arm)]);
    const kept = canaryPolicy.restore(JSON.parse(JSON.stringify(half)) as Json);
    expect(kept).toEqual(half);
    expect(live(kept, 900, (arm) => [answered(arm)])).toEqual(live(half, 900, (arm) => [answered(arm)]));
  });

  it.each<[Json, RegExp]>([
    [{ steps: [] }, /^steps must be a list of up to 16 shares/],
    [{ steps: [0.5, 0.2] }, /^steps must be a list/],
    [{ steps: [0.5, 1] }, /^steps must be a list/],
    [{ steps: [1e-300] }, /^steps must be a list of up to 16 shares from 0.0001 to 0.9999/],
    [{ steps: [1 - 1e-16] }, /^steps must be a list/],
    [{ loss: 1e-300 }, /^loss must be at least 0.0001, or null, not 1e-300/],
    [{ errors: 0.00009 }, /^errors must be at least 0.0001/],
    [{ queries: 1e9 }, /^queries must be a number above 0 and at most 1000000,/],
    [{ queries: 1.5 }, /^queries must be a whole number/],
    [{ queries: 0 }, /^queries must be a number above 0/],
    [{ loss: 2 }, /^loss must be a number above 0 and at most 1/],
    [{ latency: 1 }, /^latency must be a number above 1/],
    [{ errors: 0 }, /^errors must be a number above 0/],
    [{ confidence: 1 }, /^confidence must be a number from 0.5/],
    [{ compared: -1 }, /^compared must be a number from 0 to 1/],
    [{ model: 'a', candidate: 'a' }, /^candidate must be another model than 'a'/],
  ])('refuses %j', (parameters, says) => {
    expect(() => checkPolicy('canary', parameters)).toThrow(says);
  });
});

function newRails() {
  const trial = trialOf(init());
  if (trial === undefined) throw new Error('nothing is tried');
  return trial.rails;
}
