import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumberTable } from './index.js';

describe('NumberTable', () => {
  it('holds what a map holds', () => {
    const step = fc.record({
      key: fc.oneof(fc.nat(40), fc.nat(300), fc.constantFrom(2 ** 31, 2 ** 32 + 7, 2 ** 40)),
      isSet: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const table = new NumberTable<number>();
        const map = new Map<number, number>();
        steps.forEach(({ key, isSet }, index) => {
          if (isSet && !map.has(key)) {
            table.set(key, index);
            map.set(key, index);
          } else if (!isSet) {
            expect(table.delete(key)).toBe(map.get(key));
            map.delete(key);
          }
        });
        expect(table.size).toBe(map.size);
        for (const [key, value] of map) expect(table.get(key)).toBe(value);
        expect(table.list().sort((a, b) => a - b)).toEqual([...map.values()].sort((a, b) => a - b));
        for (let key = 0; key < 300; key++) expect(table.has(key)).toBe(map.has(key));
      }),
      { seed: 1, numRuns: 100 },
    );
  });
});
