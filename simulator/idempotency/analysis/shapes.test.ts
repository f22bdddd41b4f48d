import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Dim3 } from '../../executor/index.js';
import { parseModule } from '../../ptx/index.js';
import { analyzeKernel } from './analyzeKernel.js';
import { ReferenceEvaluator, type Interval } from './tests/referenceEvaluator.js';

const file = new URL('./tests/fixtures/shapes.ptx', import.meta.url);
const module = parseModule(readFileSync(file, 'utf8'), 'shapes.ptx');

const BASE = 2 ** 46;

interface Shape {
  readonly grid?: Dim3;
  readonly block?: Dim3;
}

/** Whether a launch's intervals of reads and writes are apart; arguments of 2^40 and more are pointers. */
function isAccepted(kernel: string, args: readonly number[], shape: Shape = {}): boolean {
  const summary = analyzeKernel(module, kernel);
  if (summary.class !== 'conditional') return summary.class === 'idempotent';
  const parameters = module.functions.find((fn) => fn.name === kernel)?.parameters ?? [];
  const bytes = new DataView(new ArrayBuffer(64));
  parameters.forEach(({ offset, bytes: size }, index) => {
    if (size === 8) bytes.setBigUint64(offset, BigInt(args[index] ?? 0), true);
    else bytes.setInt32(offset, args[index] ?? 0, true);
  });
  const { grid = [4, 1, 1], block = [64, 1, 1] } = shape;
  const symbols = new Map<string, number>();
  const evaluator = new ReferenceEvaluator(summary, {
    args: new Uint8Array(bytes.buffer),
    grid,
    block,
    symbols,
  });
  const of = (kind: 'read' | 'write'): Interval[] =>
    summary.accesses.flatMap((access, index) => {
      const found = access.kind === kind ? evaluator.bytesOf(index) : undefined;
      return found === undefined ? [] : [found];
    });
  return !of('read').some((read) => of('write').some((write) => meet(read, write)));
}

function meet(a: Interval, b: Interval): boolean {
  const reaches = (lo: bigint | null, hi: bigint | null): boolean => lo === null || hi === null || lo <= hi;
  return reaches(a.lo, b.hi) && reaches(b.lo, a.hi);
}

