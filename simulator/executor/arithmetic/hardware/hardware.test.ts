import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluation.js';
import { approximatedForms, exactForms } from './forms/index.js';
import { digestOf, readMeasured, samplesOf } from './measured.js';

const measured = readMeasured();

describe('arithmetic against a real card, to the bit', () => {
  it.each([...exactForms, ...approximatedForms].map((form) => [form.name, form] as const))(
    '%s',
    (name, form) => {
      const expected = measured.results[name];
      const results = evaluate(form);
      expect(samplesOf(results, form.results.length)).toBe(expected?.samples);
      expect(digestOf(results)).toBe(expected?.digest);
    },
  );
});
