import { describe, expect, it } from 'vitest';
import { encodeTensorMap, TensorMapError, type TensorMap } from './index.js';

const map: TensorMap = { address: 4096, type: 'f16', size: [128, 64], strideBytes: [256], box: [64, 8] };

describe('a tensor map', () => {
  it('is 128 bytes that differ by each field', () => {
    const texts = [
      map,
      { ...map, address: 4112 },
      { ...map, type: 'bf16' as const },
      { ...map, size: [127, 64] },
      { ...map, strideBytes: [272] },
      { ...map, box: [56, 8] },
      { ...map, step: [1, 2] },
      { ...map, swizzleBytes: 128 },
      { ...map, fill: 'nan' as const },
    ].map((each) => Buffer.from(encodeTensorMap(each)).toString('hex'));
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts[0]).toHaveLength(256);
  });

  it.each([
    [{ address: 4104 }, 'address', 'no multiple of 16'],
    [{ size: [] }, 'size', '0 dimensions; expected 1 to 5'],
    [{ size: [0, 64] }, 'size', '[0] is 0'],
    [{ strideBytes: [] }, 'strideBytes', '0 values; expected 1'],
    [{ strideBytes: [250] }, 'strideBytes', 'multiple of 16 below 2^40: pad the rows'],
    [{ box: [64] }, 'box', '1 values; expected 2'],
    [{ box: [257, 8] }, 'box', 'expected an integer of 1 to 256'],
    [{ box: [60, 8] }, 'box', '120 bytes a row; a row of the box is a multiple of 16'],
    [{ swizzleBytes: 64 }, 'box', 'swizzled by 64 a row has at most as many'],
    [{ swizzleBytes: 48 }, 'swizzleBytes', 'expected 0, 32, 64 or 128'],
    [{ step: [1, 9] }, 'step', 'expected an integer of 1 to 8'],
    [{ type: 'u16' as const, fill: 'nan' as const }, 'fill', 'nan is for floats'],
  ])('is refused with %o', (wrong, field, text) => {
    try {
      encodeTensorMap({ ...map, ...wrong });
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof TensorMapError)) throw error;
      expect(error.field).toBe(field);
      expect(error.message).toContain(text);
    }
  });
});
