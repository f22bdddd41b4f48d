import { expect, it } from 'vitest';
import { storedResults } from './cardResults.js';
import { evaluate, operandsOf } from './evaluation.js';
import { exactForms } from './forms/index.js';
import { readMeasured } from './measured.js';

it('makes of a card’s words what is kept of them, and of too few none', () => {
  const { cases, results } = readMeasured();
  const forms = exactForms.filter(({ name }) => ['add.u16', 'mul.hi.u16', 'add.cc.u32'].includes(name));
  expect(forms.length).toBeGreaterThan(1);
  const words = forms.flatMap((form) => {
    expect(operandsOf(form).length / form.sources.length).toBe(cases);
    return [...evaluate(form)];
  });
  const stored = storedResults(forms, BigUint64Array.from(words), cases);
  for (const { name } of forms) {
    const { digest, firstDigest, samples } = results[name];
    expect(stored.get(name)).toBe(`${digest} ${firstDigest} ${samples}`);
  }
  const untouched = words.map(() => 0xeeee_eeee_eeee_eeeen);
  expect(storedResults(forms, BigUint64Array.from(untouched), cases).size).toBe(0);
  expect(() => storedResults(forms, BigUint64Array.from(words.slice(1)), cases)).toThrow(RangeError);
});
