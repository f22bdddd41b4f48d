import { expect, it } from 'vitest';
import { bytesOf, idsOf, isFeedbackJob, queued, resolvedOf } from './feedbackJob.js';
import type { ResolvedFeedback } from '../prediction/index.js';

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
