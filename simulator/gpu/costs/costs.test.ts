import { describe, expect, it } from 'vitest';
import { DEVICE_RESOURCES, SM_RESOURCES } from '../timing/index.js';
import { CostError, CostLibrary, checkCosts, parseCosts, writtenWork } from './index.js';

const MODULE = 'a'.repeat(64);

const work = writtenWork({
  sm: SM_RESOURCES.map(() => 1),
  device: DEVICE_RESOURCES.map(() => 1),
  chainCycles: 100,
  chainFixedNs: 0,
  warps: 8,
});

function variant(blocks: number, instructions: number, scalars = '') {
  return { grid: [blocks, 1, 1], scalars, blocks: [[blocks, instructions, 32 * instructions]], work };
}

function document(variants: readonly object[]): Record<string, unknown> {
  return {
    format: 'windjammer-costs',
    version: 1,
    device: 'h200',
    kernels: [
      {
        module: MODULE,
        file: 'k.ptx',
        kernel: 'k',
        block: [256, 1, 1],
        dynamicSharedBytes: 0,
        registers: 16,
        sharedBytes: 0,
        variants,
      },
    ],
  };
}

function find(library: CostLibrary, blocks: number, scalars = '', kernel = 'k', threads = 256) {
  return library.find({
    module: MODULE,
    kernel,
    shape: { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 },
    scalars: () => scalars,
  });
}

describe('a cost profile', () => {
  it.each([
    [{ ...document([variant(4, 10)]), version: 2 }, /^version: /],
    [{ ...document([variant(4, 10)]), format: 'other' }, /^format: /],
    [document([]), /^kernels\[0\]\.variants: /],
    [
      document([{ ...variant(4, 10), grid: [5, 1, 1] }]),
      /variants\[0\]\.blocks: tells of another number of blocks/,
    ],
    [document([{ ...variant(4, 10), work: undefined }]), /variants\[0\]: has either 'profile' or 'work'/],
    [
      document([{ ...variant(4, 10), scalars: 'xyz' }]),
      /variants\[0\]\.scalars: is not a string of hexadecimal/,
    ],
    [document([{ ...variant(4, 10), more: 1 }]), /variants\[0\]: .*more/],
    [
      document([{ ...variant(4, 10), work: { ...work, sm: { ...work.sm, issue: -1 } } }]),
      /work\.sm\.issue: /,
    ],
    [
      document([{ ...variant(4, 10), work: { ...work, sm: { ...work.sm, issue: 1e300 } } }]),
      /work\.sm\.issue: Too big/,
    ],
    [
      document([{ ...variant(4, 10), verdict: { idempotent: 'yes', of: 'launch' } }]),
      /verdict\.idempotent: /,
    ],
    [document([{ ...variant(4, 10), verdict: { idempotent: true, of: 'grid' } }]), /verdict\.of: .*"kernel"/],
    [
      document([{ ...variant(4, 10), verdict: { idempotent: false, of: 'launch', cause: 'XX' } }]),
      /verdict\.cause: .*"NA"/,
    ],
    [
      document([{ ...variant(4, 10), verdict: { idempotent: true, of: 'launch', cause: 'NA' } }]),
      /verdict\.cause: tells why a launch is not idempotent, and this one is/,
    ],
    [document([{ ...variant(4, 10), contextBytes: -1 }]), /contextBytes: /],
    [42, /^cost profile: /],
  ])('that is wrong names the field', (value, message) => {
    expect(() => checkCosts(value)).toThrow(message);
  });

  it('that is no JSON names the file', () => {
    expect(() => parseCosts('{', 'costs.json')).toThrow(/^costs\.json: not JSON: /);
  });
});

describe('a library of costs', () => {
  it('gives what was recorded of grid and arguments', () => {
    const library = new CostLibrary([checkCosts(document([variant(4, 10, '01'), variant(4, 90, '02')]))]);
    expect(find(library, 4, '02').counts).toEqual([{ warpInstructions: 90, threadInstructions: 2880 }]);
  });

  it('stretches launches whose blocks do the same to other grids', () => {
    const runs = {
      ...variant(8, 0),
      blocks: [
        [6, 10, 320],
        [2, 9.5, 300],
      ],
    };
    const library = new CostLibrary([checkCosts(document([runs, variant(2, 10)]))]);
    expect(find(library, 80).ends).toEqual([60, 80]);
    expect(find(library, 80)).toBe(find(library, 80));
  });

  it('tells verdicts of kernels that have no code, where somebody gave them', () => {
    const verdict = { idempotent: false, of: 'launch', cause: 'NA' };
    const library = new CostLibrary([
      checkCosts(document([{ ...variant(4, 10), verdict, contextBytes: 512 }])),
    ]);
    const key = {
      module: MODULE,
      kernel: 'k',
      shape: { grid: [4, 1, 1], block: [256, 1, 1], dynamicSharedBytes: 0 },
      scalars: () => '',
    } as const;
    expect(library.verdictOf(key)).toEqual(verdict);
    expect(find(library, 4)).toMatchObject({ verdict, contextBytes: 512 });
    expect(new CostLibrary([checkCosts(document([variant(4, 10)]))]).verdictOf(key)).toBeUndefined();
    expect(library.verdictOf({ ...key, kernel: 'other' })).toBeUndefined();
  });

  it('refuses by name what nobody recorded', () => {
    const library = new CostLibrary([checkCosts(document([variant(4, 10, '01'), variant(8, 90, '02')]))]);
    expect(() => find(library, 16)).toThrow(CostError);
    expect(() => find(library, 16)).toThrow(
      /grid: \[16,1,1\] of 'k' .* differs .*\(grids \[4,1,1\], \[8,1,1\]\)/,
    );
    expect(() => find(library, 4, '', 'other')).toThrow(/no cost of 'other'.*nothing of it was recorded/);
    expect(() => find(library, 4, '', 'k', 64)).toThrow(
      /blocks of \[64,1,1\].*recorded are blocks of \[256,1,1\]/,
    );
  });
});
