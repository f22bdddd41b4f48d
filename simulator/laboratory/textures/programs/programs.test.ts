import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from '../../../executor/index.js';
import { firstDifference, referenceResult, runFixture } from '../../kernels/index.js';
import { texturePrograms } from './index.js';

/** Thread-instructions of a block between two yields of the resumable variant. */
const TURN = 2_000;

describe.each(texturePrograms.map((fixture) => [fixture.name, fixture] as const))('%s', (_, fixture) => {
  const expected = referenceResult(fixture);

  it.each(['fast', 'observed', 'undoable', 'resumable'] as const)(
    'computes what plain TypeScript does (%s)',
    (variant) => {
      const result = runFixture(fixture, variant, undefined, variant === 'resumable' ? TURN : undefined);
      expect(firstDifference(fixture, result.buffers, expected)).toBeUndefined();
    },
  );

  it('computes what plain TypeScript does (reference interpreter)', () => {
    const result = runFixture(fixture, 'fast', new ReferenceInterpreter());
    expect(firstDifference(fixture, result.buffers, expected)).toBeUndefined();
  });
});
