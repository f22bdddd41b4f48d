import { describe, expect, it } from 'vitest';
import { encodingSchema, type EncodingPart, type InputEncoding } from './encodingSchema.js';
import { InputEncoder } from './inputEncoder.js';
import { murmur3, murmur3OfText } from './murmur3.js';
import { sampleTexts } from './sampleTexts.js';

const UTF8 = new TextEncoder();

const WORDS = {
  kind: 'terms',
  column: 0,
  most: 64,
  longest: 10_000,
  analyzer: 'word',
  lowercase: true,
  accents: 'keep',
  shortest: 2,
  grams: [1, 1],
  stopWords: [],
  binary: false,
  sublinear: false,
  norm: 'none',
} as const;

function encodingOf(...parts: object[]): InputEncoding {
  return encodingSchema.parse({ encodingVersion: 1, parts });
}

function encoded(
  encoding: InputEncoding,
  query: string | readonly unknown[],
  columns?: readonly string[],
): { readonly result: number[] | string; readonly rests: number } {
  const text = typeof query === 'string' ? query : JSON.stringify(query);
  const steps = new InputEncoder(encoding, columns).encode(UTF8.encode(text));
  let rests = 0;
  for (let step = steps.next(); ; step = steps.next(), rests++) {
    if (step.done === true)
      return { result: typeof step.value === 'string' ? step.value : Array.from(step.value), rests };
  }
}

/** Places and values of a text's terms. */
function terms(part: object, text: string): (readonly [number, number])[] {
  const { result } = encoded(encodingOf({ ...WORDS, ...part }), text);
  if (typeof result === 'string') throw new Error(result);
  const pairs = Array.from(
    { length: result.length / 2 },
    (_, k) => [result[2 * k], result[2 * k + 1]] as const,
  );
  return pairs.filter(([place]) => place >= 0).sort(([one], [other]) => one - other);
}

describe('MurmurHash3', () => {
  // sklearn.utils.murmurhash3_32 with the seeds 0 and 42.
  it.each([
    ['', 0, 142593372],
    ['a', 1009084850, -1293573533],
    ['ab', -1681926305, -684913081],
    ['abc', -1277324294, 1313807976],
    ['goal', -1117092987, 164695089],
    ['Ö', 1711724917, 290647151],
    ['月火箭', -1298113900, 1528872362],
    ['x'.repeat(37), -1005983109, 428444926],
    ['😀'.repeat(80), murmur3(UTF8.encode('😀'.repeat(80))), murmur3(UTF8.encode('😀'.repeat(80)), 42)],
  ])("of '%s' is scikit-learn's", (text, plain, seeded) => {
    expect([murmur3(UTF8.encode(text)), murmur3(UTF8.encode(text), 42)]).toEqual([plain, seeded]);
    expect(murmur3OfText(text)).toBe(plain);
  });
});

