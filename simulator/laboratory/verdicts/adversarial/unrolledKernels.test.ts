import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AllocationMap, analyzeKernel, type Validator } from '../../../idempotency/index.js';
import { validatorInMode } from '../../validatorModes/index.js';
import { parseModule } from '../../../ptx/index.js';
import type { InstanceArgument, IntervalSource, LaunchInstance, PlacedInstance } from '../oracles/index.js';
import { judgePlaced, OracleBench } from '../oracles/index.js';

const file = 'unrolledKernels.ptx';
const ir = parseModule(readFileSync(new URL(file, import.meta.url), 'utf8'), file);
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

function instance(
  entry: string,
  args: readonly InstanceArgument[],
  grid: number,
  block: number,
): LaunchInstance {
  const words = Uint32Array.from({ length: ARENA_BYTES / 4 }, (_, at) => (at * 7 + (at >> 3)) % 23);
  const shape = { grid: [grid, 1, 1], block: [block, 1, 1], dynamicSharedBytes: 0 } as const;
  return { ir, entry, shape, allocations: [{ bytes: new Uint8Array(words.buffer) }], args };
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

describe('verdicts on loops that are unrolled, held to trace, kills and cover', () => {
  it.each([
    ['doubling', 'apart', [p(A), p(A + 400), i(100)], 2, 32, true],
    ['doubling', 'one word shared', [p(A), p(A + 396), i(100)], 1, 32, false],
    ['doubling', 'in place', [p(A), p(A), i(100)], 1, 32, false],
    ['doubling', 'nothing', [p(A), p(A), i(0)], 1, 32, true],
    ['strides', 'apart', [p(A), p(A + 400), i(100)], 2, 64, true],
    ['strides', 'behind the first, which is not written', [p(A), p(A + 392), i(100)], 2, 64, true],
    ['strides', 'one word shared', [p(A), p(A + 388), i(100)], 2, 64, false],
    ['strides', 'nothing', [p(A), p(A), i(1)], 2, 64, true],
    ['halving', 'apart', [p(A), p(A + 396), i(100)], 2, 64, true],
    ['halving', 'one word shared', [p(A), p(A + 392), i(100)], 2, 64, false],
    ['halving', 'nothing', [p(A), p(A), i(-7)], 2, 64, true],
    ['lowestBit', 'apart', [p(A), p(A + 600), i(5), i(100)], 1, 32, true],
    ['lowestBit', 'far from what it reads', [p(A), p(A), i(64), i(65)], 1, 1, false],
    ['lowestBit', 'nothing', [p(A), p(A), i(9), i(9)], 1, 32, true],
    ['countDown', 'apart', [p(A), p(A + 400), i(100)], 1, 32, true],
    ['countDown', 'one word shared', [p(A), p(A + 396), i(100)], 1, 32, false],
    ['countDown', 'fewer words than threads', [p(A), p(A + 40), i(10)], 1, 32, true],
    ['countDown', 'more than 32 turns', [p(0), p(8000), i(1056)], 1, 32, true],
    ['countDown', 'nothing', [p(A), p(A), i(0)], 1, 32, true],
    ['threeBuffers', 'one turn', [p(A), p(A + 256), p(A), i(1)], 2, 32, true],
    ['threeBuffers', 'two turns', [p(A), p(A + 256), p(A + 512), i(2)], 2, 32, true],
    ['threeBuffers', 'two turns into one', [p(A), p(A + 256), p(A), i(2)], 2, 32, false],
    ['threeBuffers', 'no turn', [p(A), p(A), p(A), i(0)], 2, 32, true],
    ['followed', 'apart', [p(A), p(A + 400), i(100)], 1, 32, undefined],
    ['followed', 'in place', [p(A), p(A), i(100)], 1, 32, false],
    ['scattered', 'many turns, apart', [p(A), p(A + 400), i(100)], 1, 32, true],
    ['scattered', 'many turns, side by side', [p(A), p(A + 40), i(100)], 1, 32, false],
    ['rows', 'apart', [p(A), p(A + 4 * 192), i(32), i(3)], 1, 32, true],
    ['rows', 'the last row meets the first', [p(A), p(A + 4 * 80), i(32), i(3)], 1, 32, false],
    ['columns', 'apart', [p(A + 4 * 300), p(A), i(60), i(4)], 1, 1, true],
    ['columns', 'one word shared', [p(A + 4 * 205), p(A), i(60), i(4)], 1, 1, undefined],
    ['columns', 'what is read is written', [p(A + 4), p(A), i(60), i(4)], 1, 1, false],
    ['behindIt', 'apart', [p(A), p(A + 128), i(100)], 1, 32, true],
    ['behindIt', 'the last of them', [p(A + 4 * 127), p(A), i(100)], 1, 32, false],
    ['exchanges', 'apart', [p(A), p(A + 128), i(32)], 1, 32, undefined],
    ['exchanges', 'in place', [p(A), p(A), i(32)], 1, 32, false],
  ] as const)('%s: %s', (entry, _, args, grid, block, expected) => {
    bench.with(instance(entry, args, grid, block), (placed) => {
      const validator = validators.get(entry) ?? validatorInMode(analyzeKernel(ir, entry));
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
