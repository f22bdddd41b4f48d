import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, floats, InferenceHarness, pixels } from '../tests/inference/inferenceHarness.js';

let harness: InferenceHarness;

beforeAll(async () => {
  harness = await InferenceHarness.start();
});
afterAll(() => harness.close());
beforeEach(() => harness.reset());

function scored(scores: Float32Array): void {
  harness.service.vote = ({ model, version }) => ({
    name: model,
    version,
    cached: false,
    output: '7',
    scores,
  });
}

const classes = (name: string, classification: unknown) => ({
  ...pixels(2),
  outputs: [{ name, parameters: { classification } }],
});

describe('classification', () => {
  it('gives value, index and label of the highest classes of each row; of equal ones the first; NaN last', async () => {
    scored(Float32Array.of(0.25, NaN, 3, 0.1, 3, -1, 0, 0, 0, 0));
    const answer = await harness.infer('digits', classes('scores', 3));
    expect(answer.json).toMatchObject({
      outputs: [
        {
          name: 'scores',
          datatype: 'BYTES',
          shape: [2, 3],
          parameters: { classification: 3 },
          data: ['3:2:2', '3:4:4', '0.25:0:0', '3:2:2', '3:4:4', '0.25:0:0'],
        },
      ],
    });
    const all = await harness.infer('digits', classes('scores', 10));
    const { outputs } = all.json as { outputs: { data: string[] }[] };
    expect(outputs[0].data.slice(8, 10)).toEqual(['-1:5:5', 'NaN:1:1']);
  });

  it('of 0 classes is none', async () => {
    scored(new Float32Array(10));
    const answer = await harness.infer('digits', classes('scores', 0));
    expect(answer.json).toMatchObject({ outputs: [{ datatype: 'FP32', shape: [2, 10] }] });
  });

  it.each([
    ['more classes than there are', classes('scores', 11), "'scores' has 10 classes, 11 are asked for"],
    ['an output of one element', classes('label', 1), "'label' has one element a row"],
    ['half a class', classes('scores', 1.5), 'outputs[0].parameters.classification must be a whole number'],
    ['a text', classes('scores', '1'), 'outputs[0].parameters.classification must be a whole number'],
    [
      'a parameter of the request',
      { ...floats([[1]]), ...pixels(), parameters: { classification: 1 } },
      "'classification' is a parameter of an output",
    ],
  ])('refuses %s, and calls no model', async (_what, body, says) => {
    const answer = await harness.infer('digits', body);
    expect([answer.status, errorOf(answer).includes(says)], answer.text).toEqual([400, true]);
    expect(harness.service.evaluations).toEqual([]);
  });
});
