import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../errors/index.js';
import { isTooDeep } from './jsonDepth.js';
import { JsonParser } from './jsonParser.js';
import type { LongNumbers } from './longNumbers.js';

/** Parsed in pieces of `step` bytes, as a stream. */
function parse(text: string | Buffer, step = 16_384, fields?: readonly string[]): unknown {
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text);
  const parser = new JsonParser(fields === undefined ? undefined : new Set(fields));
  let at = 0;
  do {
    parser.feed(bytes.subarray(at, at + step), at + step >= bytes.length);
    at += step;
  } while (at < bytes.length);
  return parser.value;
}

function codeOf(text: string | Buffer, step?: number): string {
  try {
    parse(text, step);
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
  return 'parsed';
}

describe('JsonParser', () => {
  it('reads what JSON.parse reads, in pieces of any size', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        fc.integer({ min: 1, max: 40 }),
        fc.nat(3),
        (text, step, indent) => {
          const spaced = JSON.stringify(JSON.parse(text), undefined, indent);
          expect(parse(spaced, step)).toEqual(JSON.parse(spaced));
          expect(parse(text, step)).toEqual(JSON.parse(text));
        },
      ),
      { seed: 5, numRuns: 500 },
    );
  });

  it('reads and refuses what JSON.parse does, of text that was damaged', () => {
    const alphabet = '[]{}",:0123456789.-+eEtruefalsn\\u \n\u0001é😀';
    const damaged = fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...alphabet), fc.boolean());
    fc.assert(
      fc.property(damaged, fc.integer({ min: 1, max: 9 }), ([text, place, character, isLonger], step) => {
        const at = place % (text.length + 1);
        const changed = Buffer.from(
          text.slice(0, at) + character + text.slice(isLonger ? at : at + 1),
        ).toString();
        let expected: unknown;
        try {
          expected = JSON.parse(changed);
        } catch {
          expect(codeOf(changed, step)).toBe('not_json');
          return;
        }
        expect(parse(changed, step)).toEqual(expected);
      }),
      { seed: 6, numRuns: 3000 },
    );
  });

  it('reads numbers to the last bit', () => {
    const numbers = [
      '-0',
      '-0.0',
      '0e5',
      '1e22',
      '1e23',
      '1e-22',
      '123456789012345e-22',
      '5e-324',
      '1e400',
      '-1E+2',
    ];
    numbers.push(
      '9007199254740993',
      '0.1',
      '0.30000000000000004',
      '123456.789e-3',
      '179769313486231580000e289',
    );
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(20), (number, digits) => {
        numbers.push(JSON.stringify(number), number.toExponential(digits));
      }),
      { seed: 7, numRuns: 2000 },
    );
    const values = parse(`[${numbers.join(',')}]`) as number[];
    values.forEach((value, at) => expect(Object.is(value, JSON.parse(numbers[at]))).toBe(true));
    for (const bad of ['01', '-', '1.', '.5', '1e', '+1', '0x1', '1e+', '--1', 'NaN', 'Infinity']) {
      expect(codeOf(`[${bad}]`)).toBe('not_json');
    }
  });

  it.each(['a', '\\n', '\\u00e9', 'é', '😀', 'abc\\ud83d\\ude00'])(
    'reads long strings of %s in parts',
    (piece) => {
      const text = `{"x":"${piece.repeat(70_000)}","y":1}`;
      expect(parse(text, 1000)).toEqual(JSON.parse(text));
    },
  );

  it('keeps long arrays of numbers in one block, and says what else is in them', () => {
    const numbers = Array.from({ length: 50_000 }, (_, at) => (at % 7 === 0 ? -0 : at / 8));
    const text = `{"a":[${numbers.map((number) => (Object.is(number, -0) ? '-0' : number)).join(', ')}],"b":1}`;
    const { a, b } = parse(text, 1000) as { a: LongNumbers; b: number };
    expect(b).toBe(1);
    expect(a).toHaveLength(50_000);
    expect(a.odd).toBeUndefined();
    expect(a.numbers).toEqual(Float64Array.from(numbers));
    expect(a.encode('floats')).toEqual(Float32Array.from(numbers));
    const mixed = parse(`[${'1,'.repeat(20_000)}"x",${'2,'.repeat(20_000)}null]`) as LongNumbers;
    expect(mixed).toHaveLength(40_002);
    expect(mixed.odd).toEqual({ index: 20_000, value: 'x' });
    expect((parse(`["x",${'1,'.repeat(40_000)}true]`) as LongNumbers).odd).toEqual({ index: 0, value: 'x' });
    expect((parse(`[${'true,'.repeat(40_000)}1]`) as LongNumbers).odd).toEqual({ index: 0, value: true });
    const texts = parse(`[${'"x",'.repeat(40_000)}"y"]`);
    expect(texts).toHaveLength(40_001);
    expect(Array.isArray(texts)).toBe(true);
  });

  it('reads long strings of any characters, in pieces of any size', () => {
    const unit = 'plain é😀 \\u00e9\\ud83d\\ude00 \\ud83d \\n';
    const long = `${'a'.repeat(1_100_000)}${unit.repeat(20_000)}${'é'.repeat(1_100_000)}${unit}`;
    const text = `{"input":"${long}","other":["${unit.repeat(2_000)}","b"]}`;
    const expected = JSON.parse(text) as unknown;
    for (const step of [1_021, 16_384, 1_500_000]) expect(parse(text, step)).toEqual(expected);
  });

  it('gathers a long string outside the heap', () => {
    const parser = new JsonParser(undefined);
    const piece = Buffer.alloc(16_384, 'a');
    parser.feed(Buffer.from('["'), false);
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 1_000; at++) parser.feed(piece, false);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4e6);
    expect(parser.built).toBeGreaterThan(16e6);
    parser.feed(Buffer.from('"]'), true);
    expect(parser.value).toEqual(['a'.repeat(16_384_000)]);
  });

  it('keeps the last of equal keys, and __proto__ as a field like any other', () => {
    expect(parse('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
    const value = parse('{"__proto__":{"x":1}}') as object;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect('x' in value).toBe(false);
  });

  it('builds only the fields that are read, and checks the others', () => {
    const text = '{"input":[1,{"x":"y"}],"other":[{"deep":["a\\n",{}]},2,"s"],"s":"long","label":"b"}';
    expect(parse(text, 3, ['input', 'label'])).toEqual({ input: [1, { x: 'y' }], label: 'b' });
    const many = (separator: string) => `{"input":1,"other":[${'{},'.repeat(400_000)}${separator}]}`;
    expect(parse(many('1'), 16_384, ['input'])).toEqual({ input: 1 });
    expect(() => parse(many('"\\q"'), 16_384, ['input'])).toThrow(/bad escape/);
    expect(() => parse(many('01'), 16_384, ['input'])).toThrow(/unexpected "1"/);
  });

  it.each([
    ['depth', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['objects', `[${'{},'.repeat(262_144)}1]`],
    ['strings', `[${'"",'.repeat(262_144)}1]`],
    ['keys', `{${Array.from({ length: 1025 }, (_, at) => `"k${at}":1`).join(',')}}`],
    ['numbers', `[${'0,'.repeat(4_194_304)}1]`],
  ])('refuses too much: %s', (_what, text) => {
    expect(codeOf(text)).toBe('json_too_complex');
  });

  it('takes numbers of up to 1,024 characters, also in pieces', () => {
    const digits = '7'.repeat(1022);
    expect(parse(`[0.${digits}]`, 100)).toEqual([Number(`0.${digits}`)]);
    expect(codeOf(`[0.${digits}7]`, 100)).toBe('json_too_complex');
    expect(codeOf(`[0.${digits}7]`)).toBe('json_too_complex');
  });

  it('takes as much as is allowed', () => {
    expect(codeOf(`${'['.repeat(64)}${']'.repeat(64)}`)).toBe('parsed');
    expect(codeOf(`{${Array.from({ length: 1024 }, (_, at) => `"k${at}":1`).join(',')}}`)).toBe('parsed');
  });

  it('refuses bytes that are no UTF-8, and text that ends too early', () => {
    expect(codeOf(Buffer.from([0x22, 0xc3, 0x22]))).toBe('not_utf8');
    for (const text of ['', ' ', '[', '[1', '[1,', '{"a"', '{"a":', '"abc', '"a\\', 'tru', '-']) {
      expect(codeOf(text)).toBe('not_json');
    }
  });
});

it('counts the depth of small bodies, brackets in strings apart', () => {
  const nested = (depth: number) => Buffer.from('[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2));
  expect(isTooDeep(nested(64))).toBe(false);
  expect(isTooDeep(nested(66))).toBe(true);
  expect(isTooDeep(Buffer.from(JSON.stringify({ a: '[\\"{'.repeat(100) })))).toBe(false);
  expect(isTooDeep(Buffer.from(JSON.stringify(Array.from({ length: 100 }, () => [1]))))).toBe(false);
});