describe('what nvcc makes of the usual shapes', () => {
  const far = BASE + 2 ** 30;
  const tile: Shape = { grid: [4, 4, 1], block: [16, 16, 1] };

  it.each([
    ['distinct buffers', 'addVectors', [BASE, far, 2 * BASE, 200], {}, true],
    ['one buffer', 'addVectors', [BASE, BASE, far, 200], {}, false],
    ['buffers side by side, the guard inside the grid', 'addVectors', [BASE, BASE + 800, far, 200], {}, true],
    ['one element more', 'addVectors', [BASE, BASE + 800, far, 201], {}, false],
    ['nothing to do', 'addVectors', [BASE, BASE, BASE, 0], {}, true],
    ['bytes side by side', 'copyBytes', [BASE + 100, BASE, 100], {}, true],
    ['bytes that overlap by one', 'copyBytes', [BASE + 99, BASE, 100], {}, false],
    ['no guard', 'copyUnguarded', [BASE, BASE + 4 * 256], {}, true],
    ['no guard, one element short', 'copyUnguarded', [BASE, BASE + 4 * 255], {}, false],
    ['a loop of a million rounds', 'reluRows', [BASE, BASE + 2 ** 40, 1_000_000], {}, true],
    ['rows side by side', 'reluRows', [BASE, BASE + 4 * 256 * 7, 7], {}, true],
    ['rows that overlap', 'reluRows', [BASE, BASE + 4 * 256 * 7 - 4, 7], {}, false],
    ['a strided loop', 'scaleStrided', [BASE, BASE + 4 * 1000, 1000], {}, true],
    ['a strided loop that overlaps', 'scaleStrided', [BASE, BASE + 4 * 999, 1000], {}, false],
    ['a loop from the end', 'scaleBackward', [BASE, BASE + 4 * 1000, 1000], {}, true],
    ['a tiled product', 'multiplyTiled', [BASE, BASE + 4 * 50 * 60, far, 50, 60, 70], tile, true],
    [
      'a tiled product into its factor',
      'multiplyTiled',
      [BASE, BASE + 4 * 50 * 60 - 4, far, 50, 60, 70],
      tile,
      false,
    ],
    ['a stencil', 'stencil', [BASE, BASE + 4 * 50 * 60, 50, 60], tile, true],
    ['a transposition', 'transpose', [BASE, BASE + 4 * 50 * 60, 50, 60], tile, true],
    ['a table of ten', 'tabulated', [BASE, BASE + 4 * 200, 200], {}, true],
    ['a table of ten, before', 'tabulated', [BASE, BASE - 40, 200], {}, true],
    ['a table of nine', 'tabulated', [BASE, BASE - 36, 200], {}, false],
    ['a vector whose end is written', 'sumQuads', [BASE + 16 * 100 - 4, BASE, 100], {}, false],
    ['a vector up to what is written', 'sumQuads', [BASE + 16 * 100, BASE, 100], {}, true],
    ['odd to even', 'oddToEven', [BASE, 100], {}, false],
    [
      'an index beyond 32 bits',
      'addVectors',
      [BASE, far, 2 * BASE, 2 ** 31 - 1],
      { grid: [2 ** 25, 1, 1] },
      false,
    ],
    ['a value that an argument keeps', 'keepOrReplace', [BASE, far, 1, 100], {}, false],
    ['a value that no argument keeps', 'keepOrReplace', [BASE, far, 0, 100], {}, true],
    ['a gathered index', 'gather', [BASE, far, 2 * BASE, 100], {}, false],
    ['two buffers in turn', 'concatenate', [BASE + 400, BASE, BASE + 1200, 100, 100], {}, true],
    ['the first one byte in', 'concatenate', [BASE + 399, BASE, BASE + 1200, 100, 100], {}, false],
    ['the second one byte in', 'concatenate', [BASE + 400, BASE, BASE + 1199, 100, 100], {}, false],
    ['neighbours at the edge', 'clampedDifference', [BASE, BASE + 800, 20, 10], {}, true],
    ['neighbours at the edge, one in', 'clampedDifference', [BASE, BASE + 796, 20, 10], {}, false],
    ['neighbours behind', 'clampedDifferenceUnsigned', [BASE, BASE + 800, 20, 10], {}, true],
    ['neighbours before', 'clampedDifferenceUnsigned', [BASE + 800, BASE, 20, 10], {}, true],
    ['neighbours and no column', 'clampedDifferenceUnsigned', [BASE + 800, BASE, 20, 0], {}, true],
    ['a frame of zeros', 'padded', [BASE, BASE + 400], {}, true],
    ['a frame of zeros, before', 'padded', [BASE + 256, BASE], {}, true],
    ['a frame of zeros, one in', 'padded', [BASE + 252, BASE], {}, false],
    ['a ring whose index wraps', 'ring', [BASE, BASE + 512, -20, 100], {}, true],
    ['a ring into what it reads', 'ring', [BASE, BASE + 508, -20, 100], {}, false],
    ['a count over two loops', 'counted', [BASE, BASE + 4 * 6 * 7, 6, 7], {}, true],
    ['a count over two loops, one more', 'counted', [BASE, BASE + 4 * 6 * 7 - 4, 6, 7], {}, false],
    ['a condition in memory', 'whereFlagged', [BASE, far, 2 * BASE, 100], {}, true],
  ] as const)('%s (%s)', (_, kernel, args, shape, expected) => {
    expect(isAccepted(kernel, args, shape)).toBe(expected);
  });

  it.each([
    ['increment', 'nonIdempotent', 'SO'],
    ['writeThenRead', 'nonIdempotent', 'MO'],
    ['firstArrives', 'nonIdempotent', 'NC'],
    ['fill', 'idempotent', undefined],
    ['gather', 'conditional', undefined],
  ] as const)('%s is %s', (kernel, expected, cause) => {
    const summary = analyzeKernel(module, kernel);
    expect([summary.class, summary.reason.cause]).toEqual([expected, cause]);
  });
});

