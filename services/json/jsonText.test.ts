import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonText } from './index.js';

it('writes what JSON.stringify does, and -0 as -0', () => {
  expect(jsonText({ a: [-0, 0, { b: -0 }], c: undefined, d: [undefined], e: null, f: 'x"' })).toBe(
    '{"a":[-0,0,{"b":-0}],"d":[null],"e":null,"f":"x\\""}',
  );
  expect(jsonText({ at: new Date(0), zero: -0 })).toBe('{"at":"1970-01-01T00:00:00.000Z","zero":-0}');
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // JSON.stringify writes -0 as 0, so that what is read back tells the two apart.
      expect(JSON.parse(jsonText([value, -0]))).toEqual([value, -0]);
    }),
    { seed: 3, numRuns: 300 },
  );
});
