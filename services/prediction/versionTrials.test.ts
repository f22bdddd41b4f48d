import { describe, expect, it } from 'vitest';
import type { Json, Trial } from '../../selection/index.js';
import type { CanaryRecord } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Serving, type TestContainerOptions } from './tests/serving.js';

const MS = 1e6;
const STEPS: Json = { steps: [0.5], queries: 20 };
const fails: TestContainerOptions['answer'] = ({ items }) =>
  items.map(({ id }) => ({ id, ok: false, code: 'modelError', message: 'no' }));

/** Version 1 of 'm' serves, version 2 is tried beside it. */
class Trying {
  readonly ended: { record: CanaryRecord; trial: Trial }[] = [];
  readonly serving: Serving;

  constructor(
    candidate: Partial<TestContainerOptions> | null = {},
    parameters: Json = STEPS,
    policy = 'static',
    store = new MemoryStore(),
  ) {
    this.serving = new Serving({
      seed: 7,
      store,
      onTrialEnded: (record, trial) => this.ended.push({ record, trial }),
    });
    const { registry } = this.serving;
    registry.addApplication('app', policy).addModel('m', '2').addModel('m', '1').link('app', 'm');
    registry.putCanary({ model: 'm', candidate: '2', incumbent: '1', number: 1, parameters });
    this.serving.container({ version: '1', output: () => 'one', serviceNs: () => MS });
    if (candidate !== null)
      this.serving.container({ version: '2', output: () => 'two', serviceNs: () => MS, ...candidate });
  }

  /** @returns what answered, and with what */
  ask(queries: number, label?: string, context = ''): string[] {
    return Array.from({ length: queries }, () => {
      const queryId = this.serving.predict(this.serving.answers.length + 1, { context });
      this.serving.run();
      if (label !== undefined) this.serving.feedback({ queryId, label });
      const { output, models } = this.serving.answer(queryId);
      return `${output} of ${models.map(({ version }) => version).join()}`;
    });
  }

  async settled(): Promise<Trial | undefined> {
    this.serving.engine.flush(() => undefined);
    await Promise.resolve();
    return this.ended[0]?.trial ?? this.serving.engine.trials()[0]?.trial;
  }
}

