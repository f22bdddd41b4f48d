import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cosine, flushed, sine } from './approximate.js';
import {
  unitLogarithm,
  unitReciprocal,
  unitReciprocalRoot,
  unitRoot,
  unitTangent,
} from './specialFunctions.js';

/** What the card gave: digests over an eighth of the 2^23 operands from the named one up, one of each eight in turn. */
const card = JSON.parse(
  readFileSync(new URL('../../laboratory/instructions/specialFunctions.json', import.meta.url), 'utf8'),
) as {
  readonly digests: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

const single = new Float32Array(1);
const word = new Int32Array(single.buffer);

function ofNumbers(apply: (x: number) => number): (bits: number) => number {
  return (bits) => {
    word[0] = bits;
    single[0] = apply(single[0] ?? 0);
    return word[0] ?? 0;
  };
}

const functions: Readonly<Record<string, (bits: number) => number>> = {
  reciprocal: unitReciprocal,
  reciprocalRoot: unitReciprocalRoot,
  root: unitRoot,
  logarithm: unitLogarithm,
  sine: ofNumbers(flushed(sine)),
  cosine: ofNumbers(flushed(cosine)),
  tangent: unitTangent,
};

const binades = Object.entries(card.digests).flatMap(([name, digests]) =>
  Object.entries(digests).map(([first, digest]) => [name, first, digest] as const),
);

describe('the special function unit against a real card, to the bit', () => {
  it.each(binades)('%s from %s', (name, first, digest) => {
    const apply = functions[name];
    const start = parseInt(first, 16);
    const results = new Uint32Array(2 ** 20);
    for (let index = 0; index < results.length; index++)
      results[index] = apply?.((start + 8 * index + ((5 * index) & 7)) | 0) ?? 0;
    const bytes = new Uint8Array(results.buffer);
    expect(createHash('sha256').update(bytes).digest('hex').slice(0, 16)).toBe(digest);
  });
});
