import { describe, expect, it } from 'vitest';
import type { Dim3 } from '../../executor/index.js';
import { ReferenceEvaluator } from '../analysis/tests/referenceEvaluator.js';
import {
  APPLICATIONS,
  bodyModule,
  corpusBodies,
  corpusInstance,
  judgeInstance,
  labelOf,
  OracleBench,
  runApplication,
} from '../../laboratory/verdicts/index.js';
import { validatorInMode } from '../../laboratory/validatorModes/index.js';
import { analyzeKernel } from '../analysis/index.js';
import type { KernelSummary, SummaryNode } from '../summary.js';
import { CompactedCode } from './compactedCode.js';
import {
  AllocationMap,
  compileValidator,
  compileVerdicts,
  type ValidatedLaunch,
  type Validator,
} from './index.js';
import { LaunchHeap } from './launchHeap.js';
import { IntervalBuffer } from './overlap.js';
import { PARAMETER_BYTES, randomSummary, seededDraw } from './tests/randomSummary.js';

const extremes = [0, 1, 2, 3, 7, 10, 31, 32, 255, 1000, 65_535, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

describe('generated code', () => {
  it('reads nodes as slow arithmetic without limits does', () => {
    const draw = seededDraw(11);
    let bounded = 0;
    for (let round = 0; round < 80; round++) {
      const summary = randomSummary(draw, 60);
      const count = summary.accesses.length;
      const heap = LaunchHeap.of(count, summary.symbols.length);
      const buffer = new IntervalBuffer(count, heap.ends(count));
      const careful = CompactedCode.fill(summary, false, buffer, heap);
      for (let launches = 0; launches < 8; launches++) {
        const params = new Uint8Array(PARAMETER_BYTES);
        const view = new DataView(params.buffer);
        const pick = (): number => extremes[draw(extremes.length)] ?? 0;
        view.setBigUint64(0, draw(4) === 0 ? 2n ** 63n + 5n : BigInt(pick()) * BigInt(1 + draw(1000)), true);
        view.setUint32(8, pick(), true);
        view.setUint32(12, pick(), true);
        view.setUint32(16, draw(2 ** 31), true);
        const grid: Dim3 = [1, 1 + draw(5), 1];
        const block: Dim3 = [1 + draw(64), 1, 1];
        const reference = new ReferenceEvaluator(summary, { args: params, grid, block, symbols: new Map() });
        careful({ params, shape: { grid, block } });
        summary.nodes.every((node, index) => {
          const { lo, hi } = reference.value(index);
          const [first = 0, last = 0] = [buffer.lo[index], buffer.hi[index]];
          const isKnown = lo !== null && hi !== null && lo <= hi;
          if (isKnown) bounded++;
          // The reference does not scale half an interval below 0; what follows is not comparable.
          if (node.op === 'scale' && (lo === null || hi === null)) return false;
          // Where a sum leaves the exact numbers on its way, nothing is known here, nor where one end has no bound: half an
          // interval may wrap around.
          if (first === -Infinity && last === Infinity) return true;
          if (lo !== null && hi !== null && !isKnown) return true;
          const told = [lo === null ? -Infinity : Number(lo), hi === null ? Infinity : Number(hi)];
          // One comparison for all is cheaper than as many expectations.
          if (first === told[0] && last === told[1]) return true;
          expect({ round, node, first, last }).toEqual({ round, node, first: told[0], last: told[1] });
          return true;
        });
      }
    }
    expect(bounded).toBeGreaterThan(15_000);
  });

  it('is the same as a module and as the text of which that is made', () => {
    const draw = seededDraw(12);
    const text = { judge: undefined, fill: undefined };
    let bounded = 0;
    for (let round = 0; round < 20; round++) {
      const summary = { ...randomSummary(draw, 60), class: 'conditional' as const };
      for (const allocationBound of [false, true]) {
        const code = compileVerdicts(summary, { allocationBound });
        expect(code).toEqual({
          judge: expect.any(WebAssembly.Module) as unknown,
          fill: expect.any(WebAssembly.Module) as unknown,
        });
        const [compiled, interpreted] = [code, text].map((each) =>
          compileValidator(summary, { allocationBound }, each),
        );
        for (let launches = 0; launches < 8; launches++) {
          const params = Uint8Array.from({ length: PARAMETER_BYTES }, () => (draw(2) === 0 ? 0 : draw(256)));
          const shape = { grid: [1 + draw(4), 1, 1], block: [1 + draw(64), 1, 1] } as const;
          const launch = { params, shape, allocations: new AllocationMap() };
          expect(interpreted.judge(launch)).toBe(compiled.judge(launch));
          const { lo, hi, isComplete } = structuredClone(compiled.intervals(launch));
          expect(interpreted.intervals(launch)).toMatchObject({ lo, hi, isComplete });
          bounded += lo.filter((each) => each > -Infinity).length;
        }
      }
    }
    expect(bounded).toBeGreaterThan(1000);
    const verdicts = { accepted: 0, refused: 0 };
    someLaunches(29, 2, ({ compacted }, launch) => {
      const verdict = compacted.judge(launch);
      verdicts[verdict ? 'accepted' : 'refused']++;
      expect(compileValidator(compacted.summary, {}, text).judge(launch)).toBe(verdict);
    });
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(5);
  });

  it('keeps more intervals than the common memory holds', () => {
    const count = 16_000;
    const node = (operator: SummaryNode): SummaryNode => operator;
    const summary: KernelSummary = {
      version: 1,
      kernel: 'many',
      class: 'conditional',
      reason: { text: 'many accesses', lines: [] },
      nodes: Array.from({ length: count }, (_, at) => node({ op: 'constant', value: 8 * at, uniform: true })),
      variables: [],
      conditions: [],
      accesses: Array.from({ length: count }, (_, at) => ({
        line: at + 1,
        instruction: at,
        kind: at % 2 === 0 ? 'read' : 'write',
        bytes: 8,
        address: at,
        exact: at,
        conditions: [],
        narrowed: [],
        variables: [],
        bases: [],
      })),
      isComplete: true,
      symbols: [],
    };
    const launch: ValidatedLaunch = {
      params: new Uint8Array(0),
      shape: { grid: [1, 1, 1], block: [32, 1, 1] },
    };
    expect(compileValidator(summary).judge(launch)).toBe(true);
    const [first, ...others] = summary.accesses;
    const wider = first === undefined ? [] : [{ ...first, bytes: 9 }, ...others];
    expect(compileValidator({ ...summary, accesses: wider }).judge(launch)).toBe(false);
  });
});

/** Launches of some kernels of the corpus. */
function someLaunches(
  step: number,
  most: number,
  use: (
    validators: Readonly<Record<'compacted' | 'ranges' | 'strawman', Validator>>,
    launch: ValidatedLaunch,
  ) => void,
): void {
  const bench = new OracleBench();
  corpusBodies().forEach((body, position) => {
    if (position % step !== 0) return;
    const summary = analyzeKernel(bodyModule(body), body.manifest.entry);
    const validators = {
      compacted: validatorInMode(summary),
      ranges: validatorInMode(summary, { mode: 'ranges' }),
      strawman: validatorInMode(summary, { mode: 'strawman' }),
    };
    for (let index = 0; index < most; index++) {
      bench.with(corpusInstance(body, index), ({ launch: { params, shape, module } }) =>
        use(validators, { params, shape, symbols: module.symbols }),
      );
    }
  });
}

describe('the modes of a validator', () => {
  it('are never more permissive than enumeration, and the quick code agrees with the careful one', () => {
    const counts = { all: 0, compacted: 0, ranges: 0, strawman: 0 };
    someLaunches(37, 5, ({ compacted, ranges, strawman }, launch) => {
      const byThread = strawman.judge(launch);
      const [one, each] = [compacted.judge(launch), ranges.judge(launch)];
      counts.all++;
      if (byThread) counts.strawman++;
      if (one) counts.compacted++;
      if (each) counts.ranges++;
      if (one || each) expect(byThread).toBe(true);
      const { isComplete, lo, hi, isWrite, count } = compacted.intervals(launch);
      if (compacted.summary.class !== 'conditional') return;
      const indices = Array.from({ length: count }, (_, index) => index);
      const meets = indices.some((write) =>
        indices.some(
          (read) =>
            isWrite[write] === 1 &&
            isWrite[read] === 0 &&
            (lo[read] ?? 0) <= (hi[read] ?? 0) &&
            (lo[write] ?? 0) <= (hi[write] ?? 0) &&
            (lo[read] ?? 0) <= (hi[write] ?? 0) &&
            (lo[write] ?? 0) <= (hi[read] ?? 0),
        ),
      );
      expect(one).toBe(isComplete && !meets);
    });
    expect(counts.all).toBeGreaterThan(60);
    expect(counts.compacted).toBeGreaterThan(counts.all / 3);
    expect(counts.strawman).toBeGreaterThanOrEqual(counts.compacted);
  });

  it('look at arguments, dimensions, symbols and allocations only', () => {
    const allowed = new Set(['params', 'shape', 'symbols', 'allocations']);
    someLaunches(101, 2, (validators, launch) => {
      const guarded = new Proxy(launch, {
        get(target, name, receiver): unknown {
          if (typeof name !== 'string' || !allowed.has(name)) throw new Error(`reads ${String(name)}`);
          return Reflect.get(target, name, receiver);
        },
      });
      for (const validator of Object.values(validators)) {
        const verdict = validator.judge(launch);
        expect(validator.judge(guarded)).toBe(verdict);
        expect(validator.explain(guarded).idempotent).toBe(verdict);
        expect(validator.judge(launch)).toBe(verdict);
      }
    });
  });

  it('give one cause for each refusal, RO only where enumeration finds nothing', () => {
    someLaunches(89, 4, ({ compacted, strawman }, launch) => {
      const { idempotent, cause } = compacted.explain(launch);
      expect(cause === undefined).toBe(idempotent);
      if (cause === 'RO') expect(strawman.judge(launch)).toBe(true);
    });
  });
});

describe('verdicts of applications that launch one kernel both ways', () => {
  it.each(APPLICATIONS.map((each) => [each.name, each] as const))('%s', (name, application) => {
    const bench = new OracleBench();
    const found: string[] = [];
    runApplication(bench, application, (instance) => {
      if (instance.entry !== application.watched) return;
      const truth = labelOf(judgeInstance(bench, instance, { kills: 2 }));
      const validator = compileValidator(analyzeKernel(instance.ir, instance.entry));
      const verdict = bench.with(instance, ({ launch: { params, shape, module } }) =>
        validator.judge({ params, shape, symbols: module.symbols }),
      );
      found.push(`${truth}${verdict ? 'i' : 'n'}`);
    });
    // Whether a search has come to its end stands in memory, where a verdict does not look.
    const told = name === 'breadthFirst' ? ['in', 'nn'] : ['ii', 'nn'];
    expect([...new Set(found)].sort()).toEqual(told);
  });
});
