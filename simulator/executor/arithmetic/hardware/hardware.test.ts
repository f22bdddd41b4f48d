import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { typeBits } from '../../../ptx/index.js';
import { bitsOfValue, scalarOperation, valueOfBits } from '../index.js';
import { approximateInstructions, exactInstructions, OperandSource } from './cases.js';
import { probe } from './probe.js';
import { digest, normalized } from './results.js';

interface Measured {
  readonly cases: number;
  readonly results: Readonly<Record<string, { readonly digest?: string; readonly samples: string }>>;
}

const measured = JSON.parse(readFileSync(new URL('results.json', import.meta.url), 'utf8')) as Measured;

/** What our arithmetic gives for the operands that the card was given. */
function compute(text: string, cases: number): { operands: bigint[][]; results: bigint[] } {
  const probed = probe(text);
  const operation = scalarOperation(probed.instruction);
  if (operation === undefined) throw new Error(`${text} has no operation`);
  const registerBits = probed.result === 'pred' ? 1 : Math.max(16, typeBits(probed.result));
  const source = new OperandSource();
  const operands = Array.from({ length: cases }, (_, index) =>
    source.take(probed.instruction.opcode, probed.sources, index),
  );
  const results = operands.map((words) => {
    const values = words.map((bits, index) => valueOfBits(bits, operation.sources[index] ?? 'b64'));
    return normalized(bitsOfValue(operation.apply(...values), operation.result, registerBits), probed);
  });
  return { operands, results };
}

const hex = (values: readonly bigint[]) => values.map((value) => value.toString(16)).join(' ');

describe('arithmetic against a real card', () => {
  it.each(exactInstructions)('%s', (text) => {
    const expected = measured.results[text];
    const { results } = compute(text, measured.cases);
    expect(hex(results.slice(0, expected?.samples.split(' ').length))).toBe(expected?.samples);
    expect(digest(results)).toBe(expected?.digest);
  });
});

/** Distance in units in the last place, across zero too. */
function distance(a: bigint, b: bigint, width: 32 | 64): number {
  const order = (bits: bigint): bigint => {
    const magnitude = bits & ((1n << BigInt(width - 1)) - 1n);
    return bits >> BigInt(width - 1) === 1n ? -magnitude : magnitude;
  };
  return Math.abs(Number(order(a) - order(b)));
}

/**
 * Units in the last place that the card's own approximation may be off; ours is next to exact. Sine, cosine and tanh are
 * bounded absolutely by the hardware, and only in one period, so they are compared with that bound.
 */
const ulps: Readonly<Record<string, number>> = {
  'ex2.approx.f32': 0,
  'ex2.approx.ftz.f32': 0,
  'lg2.approx.f32': 16,
  'lg2.approx.ftz.f32': 16,
  'rsqrt.approx.f64': 2,
  // one unit of the upper word, the only one that the card computes
  'rcp.approx.ftz.f64': 2 ** 32,
};
const absolute: Readonly<Record<string, number>> = {
  'sin.approx.f32': 2 ** -20.5,
  'cos.approx.f32': 2 ** -20.5,
  'tanh.approx.f32': 2 ** -10.9,
};

describe('approximate functions against a real card', () => {
  it.each(approximateInstructions)('%s', (text) => {
    const expected = (measured.results[text]?.samples ?? '').split(' ').map((each) => BigInt(`0x${each}`));
    const { operands, results } = compute(text, expected.length);
    const kind = text.endsWith('f64') ? 'f64' : 'f32';
    const width = kind === 'f64' ? 64 : 32;
    let compared = 0;
    results.forEach((result, index) => {
      const want = expected[index] ?? 0n;
      const words = operands[index] ?? [];
      const where = `${text} of ${hex(words)}: ${result.toString(16)}, the card ${want.toString(16)}`;
      const bound = absolute[text];
      if (bound === undefined) {
        expect(distance(result, want, width), where).toBeLessThanOrEqual(ulps[text] ?? 1);
      } else {
        const x = Number(valueOfBits(words[0] ?? 0n, kind));
        if (!(Math.abs(x) <= Math.PI)) return;
        const error = Math.abs(Number(valueOfBits(result, kind)) - Number(valueOfBits(want, kind)));
        expect(error, where).toBeLessThanOrEqual(bound);
      }
      compared++;
    });
    expect(compared).toBeGreaterThan(100);
  });
});
