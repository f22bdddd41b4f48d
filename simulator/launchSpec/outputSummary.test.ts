import { describe, expect, it } from 'vitest';
import { SmallFloatArray, type ElementArray } from './elementTypes.js';
import { isAsReported, OutputSummary } from './outputSummary.js';
import { resultText } from './resultText.js';

function summary(...pieces: ElementArray[]) {
  const found = new OutputSummary({}, [0, 1]);
  for (const piece of pieces) found.add(piece);
  return found.result();
}

describe('reported values', () => {
  it('are exact of integers', () => {
    expect(summary(new Uint32Array([4294967295, 4294967295]))).toEqual({
      sum: 8589934590,
      samples: { 0: 4294967295, 1: 4294967295 },
    });
    expect(summary(new BigUint64Array([2n ** 64n - 1n, 7n]))).toEqual({
      sum: '18446744073709551622',
      samples: { 0: '18446744073709551615', 1: 7 },
    });
  });

  it('read back equal of floats', () => {
    expect(summary(new Float64Array([Math.PI, 1 / 3])).samples).toEqual({ 0: Math.PI, 1: 1 / 3 });
    const [one = 0] = new Float32Array([1 / 3]);
    expect(Math.fround(Number(summary(new Float32Array([one])).samples['0']))).toBe(one);
  });

  it('are exact of sums of many integers', () => {
    const most = new Int32Array(2 ** 22).fill(2 ** 31 - 1);
    expect(summary(most, new Int32Array([-5])).sum).toBe((2 ** 31 - 1) * 2 ** 22 - 5);
    expect(summary(most, most).sum).toBe(String((2n ** 31n - 1n) * 2n ** 23n));
  });

  it('read back equal of sums of floats', () => {
    const piece = new Float32Array([1 / 3, 1e-9, 1e7]);
    expect(summary(piece).sum).toBe(piece.reduce((sum, value) => sum + value, 0));
  });

  it('are texts where JSON has no number, and -0 keeps its sign', () => {
    const found = summary(new Float32Array([NaN, -Infinity]));
    expect(found).toEqual({ sum: 'NaN', samples: { 0: 'NaN', 1: '-Infinity' } });
    const zeros = summary(new Float64Array([-0, 0]));
    expect(resultText(zeros)).toBe('{"sum":0,"samples":{"0":-0,"1":0}}');
    expect(resultText({ printed: '-0 "-0"\n' })).toBe('{"printed":"-0 \\"-0\\"\\n"}');
  });

  it('are the shortest numbers that the type of a float reads back equal', () => {
    expect(summary(new Float32Array([0.1, 16777216])).samples).toEqual({ 0: 0.1, 1: 16777216 });
    expect(summary(new Float32Array([2 ** -149, 3.4028234663852886e38])).samples).toEqual({
      0: 1e-45,
      1: 3.4028235e38,
    });
    for (const type of ['f16', 'bf16'] as const) {
      const own = new SmallFloatArray(type, new Uint16Array(2));
      own.set(0, 0.1);
      own.set(1, -1 / 3);
      const { samples } = summary(own);
      expect(samples).toEqual({ 0: 0.1, 1: type === 'f16' ? -0.3333 : -0.334 });
      const again = new SmallFloatArray(type, new Uint16Array(2));
      [samples[0], samples[1]].forEach((sample, at) => again.set(at, Number(sample)));
      expect([again.get(0), again.get(1)]).toEqual([own.get(0), own.get(1)]);
    }
  });

  it('meet expectations written to nine digits, and integers only exactly', () => {
    expect(isAsReported(3.14159265, Math.PI, 'f64')).toBe(true);
    expect(isAsReported(0.100000001, 0.1, 'f32')).toBe(true);
    expect(isAsReported(0.0999755859, 0.1, 'f16')).toBe(true);
    expect(isAsReported(0.100000001, 0.1, 'f64')).toBe(false);
    expect(isAsReported(4294967300, 4294967295, 'u32')).toBe(false);
    expect(isAsReported('18446744073709551615', '18446744073709551615', 'u64')).toBe(true);
    expect(isAsReported('9007199254740993', 9007199254740992, 'f64')).toBe(true);
    expect(isAsReported('NaN', 'NaN', 'f32')).toBe(true);
  });
});