describe('a version that is tried', () => {
  it('gets its share below a policy that knows nothing of it, and answers under its own name', async () => {
    const trying = new Trying();
    const answers = trying.ask(60);
    expect(new Set(answers)).toEqual(new Set(['one of 1', 'two of 2']));
    expect(trying.serving.engine.trials()).toMatchObject([{ share: 0.5, record: { candidate: '2' } }]);
    expect(await trying.settled()).toMatchObject({ phase: 'ramping' });
    // Both versions, each with its own predictions.
    const kept = trying.serving.engine.cacheStats();
    expect(kept.entries).toBe(120);
  });

  it('keeps a context with its version', () => {
    const trying = new Trying();
    const byContext = ['a', 'b', 'c', 'd', 'e', 'f'].map(
      (context) => new Set(trying.ask(8, undefined, context)),
    );
    expect(byContext.every((answers) => answers.size === 1)).toBe(true);
    expect(new Set(byContext.flatMap((answers) => [...answers])).size).toBe(2);
  });

  it('gets nothing while no replica of it is up, and nothing is held against it', async () => {
    const trying = new Trying(null);
    expect(new Set(trying.ask(40, 'one'))).toEqual(new Set(['one of 1']));
    expect(trying.serving.engine.trials()).toMatchObject([{ share: 0, trial: { asked: 0 } }]);
    expect(await trying.settled()).toMatchObject({ phase: 'ramping' });
  });

  it.each<[string, Partial<TestContainerOptions>, string | undefined, RegExp]>([
    ['answers wrong', {}, 'one', /^loss: it loses 1 over \d+ judged queries, '1' 0 over \d+$/],
    ['fails', { answer: fails }, undefined, /^errors: it failed \d+ of \d+ times, '1' 0 of/],
    ['is slow', { serviceNs: () => 8 * MS }, undefined, /^latency: it was late, or slower than/],
    ['is late', { serviceNs: () => 50 * MS }, undefined, /^latency: it was late/],
  ])('falls back at once where it %s, and says why', async (_what, candidate, label, reason) => {
    const trying = new Trying(candidate);
    trying.ask(300, label);
    const trial = await trying.settled();
    expect(trial).toMatchObject({ phase: 'withdrawn', reason: expect.stringMatching(reason) as string });
    expect(trying.ended).toHaveLength(1);
    expect(new Set(trying.ask(30))).toEqual(new Set(['one of 1']));
  });

  it('is promoted when it is shown to be no worse', async () => {
    const trying = new Trying({ output: () => 'one' });
    trying.ask(1500, 'one');
    expect(await trying.settled()).toMatchObject({ phase: 'promoted' });
    expect(new Set(trying.ask(20))).toEqual(new Set(['one of 2']));
    expect(trying.ended).toMatchObject([{ record: { model: 'm', candidate: '2', number: 1 } }]);
  });

  it('spoils no answer when it fails: the one that serves is asked, as it would be the other way round', () => {
    const trying = new Trying({ answer: fails });
    expect(new Set(trying.ask(40))).toEqual(new Set(['one of 1']));
    const turned = new Trying();
    for (const container of [turned.serving.container({ version: '1', replica: 'r1', answer: fails })]) {
      expect(container.items).toBe(0);
    }
    const answers = turned.ask(60);
    expect(answers.some((answer) => answer === 'two of 2')).toBe(true);
    expect(turned.serving.answers.every(({ isDefault }) => !isDefault)).toBe(true);
  });

  it('takes its input where the one that serves refuses it, and both together refuse it', () => {
    const refuses: TestContainerOptions['answer'] = ({ items }) =>
      items.map(({ id }) => ({ id, ok: false, code: 'invalidInput', message: 'not this' }));
    const trying = new Trying({ answer: refuses });
    expect(new Set(trying.ask(30))).toEqual(new Set(['one of 1']));
    expect(trying.serving.refusals).toEqual([]);
  });

  it('is judged below a policy that learns, which gets the credit of the model', async () => {
    const trying = new Trying({}, STEPS, 'ucb1');
    trying.ask(20, 'one');
    const tally = trying.serving.engine.states('app')?.own.state as { judged: number[]; rewarded: number[] };
    expect(tally.judged[0]).toBeGreaterThan(19);
    // As many as version 1 answered.
    expect(tally.rewarded[0]).toBeLessThan(19);
    const trial = await trying.settled();
    expect(trial?.rails.loss.incumbent.count).toBeGreaterThan(0);
    expect(trial?.rails.loss.candidate.sum).toBe(trial?.rails.loss.candidate.count);
  });

  it('is judged by a loss of the answer alone, of queries that were drawn', async () => {
    const trying = new Trying();
    for (let at = 0; at < 40; at++) {
      const queryId = trying.serving.predict(at);
      trying.serving.run();
      const loss = trying.serving.answer(queryId).output === 'two' ? 1 : 0;
      trying.serving.feedback({ queryId, loss });
    }
    expect(await trying.settled()).toMatchObject({
      phase: 'withdrawn',
      reason: expect.stringMatching(/^loss/) as string,
    });
  });

  it('leaves polls, and queries that name a version, alone', () => {
    const trying = new Trying();
    const queryIds = Array.from({ length: 20 }, (_, at) => trying.serving.predict(at, { version: '2' }));
    trying.serving.run();
    for (const queryId of queryIds) expect(trying.serving.answer(queryId).output).toBe('two');
    expect(trying.serving.engine.trials()).toMatchObject([{ trial: { asked: 0 } }]);
  });

  it('goes on after a restart with what was seen, and another trial begins anew', async () => {
    const store = new MemoryStore();
    const first = new Trying({}, { steps: [0.2, 0.5], queries: 30 }, 'static', store);
    first.ask(400);
    const before = await first.settled();
    expect(before).toMatchObject({ phase: 'ramping', step: 1 });
    const again = new Trying({}, { steps: [0.2, 0.5], queries: 30 }, 'static', store);
    expect(again.serving.engine.trials()[0].trial).toEqual(before);
    const record = { model: 'm', candidate: '2', incumbent: '1', number: 2, parameters: STEPS };
    again.serving.registry.putCanary(record);
    expect(again.serving.engine.trials()[0].trial).toMatchObject({ step: 0, asked: 0 });
    expect(store.list('canary/').map(({ key }) => key)).not.toContain('canary/m/1');
  });

  it('that was judged before a restart is told again, until the registry has it', async () => {
    const store = new MemoryStore();
    const first = new Trying({ answer: fails }, STEPS, 'static', store);
    first.ask(100);
    expect(await first.settled()).toMatchObject({ phase: 'withdrawn' });
    const again = new Trying({}, STEPS, 'static', store);
    expect(new Set(again.ask(10))).toEqual(new Set(['one of 1']));
    await Promise.resolve();
    expect(again.ended).toHaveLength(1);
    const record = { model: 'm', candidate: '2', incumbent: '1', number: 1, parameters: STEPS };
    again.serving.registry.putCanary({ ...record, end: { kind: 'withdrawn', reason: 'so' } });
    expect(again.serving.engine.trials()).toEqual([]);
  });

  it('is judged by two servers together', async () => {
    const store = new MemoryStore();
    const [one, other] = [0, 1].map(() => new Trying({}, STEPS, 'static', store));
    const both = async (queries: number): Promise<void> => {
      for (const trying of [one, other]) {
        trying.ask(queries, 'one');
        await new Promise<void>((resolve) => trying.serving.engine.flush(resolve));
      }
    };
    await both(3);
    for (const { serving } of [one, other]) {
      expect(serving.engine.trials()).toMatchObject([
        { trial: { rails: { loss: { candidate: { count: 6 } } } } },
      ]);
    }
    await both(40);
    expect(await one.settled()).toMatchObject({ phase: 'withdrawn' });
    expect(await other.settled()).toMatchObject({ phase: 'withdrawn' });
    expect(store.list('canary/')).toHaveLength(1);
    expect(new Set(other.ask(10))).toEqual(new Set(['one of 1']));
  });
});
