import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AllocationMap, analyzeKernel, type Validator } from '../../../idempotency/index.js';
import { validatorInMode } from '../../validatorModes/index.js';
import { parseModule, type IrModule } from '../../../ptx/index.js';
import type { InstanceArgument, IntervalSource, LaunchInstance, PlacedInstance } from '../oracles/index.js';
import { judgePlaced, OracleBench } from '../oracles/index.js';

const modules = ['hardKernels.ptx', 'handWritten.ptx'].map((file) =>
  parseModule(readFileSync(new URL(file, import.meta.url), 'utf8'), file),
);
const moduleOf = (entry: string): IrModule => {
  const found = modules.find(({ functions }) => functions.some(({ name }) => name === entry));
  if (found === undefined) throw new Error(`no kernel ${entry}`);
  return found;
};
const bench = new OracleBench();
const validators = new Map<string, Validator>();

/** All pointers lead into one allocation, so that what runs over an end of its part meets the next. */
const ARENA_BYTES = 16_384;
const A = 4096;

const p = (offset: number): InstanceArgument => ({
  bytes: new Uint8Array(8),
  pointers: [{ at: 0, allocation: 0, offset }],
});
const i = (value: number): InstanceArgument => ({ bytes: new Uint8Array(new Int32Array([value]).buffer) });
const l = (value: number): InstanceArgument => ({
  bytes: new Uint8Array(new BigInt64Array([BigInt(value)]).buffer),
});

function fields(shift: number, ahead: number, out: number, from: number, count: number): InstanceArgument {
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  view.setInt8(0, shift);
  view.setInt16(2, ahead, true);
  view.setUint8(24, count);
  const pointers = [
    { at: 8, allocation: 0, offset: out },
    { at: 16, allocation: 0, offset: from },
  ];
  return { bytes, pointers };
}

function instance(
  entry: string,
  args: readonly InstanceArgument[],
  grid: number,
  block: number,
): LaunchInstance {
  const words = Uint32Array.from({ length: ARENA_BYTES / 4 }, (_, at) => (at * 7 + (at >> 3)) % 23);
  const shape = { grid: [grid, 1, 1], block: [block, 1, 1], dynamicSharedBytes: 0 } as const;
  return { ir: moduleOf(entry), entry, shape, allocations: [{ bytes: new Uint8Array(words.buffer) }], args };
}

function launchOf({ launch, addresses }: PlacedInstance) {
  const { module, params, shape } = launch;
  const allocations = new AllocationMap([{ virtualAddress: addresses[0] ?? 0, bytes: ARENA_BYTES }]);
  return { params, shape, symbols: module.symbols, allocations };
}

function predicted(validator: Validator, placed: PlacedInstance): IntervalSource | undefined {
  const { isComplete, count, lo, hi, line, isWrite } = validator.intervals(launchOf(placed));
  if (!isComplete) return undefined;
  const all = Array.from({ length: count }, (_, at) => ({
    line: line[at] ?? 0,
    rw: isWrite[at] === 1 ? 'W' : 'R',
    lo: lo[at] ?? -Infinity,
    hi: hi[at] ?? Infinity,
  }));
  return {
    predictedIntervals: (where, rw) => all.filter((each) => each.line === where && each.rw === rw),
  };
}

const LARGE = 0x8000_0001 | 0;