describe('terms of texts', () => {
  // What `build_analyzer()` of a CountVectorizer gives.
  it.each<[string, object, string, string[]]>([
    [
      'characters',
      { analyzer: 'char', grams: [1, 2] },
      'a  b\tc',
      ['\t', '\tc', ' ', ' b', 'a', 'a ', 'b', 'b\t', 'c'],
    ],
    [
      'characters in words',
      { analyzer: 'charInWords', grams: [2, 4] },
      'go \u00a0 now',
      [' g', ' go', ' go ', ' n', ' no', ' now', 'go', 'go ', 'no', 'now', 'now ', 'o ', 'ow', 'ow ', 'w '],
    ],
    [
      'words of any script, one to three together, but for stop words',
      { grams: [1, 3], stopWords: ['the'] },
      'The cat_1 sat; a\u0301 x ½up',
      ['cat_1', 'cat_1 sat', 'cat_1 sat ½up', 'sat', 'sat ½up', '½up'],
    ],
    [
      'words without accents',
      { accents: 'strip' },
      'Crème brûlée ÅNGSTRÖM देवनागरी İstanbul ΟΔΥΣΣΕΥΣ',
      ['angstrom', 'brulee', 'creme', 'istanbul', 'οδυσσευς', 'गर', 'वन'],
    ],
    ['words in ASCII', { accents: 'ascii' }, 'Crème ½up ΟΔΥ ﬁne', ['12up', 'creme', 'fine']],
  ])('are %s', (_what, part, text, expected) => {
    const known = terms({ ...part, space: { vocabulary: expected } }, text);
    expect(known.map(([place]) => expected[place])).toEqual(expected);
    // And no others.
    const hashed = terms({ ...part, space: { hashed: 2 ** 30, alternates: false } }, text);
    expect(hashed).toHaveLength(expected.length);
  });

  it('are weighed: counts, once each, logarithms, weights of terms, to a length of 1', () => {
    const space = { vocabulary: ['aa', 'bb', 'cc'] };
    const text = 'aa bb aa dd aa';
    expect(terms({ space }, text)).toEqual([
      [0, 3],
      [1, 1],
    ]);
    expect(terms({ space, binary: true, weights: [2, 5, 7] }, text)).toEqual([
      [0, 2],
      [1, 5],
    ]);
    expect(terms({ space, sublinear: true }, text)[0]).toEqual([0, 1 + Math.log(3)]);
    expect(terms({ space, norm: 'l2' }, text)).toEqual([
      [0, 3 / Math.sqrt(10)],
      [1, 1 / Math.sqrt(10)],
    ]);
    expect(terms({ space, norm: 'l1' }, 'zz')).toEqual([]);
  });

  it('have places by hash, where those that are not chosen count for the norm and share the rest', () => {
    const space = { hashed: 1000, alternates: true };
    const all = terms({ space }, 'goal goal match');
    // abs(-1117092987) % 1000, twice below 0.
    expect(all).toContainEqual([987, -2]);
    const chosen = { hashes: [987], rest: -1 };
    expect(terms({ space: { ...space, chosen }, norm: 'l2' }, 'goal goal match')).toEqual([
      [0, -2 / Math.sqrt(5)],
    ]);
    const [[, other]] = all.filter(([place]) => place !== 987);
    expect(terms({ space: { ...space, chosen: { hashes: [987], rest: 1 } } }, 'goal goal match')).toEqual([
      [0, -2],
      [1, other],
    ]);
  });

  it('are refused beyond the lengths that the model takes', () => {
    const space = { vocabulary: ['aa', 'bb', 'cc'] };
    const few = encodingOf({ ...WORDS, most: 2, space });
    expect(encoded(few, 'aa bb aa').result).toEqual([0, 2, 1, 1]);
    expect(encoded(few, 'aa bb cc').result).toBe(
      'the text has 3 different terms that the model knows, at most 2 are taken: export the model with a larger max_terms',
    );
    const short = encodingOf({ ...WORDS, longest: 5, space });
    expect(encoded(short, 'aa bb ').result).toBe('the text has 6 characters, at most 5 are taken');
  });

  it('are the same of long texts, which are read in pieces', () => {
    const words = Array.from({ length: 3000 }, (_, k) => `W${k % 50}é\u0301 ΟΔΟΣ\u3000 \n`);
    const text = words.join('');
    const space = { hashed: 2 ** 20, alternates: false } as const;
    for (const part of [
      { grams: [1, 3], accents: 'strip' },
      { analyzer: 'char', grams: [1, 4] },
      { analyzer: 'charInWords', grams: [2, 5] },
    ]) {
      const total = terms({ ...part, most: 4096, longest: 2 ** 20, space }, text);
      const short = terms({ ...part, most: 4096, space }, words.slice(0, 150).join(''));
      expect(total.map(([place]) => place)).toEqual(short.map(([place]) => place));
    }
    const sigma = terms({ most: 4, longest: 2 ** 20, space: { vocabulary: ['οδος'] } }, text);
    expect(sigma).toEqual([[0, 3000]]);
    const noSpaces = terms(
      { accents: 'strip', longest: 2 ** 20, space: { vocabulary: ['e'.repeat(9000)] } },
      'é'.repeat(9000),
    );
    expect(noSpaces).toEqual([[0, 1]]);
  });

  it('are refused where they are too many', () => {
    const space = { hashed: 2 ** 20, alternates: false };
    const encoding = encodingOf({ ...WORDS, analyzer: 'char', grams: [1, 20], longest: 2 ** 20, space });
    expect(encoded(encoding, 'abcdefgh '.repeat(4000)).result).toBe(
      'the text has more than 262144 terms: ask with a shorter text',
    );
  });

  it('rest again and again in a long text, and not in a short one', () => {
    const encoding = encodingOf({ ...WORDS, longest: 2 ** 20, space: { vocabulary: ['aa'] } });
    expect(encoded(encoding, 'aa '.repeat(50)).rests).toBe(0);
    const long = encoded(encoding, 'aa '.repeat(100_000));
    expect(long.rests).toBeGreaterThan(40);
    expect(long.result.slice(0, 2)).toEqual([0, 100_000]);
  });
});

