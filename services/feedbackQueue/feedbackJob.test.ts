import { expect, it } from 'vitest';
import { bytesOf, idsOf, isFeedbackJob, queued, resolvedOf } from './feedbackJob.js';
import type { ResolvedFeedback } from '../prediction/index.js';
import { Serving } from '../prediction/tests/serving.js';
import { MemoryStore } from '../store/index.js';

const FEEDBACK: ResolvedFeedback = {
  application: 'app',
  context: 'anna',
  label: 'yes',
  loss: 0.25,
  queryId: 'q-1',
  selection: { arms: ['m'], propensity: 0.5 },
  predictions: [{ arm: 'm', output: 'no', scores: new Float32Array([0.25, 0.75]) }],
  features: { hour: 14, returning: 1 },
};

/** As it comes back from Redis, or from the spool's files. */
function passedOn(feedback: ResolvedFeedback): unknown {
  return JSON.parse(JSON.stringify(queued(feedback, idsOf(feedback), 'frontend', 1).job));
}

it('keeps the features of a query with its selection, and those of an input', () => {
  const job = passedOn(FEEDBACK);
  if (!isFeedbackJob(job)) throw new Error('it is no job');
  expect(resolvedOf(job)).toMatchObject(FEEDBACK);
  const input = new Uint8Array([1, 2]);
  const byInput = passedOn({ ...FEEDBACK, selection: undefined, predictions: undefined, input });
  if (!isFeedbackJob(byInput)) throw new Error('it is no job');
  expect(resolvedOf(byInput)).toMatchObject({ input, features: FEEDBACK.features });
  expect(bytesOf(job) - bytesOf({ ...job, features: undefined })).toBeGreaterThan('hourreturning'.length);
});

it.each([[[1]], [{ hour: '14' }], [{ hour: null }], ['hour'], [null]])(
  'takes nothing from others whose features are %j',
  (features) => {
    expect(isFeedbackJob({ ...(passedOn(FEEDBACK) as object), features })).toBe(false);
  },
);

/** An engine over what others have stored. */
function engineOver(store: MemoryStore): Serving {
  const serving = new Serving({ store });
  serving.registry
    .addApplication('app', 'linucb', { features: ['x'], forgetting: 1 })
    .addModel('m')
    .link('app', 'm');
  serving.container({ output: () => 'low' });
  return serving;
}

it('lets another process learn from features of a query that it never saw', () => {
  const store = new MemoryStore();
  const asked = engineOver(store);
  const queryId = asked.predict(1, { features: { x: 3 } });
  asked.run();
  const judgement = asked.engine.desk.judge({ application: 'app', context: '', queryId, label: 'low' });
  if (judgement.kind !== 'resolved') throw new Error(judgement.kind);
  const job = passedOn(judgement.feedback);
  if (!isFeedbackJob(job)) throw new Error('it is no job');
  engineOver(store).engine.desk.learn(resolvedOf(job), undefined, () => undefined);
  expect(store.get('selection/app/own')?.value).toMatchObject({ targets: [[1, 3]] });
});