describe('what leaves no trace in memory', () => {
  const verdict = (body: string) => {
    const text = `.version 9.0\n.target sm_90a\n.address_size 64
.visible .entry k(.param .u64 p) { .reg .u64 %rd; .reg .u32 %r; .reg .u64 %c; .reg .pred %q;
ld.param.u64 %rd, [p]; ${body} ret; }`;
    return analyzeKernel(parseModule(text, 'k.ptx'), 'k');
  };

  it.each(['griddepcontrol.wait;', 'griddepcontrol.launch_dependents;', 'fence.sc.sys;', 'nanosleep.u32 9;'])(
    '%s leaves a store one that may run again',
    (inert) => {
      expect(verdict(`${inert} st.global.u32 [%rd], 1;`).class).toBe('idempotent');
    },
  );

  it.each(['st.volatile.global.u32 [%rd], 1;', 'st.release.sys.global.u32 [%rd], 1;'])(
    '%s may run again',
    (store) => {
      expect(verdict(store).class).toBe('idempotent');
    },
  );

  it.each(['atom.sys.global.exch.b32 %r, [%rd], 1;', 'red.relaxed.sys.global.add.u32 [%rd], 1;'])(
    '%s may not',
    (update) => {
      expect(verdict(update)).toMatchObject({ class: 'nonIdempotent', reason: { cause: 'SO' } });
    },
  );

  it.each(['pmevent 3;', 'pmevent.mask 3;'])('%s is seen from outside', (event) => {
    expect(verdict(`${event} st.global.u32 [%rd], 1;`)).toMatchObject({ reason: { cause: 'IF' } });
  });

  it('barriers of a cluster may run again, and what reaches shared memory of other blocks may not', () => {
    const met = 'barrier.cluster.arrive; barrier.cluster.wait;';
    expect(verdict(`${met} st.global.u32 [%rd], 1;`).class).toBe('idempotent');
    const mapped = 'mov.u32 %r, %cluster_nctarank; cvt.u64.u32 %c, %r; mapa.u64 %c, %c, 1;';
    expect(verdict(`${mapped} ${met} st.global.u32 [%rd], 1;`)).toMatchObject({
      class: 'nonIdempotent',
      reason: { cause: 'IF' },
    });
  });

  // Two uninterrupted runs differ in the value alone; where or whether one stores may not hang on it.
  it.each(['%clock64', '%globaltimer', '%gridid'])('a value of %s may be stored', (name) => {
    const read = `mov.u64 %c, ${name};`;
    expect(verdict(`${read} st.global.u64 [%rd], %c;`).class).toBe('idempotent');
    expect(verdict(`${read} setp.lt.u64 %q, %c, 9; @%q st.global.u64 [%rd], 1;`).reason.cause).toBe('NC');
    expect(
      verdict(`${read} and.b64 %c, %c, 8; add.u64 %rd, %rd, %c; st.global.u64 [%rd], 1;`).reason.cause,
    ).toBe('NA');
  });
});

describe('accesses of a device', () => {
  it.each(['st.mmio.relaxed.sys.global.u32 [%rd], %r', 'ld.mmio.relaxed.sys.global.u32 %r, [%rd]'])(
    'make %s no launch that may run again',
    (access) => {
      const text = `.version 9.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 p) { .reg .u64 %rd; .reg .u32 %r; ld.param.u64 %rd, [p]; mov.u32 %r, 1; ${access}; ret; }`;
      const summary = analyzeKernel(parseModule(text, 'k.ptx'), 'k');
      expect(summary).toMatchObject({ class: 'nonIdempotent', reason: { cause: 'SO' } });
    },
  );
});
