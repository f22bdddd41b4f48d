import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaunchSpecError, runLaunchSpec } from './index.js';

const FIXTURES = resolve(import.meta.dirname, 'fixtures');
const [rows, columns, depth] = [70, 100, 50];
const [padded, pitch] = [52, 100];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-tensor-maps-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const a = Float32Array.from({ length: rows * padded }, (_, at) => ((at * 37) % 101) - 50);
const b = Float32Array.from({ length: depth * pitch }, (_, at) => ((at * 53) % 97) / 8);

const buffers = {
  a: { name: 'a', type: 'f32', count: a.length, values: [...a] },
  b: { name: 'b', type: 'f32', count: b.length, values: [...b] },
  c: { name: 'c', type: 'f32', count: rows * pitch, out: true },
};

const map = (of: keyof typeof buffers, size: number[], stride: number, more: object = {}): object => ({
  tensorMap: { buffer: buffers[of], type: 'f32', size, strideBytes: [stride], box: [32, 32], ...more },
});

function spec(of: object = {}): object {
  return {
    ptx: 'tensorProduct.ptx',
    kernel: 'tmaProduct',
    device: 'h200',
    grid: [4, 3, 1],
    block: [160, 1, 1],
    args: [
      map('a', [depth, rows], padded * 4, { swizzleBytes: 128, ...of }),
      map('b', [columns, depth], pitch * 4),
      map('c', [columns, rows], pitch * 4),
      { i32: depth },
    ],
  };
}

function complaint(of: object): string {
  try {
    runLaunchSpec(spec(of), FIXTURES);
  } catch (error) {
    if (error instanceof LaunchSpecError) return error.message;
    throw error;
  }
  return '';
}

describe('tensor maps as arguments', () => {
  it('lead a product of tiles whose edges lie outside', () => {
    runLaunchSpec(spec(), FIXTURES, { dumpDirectory: folder });
    const { buffer, byteOffset } = readFileSync(join(folder, 'c.bin'));
    const c = new Float32Array(buffer.slice(byteOffset, byteOffset + rows * pitch * 4));
    const expected = new Float32Array(rows * pitch);
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        let sum = 0;
        for (let k = 0; k < depth; k++)
          sum = Math.fround(sum + Math.fround(a[row * padded + k] * b[k * pitch + column]));
        expected[row * pitch + column] = sum;
      }
    expect(c).toEqual(expected);
  });

  it.each([
    [{ strideBytes: [200] }, 'args[0].tensorMap.strideBytes[0] is 200; a stride is a multiple of 16'],
    [{ box: [64, 32] }, 'args[0].tensorMap.box[0] is 64, 256 bytes a row; swizzled by 128'],
    [{ box: [32, 300] }, 'args[0].tensorMap.box[1] is 300; expected an integer of 1 to 256'],
    [{ offsetBytes: 8 }, 'args[0].tensorMap.address'],
    [{ of: 'b' }, 'args[0].tensorMap.buffer: give only one of buffer, of and symbol'],
    [{ buffer: undefined, of: 'nobody' }, "args[0].tensorMap.of: no buffer has the name 'nobody'"],
    [{ buffer: undefined }, 'args[0].tensorMap.of: is missing'],
    [{ type: 'tf32' }, 'args[0].tensorMap.type: expected one of u8, u16'],
    [{ swizzle: 128 }, "there is no field 'swizzle'"],
  ])('are refused with %o', (wrong, text) => {
    expect(complaint(wrong)).toContain(text);
  });
});
