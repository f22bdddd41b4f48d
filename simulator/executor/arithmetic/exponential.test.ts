import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exponential2, flushed } from './index.js';

/**
 * What the card gave: digests over all 2^23 operands from the named one up (`ex2.approx.ftz.f32`), digests over the ends
 * of every binade of either sign, and triples of operand, result with `.ftz` and result without.
 */
const card = JSON.parse(
  readFileSync(new URL('../../laboratory/instructions/exponential.json', import.meta.url), 'utf8'),
) as {
  readonly fractions: Readonly<Record<string, string>>;
  readonly edges: Readonly<Record<string, string>>;
  readonly vectors: readonly string[];
};

const forms = { 'ex2.approx.ftz.f32': flushed(exponential2), 'ex2.approx.f32': exponential2 };
const canonicalNan = 0x7fffffff;

function resultsOf(operands: Uint32Array, apply: (x: number) => number): Uint32Array {
  const values = new Float32Array(operands.buffer);
  const results = new Float32Array(operands.length);
  for (let index = 0; index < results.length; index++) results[index] = apply(values[index] ?? 0);
  const bits = new Uint32Array(results.buffer);
  for (let index = 0; index < bits.length; index++)
    if (results[index] !== results[index]) bits[index] = canonicalNan;
  return bits;
}

const digest = (words: Uint32Array): string => createHash('sha256').update(words).digest('hex').slice(0, 16);

describe('ex2.approx against a real card, to the bit', () => {
  it.each(Object.entries(card.fractions))('the 2^23 operands from %s', (first, expected) => {
    const operands = new Uint32Array(2 ** 23);
    const start = parseInt(first, 16);
    for (let index = 0; index < operands.length; index++) operands[index] = start + index;
    expect(digest(resultsOf(operands, forms['ex2.approx.ftz.f32']))).toBe(expected);
  });

  it.each(Object.entries(forms))('%s at the ends of every binade', (form, apply) => {
    const operands: number[] = [];
    for (let exponent = 0; exponent < 256; exponent++)
      for (const sign of [0, 0x80000000])
        for (const fraction of [0, 1, 2, 0x400000, 0x7ffffe, 0x7fffff])
          operands.push(sign + exponent * 2 ** 23 + fraction);
    expect(digest(resultsOf(Uint32Array.from(operands), apply))).toBe(card.edges[form]);
  });

  it.each(card.vectors)('operand, with .ftz, without: %s', (vector) => {
    const [operand = ''] = vector.split(' ');
    const results = Object.values(forms).map((apply) =>
      resultsOf(Uint32Array.of(parseInt(operand, 16)), apply)[0]
        ?.toString(16)
        .padStart(8, '0'),
    );
    expect([operand, ...results].join(' ')).toBe(vector);
  });
});