describe('verdicts on hard kernels, held to trace, kills and cover', () => {
  it.each([
    ['unsignedLimits', 'one buffer, a limit beyond 2^31', [p(A), p(A), i(LARGE), i(3)], 4, 64, false],
    ['unsignedLimits', 'apart, a small limit', [p(A), p(A + 160), i(40), i(40)], 2, 32, true],
    ['unsignedLimits', 'one word shared', [p(A), p(A + 156), i(40), i(40)], 2, 32, false],
    ['unsignedLimits', 'no limit', [p(A), p(A), i(0), i(40)], 2, 32, true],
    ['unsignedQuotient', 'one buffer, a negative limit', [p(A), p(A), i(-2), i(31)], 2, 32, false],
    ['unsignedQuotient', 'apart', [p(A), p(A + 4 * 64), i(5), i(64)], 2, 32, true],
    ['unsignedQuarter', 'one buffer, a negative limit', [p(A), p(A), i(-1), i(9)], 2, 32, false],
    ['unsignedQuarter', 'apart', [p(A), p(A + 4 * 36), i(100), i(9)], 2, 32, true],
    ['lastSeen', 'apart', [p(A), p(A + 4 * 100), i(100)], 2, 32, true],
    ['lastSeen', 'the value of long ago is read', [p(A), p(A + 4 * 99), i(100)], 2, 32, false],
    ['signedByte', 'apart', [p(A), p(A), i(256)], 4, 64, undefined],
    ['signedByte', 'the least index meets the greatest', [p(A), p(A), i(255)], 4, 64, false],
    ['byParity', 'apart', [p(A), p(A + 200), p(A + 400), i(50)], 2, 32, true],
    ['byParity', 'one of the pairs meets', [p(A), p(A + 200), p(A + 392), i(50)], 2, 32, false],
    ['jumps', 'apart', [p(A), p(A + 4 * 128), i(70)], 1, 32, true],
    ['jumps', 'side by side', [p(A), p(A), i(70)], 1, 32, false],
    ['backward', 'apart', [p(A), p(A + 400), i(100), i(100)], 1, 32, true],
    ['backward', 'down into what is read', [p(A), p(A + 380), i(100), i(4)], 1, 32, false],
    ['triangle', 'apart', [p(A), p(A + 128), i(9)], 1, 32, undefined],
    ['triangle', 'up to what is read', [p(A + 4 * 36), p(A), i(9)], 1, 32, undefined],
    ['triangle', 'one word further', [p(A + 4 * 35), p(A), i(9)], 1, 32, false],
    ['halves', 'apart', [p(A), p(A + 160), i(40)], 2, 32, true],
    ['halves', 'one word shared', [p(A), p(A + 156), i(40)], 2, 32, false],
    ['wrapsAround', 'apart', [p(A + 1024), p(A), i(50)], 1, 32, undefined],
    ['pingPong', 'one turn, apart', [p(A), p(A + 256), i(1)], 2, 32, undefined],
    ['pingPong', 'two turns', [p(A), p(A + 256), i(2)], 2, 32, false],
    ['structure', 'apart', [fields(-4, 3, A + 400, A, 100)], 2, 64, true],
    ['structure', 'ahead by a negative short', [fields(-4, -100, A + 400, A, 100)], 2, 64, false],
    ['structure', 'nothing', [fields(0, 0, A, A, 0)], 2, 64, true],
    ['reversed', 'apart', [p(A + 77), p(A), i(77)], 2, 64, true],
    ['reversed', 'one byte shared', [p(A + 76), p(A), i(77)], 2, 64, false],
    ['predicated', 'apart', [p(A), p(A + 200), i(50)], 1, 64, true],
    ['predicated', 'one word shared', [p(A), p(A + 196), i(50)], 1, 64, false],
    ['compacted', 'apart', [p(A), p(A + 1024), i(64)], 1, 64, false],
    ['readsAhead', 'all of it apart', [i(32)], 1, 32, true],
    ['readsAhead', 'next door', [i(1)], 1, 32, true],
    ['firstUnderPredicate', 'where it is not written it is zero', [p(A), p(A + 128), i(16)], 1, 32, false],
    ['firstUnderPredicate', 'in place without it', [p(A), p(A), i(16)], 1, 32, false],
    ['eitherPredicate', 'apart', [p(A + 4 * 80), p(A), i(16)], 1, 32, true],
    ['eitherPredicate', 'one word shared', [p(A + 4 * 79), p(A), i(16)], 1, 32, false],
    ['ownBarrier', 'apart', [p(A + 64), p(A)], 1, 64, false],
    ['otherSide', 'apart', [p(A + 64), p(A)], 1, 64, false],
    ['behindEither', 'apart', [p(A + 64), p(A)], 1, 64, false],
    ['barrierBetween', 'apart', [p(A + 64), p(A)], 1, 64, true],
    ['fourBits', 'apart', [p(A + 64), p(A), i(0)], 1, 32, true],
    ['fourBits', 'one word shared', [p(A + 60), p(A), i(0)], 1, 32, false],
    ['throughConstant', 'apart', [p(A), p(A + 128)], 1, 32, true],
    ['throughConstant', 'one word shared', [p(A), p(A + 124)], 1, 32, false],
    ['scatterBounded', 'apart', [p(A), p(A + 256), p(A + 512), i(40)], 2, 32, true],
    ['scatterBounded', 'one word shared', [p(A), p(A + 256), p(A - 156), i(40)], 2, 32, false],
    ['scatterBounded', 'no limit', [p(A), p(A + 256), p(A), i(0)], 2, 32, true],
    ['scatterBounded', 'a negative limit', [p(A), p(A + 256), p(A), i(-5)], 2, 32, true],
    ['scatterReversed', 'apart', [p(A), p(A + 256), p(A + 512), i(40)], 2, 32, true],
    ['scatterReversed', 'one word shared', [p(A), p(A + 256), p(A + 508), i(40)], 2, 32, false],
    ['scatterClamped', 'apart', [p(A), p(A + 256), p(A + 512), i(20)], 2, 32, true],
    ['scatterClamped', 'one word shared', [p(A), p(A + 256), p(A - 76), i(20)], 2, 32, false],
    ['scatterClamped', 'no limit: one below', [p(A), p(A + 256), p(A + 512), i(0)], 2, 32, false],
    ['scatterUnsigned', 'apart', [p(A), p(A + 256), p(A + 512), i(40)], 2, 32, true],
    ['scatterUnsigned', 'one word shared', [p(A), p(A + 256), p(A - 156), i(40)], 2, 32, false],
    ['scatterUnsigned', 'a limit beyond 2^31', [p(A), p(A + 256), p(A - 2000), i(LARGE)], 2, 32, false],
    ['scatterByCast', 'apart', [p(A), p(A + 256), p(A + 516), i(40)], 2, 32, true],
    ['scatterByCast', 'one word shared', [p(A), p(A + 256), p(A + 512), i(40)], 2, 32, false],
    ['scatterByCast', 'a limit beyond 2^31', [p(A), p(A + 256), p(A + 1024), i(LARGE)], 2, 32, false],
    ['gatherBounded', 'apart', [p(A), p(A + 512), p(A + 768), i(100)], 2, 32, true],
    ['gatherBounded', 'one word shared', [p(A + 768), p(A + 512), p(A + 516), i(100)], 2, 32, false],
    ['gatherBounded', 'nothing is read', [p(A), p(A + 512), p(A), i(0)], 2, 32, true],
    ['scatterFrom', 'apart', [p(A), p(A + 256), p(A + 512), i(4), i(40)], 2, 32, true],
    ['scatterFrom', 'from a negative one', [p(A), p(A + 256), p(A + 512), i(-9), i(40)], 2, 32, true],
    ['scatterFrom', 'one word shared', [p(A), p(A + 256), p(A - 156), i(4), i(40)], 2, 32, false],
    ['scatterFrom', 'wrapping around', [p(A), p(A + 256), p(A + 512), i(LARGE), i(40)], 2, 32, true],
    ['scatterFromUnsigned', 'apart', [p(A), p(A + 256), p(A + 512), i(4), i(40)], 2, 32, true],
    ['scatterFromUnsigned', 'one word shared', [p(A), p(A + 256), p(A - 156), i(4), i(40)], 2, 32, false],
    ['scatterWide', 'apart', [p(A), p(A + 256), p(A + 768), l(40)], 2, 32, true],
    ['scatterWide', 'one word shared', [p(A), p(A + 256), p(A + 764), l(40)], 2, 32, false],
    ['scatterWideUnsigned', 'apart', [p(A), p(A + 256), p(A + 768), l(40)], 2, 32, true],
    ['scatterWideUnsigned', 'one word shared', [p(A), p(A + 256), p(A + 764), l(40)], 2, 32, false],
    ['scatterShort', 'apart', [p(A), p(A + 256), p(A + 512), i(40)], 2, 32, true],
    ['scatterShort', 'one word shared', [p(A), p(A + 256), p(A - 156), i(40)], 2, 32, false],
    ['scatterBelow', 'any below', [p(A), p(A + 256), p(A + 2048), i(40)], 2, 32, false],
    ['scatterWrapping', 'from -40 on', [p(A), p(A + 256), p(A + 512), i(30)], 2, 32, false],
    ['scatterOtherSign', 'apart', [p(A), p(A + 256), p(A + 512), i(40), i(0)], 2, 32, true],
    ['scatterOtherSign', 'large', [p(A), p(A + 256), p(A + 1024), i(LARGE), i(-500)], 2, 32, false],
    ['rowsBounded', 'apart', [p(A), p(A + 256), p(A + 512), i(8), i(8)], 2, 32, true],
    ['rowsBounded', 'one word shared', [p(A + 572), p(A + 256), p(A + 512), i(8), i(8)], 2, 32, false],
    ['rowsBounded', 'the last row', [p(A + 260), p(A), p(A + 512), i(8), i(8)], 2, 32, false],
    ['testedBefore', 'any index', [p(A), p(A + 256), p(A + 1024), i(40), i(5)], 2, 32, false],
    [
      'testedBeforeUnsigned',
      'all indices are above',
      [p(A), p(A + 256), p(A + 1024), i(40), i(5)],
      2,
      32,
      true,
    ],
    ['testedBeforeUnsigned', 'any index', [p(A), p(A + 256), p(A - 1024), i(40), i(5)], 2, 32, false],
    ['scatterFromEnd', 'apart', [p(A), p(A + 256), p(A + 512), i(40)], 2, 32, true],
    ['scatterFromEnd', 'one word shared', [p(A), p(A + 256), p(A - 156), i(40)], 2, 32, false],
    ['scatterFromEnd', 'a negative length', [p(A), p(A + 256), p(A), i(-8)], 2, 32, true],
    ['scatterFromEndWide', 'apart', [p(A), p(A + 256), p(A + 768), l(40)], 2, 32, true],
    ['scatterFromEndWide', 'one word shared', [p(A), p(A + 256), p(A + 764), l(40)], 2, 32, false],
    ['scatterFromEndBelow', 'far below', [p(A), p(A + 256), p(A + 1024), i(8)], 2, 32, false],
    ['scatterLowHalf', 'apart', [p(A), p(A + 256), p(A + 768), i(40)], 2, 32, true],
    ['scatterLowHalf', 'one word shared', [p(A), p(A + 256), p(A + 764), i(40)], 2, 32, false],
    ['scatterLowHalfWide', 'apart', [p(A), p(A + 256), p(A + 768), i(40)], 2, 32, true],
    ['scatterLowHalfWide', 'one word shared', [p(A), p(A + 256), p(A + 764), i(64)], 2, 32, false],
    ['rowsInSteps', 'apart', [p(A), p(A + 392), i(49)], 2, 64, true],
    ['rowsInSteps', 'apart, two steps', [p(A), p(A + 1024), i(128)], 2, 64, true],
    ['rowsInSteps', 'one word shared', [p(A), p(A + 388), i(49)], 2, 64, false],
    ['rowsInSteps', 'nothing', [p(A), p(A), i(0)], 2, 64, true],
    ['rowsInSteps', 'less than nothing', [p(A), p(A), i(-70)], 2, 64, true],
    ['rowsInLongSteps', 'apart', [p(A), p(A + 128), l(16)], 2, 16, true],
    ['rowsInLongSteps', 'one word shared', [p(A), p(A + 124), l(16)], 2, 16, false],
    ['stepsAtLeastOne', 'threads beyond the end', [p(A), p(A + 40), i(10)], 1, 32, false],
    ['stepsAtLeastOne', 'apart', [p(A), p(A + 512), i(10)], 1, 32, undefined],
  ] as const)('%s: %s', (entry, _, args, grid, block, expected) => {
    bench.with(instance(entry, args, grid, block), (placed) => {
      const validator = validators.get(entry) ?? validatorInMode(analyzeKernel(moduleOf(entry), entry));
      validators.set(entry, validator);
      const { idempotent, cause } = validator.explain(launchOf(placed));
      expect(cause === undefined).toBe(idempotent);
      const judgement = judgePlaced(placed, { kills: 8, predict: () => predicted(validator, placed) });
      if (judgement.kind === 'fault') throw new Error(judgement.fault.message);
      expect(judgement.uncovered).toBeUndefined();
      if (idempotent) expect(judgement.idempotent).toBe(true);
      // Undefined: idempotent, and may be refused.
      if (expected !== undefined) expect(idempotent).toBe(expected);
    });
  });
});
