import { describe, expect, it } from 'vitest';
import type { Dim3 } from '../../executor/index.js';
import { AllocationMap } from './index.js';
import { Kernels } from './tests/launches.js';

const kernels = new Kernels('boundary.ptx');
const A = 0x400000000000;
const N = 1000;
/** 1024 threads, so that the last block has some too many. */
const GRID = 8;
const BLOCK = 128;

type Args = readonly number[];

function verdict(name: string, args: Args, grid: number | Dim3 = GRID, block: number | Dim3 = BLOCK): string {
  const found = kernels.validator(name).explain(kernels.launch(name, args, grid, block));
  return found.idempotent ? 'true' : `false ${found.cause ?? ''}`;
}

describe('verdicts at the boundaries', () => {
  const cases: readonly [string, string, Args, string][] = [
    ['distinct buffers', 'add', [A + 0x10000, A, A + 0x20000, N], 'true'],
    ['C is A', 'add', [A, A, A + 0x20000, N], 'false SO'],
    ['C is B', 'add', [A + 0x20000, A, A + 0x20000, N], 'false SO'],
    ['C right behind A', 'add', [A + 4 * N, A, A + 0x20000, N], 'true'],
    ['C right before A', 'add', [A - 4 * N, A, A + 0x20000, N], 'true'],
    ['C one element into A', 'add', [A + 4 * (N - 1), A, A + 0x20000, N], 'false MO'],
    ['one byte in common', 'addBytes', [A + N - 1, A, N], 'false MO'],
    ['bytes side by side', 'addBytes', [A + N, A, N], 'true'],
    ['halves of one buffer', 'secondHalf', [A, N], 'true'],
    ['the end of a vector', 'sumFour', [A + 16 * N - 12, A, N], 'false MO'],
    ['behind a vector', 'sumFour', [A + 16 * N, A, N], 'true'],
    ['nothing to do', 'add', [A, A, A, 0], 'true'],
    ['less than nothing', 'add', [A, A, A, -5], 'true'],
    ['one element', 'add', [A + 4, A, A + 8, 1], 'true'],
    ['odd and even', 'oddToEven', [A, N], 'false RO'],
    ['in place', 'inPlace', [A, N], 'false SO'],
    ['written, then read', 'writeThenRead', [A, A + 0x10000, N], 'false MO'],
    ['an index that wraps', 'spread', [A, A + 0x10000, 0x40000001, N], 'false RO'],
    ['the same index that does not', 'spread', [A, A + 0x10000, 2, N], 'true'],
    ['from the end', 'backwards', [A, A + 4 * N, N], 'true'],
    ['from the end, one in common', 'backwards', [A, A + 4 * N - 4, N], 'false MO'],
    ['an index from memory', 'gather', [A, A + 0x10000, A + 0x20000, N], 'false NA'],
    // 2^62 − 1 elements on is the one before the first.
    ['an index without an upper end', 'scatterFromZero', [A + 0x20000, A, A + 0x10000], 'false NA'],
    ['the other path', 'firstOnly', [A, A + 0x10000, A, 0, N], 'true'],
    ['this path', 'firstOnly', [A, A + 0x10000, A, 1, N], 'false SO'],
    ['only writes', 'fill', [A, N], 'true'],
    ['an atomic', 'count', [A, N], 'false SO'],
  ];
  it.each(cases)('%s: %s', (_, name, args, told) => {
    expect(verdict(name, args)).toBe(told);
  });

  it('knows the guard: threads beyond it touch nothing, and without one all do', () => {
    expect(verdict('add', [A + 40, A, A + 0x20000, 10])).toBe('true');
    expect(verdict('copyUnguarded', [A + 4 * N, A])).toBe('false MO');
    expect(verdict('copyUnguarded', [A + 4096, A])).toBe('true');
  });

  it('knows the second and third dimension', () => {
    expect(verdict('plane', [A + 4096, A, 32, 32], [4, 4, 1], [8, 8, 1])).toBe('true');
    expect(verdict('plane', [A + 4092, A, 32, 32], [4, 4, 1], [8, 8, 1])).toBe('false MO');
    // Half of the rows.
    expect(verdict('plane', [A + 2048, A, 32, 32], [4, 2, 1], [8, 8, 1])).toBe('true');
  });

  it('keeps an index from memory within the allocation of its pointer, when told to', () => {
    const validator = kernels.validator('gather', { allocationBound: true });
    const args = [A, A + 0x10000, A + 0x20000, N];
    const apart = new AllocationMap(
      [A, A + 0x10000, A + 0x20000].map((virtualAddress) => ({ virtualAddress, bytes: 0x8000 })),
    );
    const together = new AllocationMap([{ virtualAddress: A, bytes: 0x40000 }]);
    expect(validator.judge(kernels.launch('gather', args, GRID, BLOCK, { allocations: apart }))).toBe(true);
    expect(validator.judge(kernels.launch('gather', args, GRID, BLOCK, { allocations: together }))).toBe(
      false,
    );
    expect(validator.judge(kernels.launch('gather', args, GRID, BLOCK))).toBe(false);
  });

  it('knows where variables of the module lie', () => {
    const validator = kernels.validator('intoTable');
    const judge = (table: number): boolean =>
      validator.judge(kernels.launch('intoTable', [A], 1, 64, { symbols: new Map([['table', table]]) }));
    expect(judge(A + 256)).toBe(true);
    expect(judge(A + 252)).toBe(false);
    // Nobody says where: it may be anywhere.
    expect(validator.judge(kernels.launch('intoTable', [A], 1, 64))).toBe(false);
  });

  it('answers with what it cannot judge exactly by refusing', () => {
    expect(verdict('add', [Number.MAX_SAFE_INTEGER, A, A + 0x20000, N])).toBe('false RO');
  });
});