describe('rows of columns', () => {
  const columns = ['colour', 'size', 'note'];
  const parts: EncodingPart[] = [
    { kind: 'number', column: 1 },
    { kind: 'category', column: 0, categories: ['red', 'blue', 1, true, null], unknown: 'refuse' },
    { kind: 'category', column: 0, categories: ['blue', 'green'], unknown: 'code', missing: 1 },
  ];
  const encoding = encodingOf(...parts);

  it.each<[unknown[], number[]]>([
    [
      ['blue', 2.5, 'unread'],
      [2.5, 1, 0],
    ],
    [
      ['red', true, null],
      [1, 0, -1],
    ],
    [
      [1, 0, 7],
      [0, 2, -1],
    ],
    [
      [true, 0, 7],
      [0, 3, -1],
    ],
    [
      [null, -1, ''],
      [-1, 4, 1],
    ],
  ])('%j becomes %j', (row, expected) => {
    expect(encoded(encoding, row, columns).result).toEqual(expected);
  });

  it.each<[string, string | unknown[], string]>([
    [
      'an unknown category',
      ['mauve', 1, ''],
      `input[0] (column 'colour') is "mauve", which is no category that the model knows: "red", "blue", 1, true, null`,
    ],
    ['a text for a number', ['red', 'large', ''], `input[1] (column 'size') must be a number, "large" came`],
    ['a missing number', ['red', null, ''], `input[1] (column 'size') must be a number, null came`],
    [
      'too few values',
      ['red', 1],
      'the input must be a list of 3 values: colour, size, note; a list of 2 came',
    ],
    [
      'a list in a list',
      ['red', 1, []],
      `input[2] (column 'note') must be a string, a number, a boolean or null`,
    ],
    [
      'no list',
      '{"colour":"red"}',
      'the input must be a list of 3 values: colour, size, note; an object came',
    ],
    ['no JSON', 'red,1', 'the input must be a list of 3 values: colour, size, note'],
    ['an infinity', '["red", 1e999, ""]', `input[1] (column 'size') must be a number, null came`],
  ])('%s is refused', (_what, row, problem) => {
    expect(encoded(encoding, row, columns).result).toBe(problem);
  });

  it('lists the first of many categories only', () => {
    const categories = Array.from({ length: 30 }, (_, k) => `c${k}`);
    const many = encodingOf({ kind: 'category', column: 0, categories, unknown: 'refuse' });
    expect(encoded(many, ['x'.repeat(100)], ['kind']).result).toMatch(
      /^input\[0\] \(column 'kind'\) is "x{59}…, which .*: "c0", "c1", .*"c7", … \(30 in all\)$/,
    );
  });

  it('takes null as NaN where a number may be missing', () => {
    const missing = encodingOf({ kind: 'number', column: 0, missing: true });
    expect(encoded(missing, [null], ['size']).result).toEqual([NaN]);
  });

  it('has made-up queries that it takes', () => {
    for (const text of sampleTexts(encoding, columns, 5))
      expect(encoded(encoding, text, columns).result).toHaveLength(3);
    const words = encodingOf({ ...WORDS, space: { vocabulary: ['goal', 'moon'] } });
    expect(new Set(sampleTexts(words, undefined, 2)).size).toBeGreaterThan(0);
    for (const text of sampleTexts(words, undefined, 2))
      expect(encoded(words, text).result).toHaveLength(128);
  });
});
