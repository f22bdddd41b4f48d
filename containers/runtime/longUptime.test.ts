import { expect, it } from 'vitest';
import { builtInModelPath, digitAt, heldOutDigits } from '../models/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { FrontendDouble } from './tests/frontendDouble.js';
import { VirtualNode } from './virtualNode.js';

const DAY_NS = 86_400e9;
const MODELS = ['digits-linear-svm', 'digits-mlp'] as const;
const BATCHES = 60;
/** Of a clock that runs on nothing else: a batch takes a few dozen. */
const MOST_STEPS = 20_000;

/** What models answer batches of digits on one node whose clock has run for so long; time goes on by some hours meanwhile. */
function answersAfter(startNs: number): readonly string[][] {
  const clock = new VirtualClock(startNs);
  const node = new VirtualNode({ clock });
  const run = (): void => {
    for (let steps = 0; clock.step(); steps++) {
      if (steps > MOST_STEPS) throw new Error(`after ${startNs} ns the node goes on for ever`);
    }
  };
  const containers = MODELS.map((model) => {
    const path = builtInModelPath(model);
    return new FrontendDouble(node.start({ model, version: '1', replica: '0', inputType: 'floats', path }));
  });
  run();
  const set = heldOutDigits();
  const answers: string[][] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const asked = containers.map((container) => {
      const inputs = Array.from({ length: 1 + (batch % 3) }, (_, at) => {
        const { buffer, byteOffset, byteLength } = digitAt(set, 3 * batch + at);
        return new Uint8Array(buffer, byteOffset, byteLength);
      });
      return { container, id: container.ask(inputs) };
    });
    run();
    for (const { container, id } of asked) answers.push([...container.outcomes(id)]);
    clock.advanceTo(clock.nowNs() + 500e9 + batch);
  }
  node.close(() => undefined);
  return answers;
}

it('answers the same, and ends its work, however long its clock has run', () => {
  const fresh = answersAfter(0);
  expect(fresh.flat()).toHaveLength(2 * 2 * BATCHES);
  for (const days of [0.1, 0.25, 1, 30, 200, 1000, 4000])
    expect(answersAfter(days * DAY_NS + 0.123)).toEqual(fresh);
});
