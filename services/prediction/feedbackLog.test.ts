import { expect, it } from 'vitest';
import type { LoggedFeedback } from '../../selection/index.js';
import { SilentObserver } from './index.js';
import { Serving } from './tests/serving.js';

/** After what waits for the store. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Writer extends SilentObserver {
  readonly lines: LoggedFeedback[] = [];
  isOn = true;

  override get writesFeedback(): boolean {
    return this.isOn;
  }

  override onJudged(judged: LoggedFeedback): void {
    this.lines.push(judged);
  }
}

function serving(policy: string): { readonly one: Serving; readonly writer: Writer } {
  const writer = new Writer();
  const one = new Serving({ seed: 7, observer: writer });
  one.registry.addApplication('app', policy, {}).addModel('m').addModel('n').link('app', 'm', 'n');
  for (const model of ['m', 'n']) one.container({ model, output: () => model });
  return { one, writer };
}

async function round(one: Serving, at: number, label = 'm'): Promise<string> {
  const queryId = one.predict(at, { features: { x: at } });
  one.run();
  one.feedback({ queryId, label });
  // The store has written it.
  await settled();
  return queryId;
}

it('has each judged query once, with features, propensity and losses', async () => {
  const { one, writer } = serving('exp3');
  for (let at = 1; at <= 30; at++) await round(one, at);
  expect(writer.lines).toHaveLength(30);
  const asked = new Set<string>();
  for (const [at, line] of writer.lines.entries()) {
    const [arm] = Object.keys(line.losses);
    asked.add(arm);
    expect(line).toMatchObject({ application: 'app', policy: 'exp3', context: '', linked: ['m', 'n'] });
    expect(line.features).toEqual({ x: at + 1 });
    expect(line.losses).toEqual({ [arm]: arm === 'm' ? 0 : 1 });
    expect(line.propensity).toBeGreaterThan(0);
    expect(line.propensity).toBeLessThan(1);
  }
  expect([...asked].sort()).toEqual(['m', 'n']);
  const queryId = await round(one, 31);
  expect(one.feedback({ queryId, label: 'n' }).outcome).toMatchObject({ joined: 'repeated' });
  await settled();
  expect(writer.lines).toHaveLength(31);
});

it('has no propensity where nobody knows it, all losses of an ensemble, and nothing while nobody writes', async () => {
  const drawn = serving('thompson');
  await round(drawn.one, 1);
  expect(drawn.writer.lines[0]).toMatchObject({ policy: 'thompson', propensity: undefined });
  const { one, writer } = serving('majority');
  await round(one, 1);
  expect(writer.lines).toMatchObject([{ propensity: 1, losses: { m: 0, n: 1 } }]);
  writer.isOn = false;
  await round(one, 2);
  expect(writer.lines).toHaveLength(1);
});
