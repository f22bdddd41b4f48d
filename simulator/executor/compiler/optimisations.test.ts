import { expect, it } from 'vitest';
import { NOTHING_LEFT_OUT, OPTIMISATIONS, optimisationKey } from './optimisations.js';

it('gives each set of optimisations a key of its own', () => {
  const sets = OPTIMISATIONS.flatMap((one) => OPTIMISATIONS.map((other) => new Set([one, other])));
  const keys = new Set([...sets, NOTHING_LEFT_OUT].map(optimisationKey));
  const count = OPTIMISATIONS.length;
  expect(keys.size).toBe((count * (count - 1)) / 2 + count + 1);
  expect(optimisationKey(new Set(['wide', 'vector']))).toBe(optimisationKey(new Set(['vector', 'wide'])));
});
