import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluation.js';
import { approximatedForms, exactForms } from './forms/index.js';
import { sampleOf } from '../testSample/index.js';
import { digestOf, firstCases, readMeasured, samplesOf } from './measured.js';

const measured = readMeasured();
const forms = [...exactForms, ...approximatedForms];
/** Forms of which every case runs; of the others the first ones do, which hold the special values. */
const whole = new Set(sampleOf(forms, 8));

describe('arithmetic against a real card, to the bit', () => {
  it.each(forms.map((form) => [form.name, form] as const))('%s', (name, form) => {
    const expected = measured.results[name];
    const isWhole = whole.has(form);
    const results = evaluate(form, isWhole ? Infinity : firstCases);
    expect(samplesOf(results, form.results.length)).toBe(expected?.samples);
    expect(digestOf(results)).toBe(isWhole ? expected?.digest : expected?.firstDigest);
  });
});
