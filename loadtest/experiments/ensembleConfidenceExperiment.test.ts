import { expect, it } from 'vitest';
import { runEnsemble } from './ensembleConfidenceExperiment.js';

const truth = Uint8Array.of(1, 2, 3, 4);
const models = [
  [1, 2, 3, 9],
  [1, 2, 3, 9],
  [1, 2, 0, 9],
  [1, 2, 0, 4],
  [1, 0, 3, 4],
].map((labels, at) => ({ name: `model ${at}`, labels: Uint8Array.from(labels) }));

it('parts digits by how many agree with the answer', () => {
  expect(runEnsemble('majority', models, truth, 1)).toEqual({
    policy: 'majority',
    error: 0.25,
    splits: [
      { agree: 4, confident: { share: 0.5, error: 0 }, unsure: { share: 0.5, error: 0.5 } },
      { agree: 5, confident: { share: 0.25, error: 0 }, unsure: { share: 0.75, error: 1 / 3 } },
    ],
  });
});
