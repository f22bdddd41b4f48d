import type { KernelSummary, SummaryAccess, ValidatedLaunch } from '../../idempotency/index.js';
import {
  foreignOf,
  generatedFunction,
  IntervalCode,
  type LaunchHeap,
  number,
} from '../../idempotency/testing/index.js';
import type { GrowingIntervals } from './growingIntervals.js';

/** Iterations of one loop that are unrolled; a launch of more is refused (section 2.7). */
export const UNROLL_LIMIT = 32;

/** 0: a condition does not hold, or a loop is too long; 1: the intervals are in the buffer. */
type Fill = (launch: ValidatedLaunch) => 0 | 1;

/** One interval for each access and each iteration of the loops around it, over all threads: no range compaction. */
export class RangesCode extends IntervalCode {
  static fill(summary: KernelSummary, buffer: GrowingIntervals, heap: LaunchHeap): Fill {
    return new RangesCode(summary, false, 0).function(buffer, heap);
  }

  private function(buffer: GrowingIntervals, heap: LaunchHeap): Fill {
    for (const { node } of this.summary.conditions) {
      this.need(node);
      this.push(`if (${this.lo(node)} != 1.0) return 0;`);
    }
    this.summary.accesses.forEach((access) => this.access(access));
    this.push('return 1;');
    const make = generatedFunction<
      (
        stdlib: typeof globalThis,
        foreign: ReturnType<typeof foreignOf>,
        heap: ArrayBufferLike,
        B: GrowingIntervals,
      ) => () => 0 | 1
    >(
      ['stdlib', 'foreign', 'heap', 'B'],
      `${this.prelude}\nreturn function () {\n${this.declarations}\nB.clear();\n${this.text}\n};`,
    );
    const generated = make(globalThis, foreignOf(heap), heap.buffer, buffer);
    const enter = this.entering(heap);
    return (launch) => {
      enter(launch);
      return generated();
    };
  }

  private access(access: SummaryAccess): void {
    const counters = access.variables.filter((index) => this.summary.variables[index]?.kind === 'counter');
    const head = (index: number): string => {
      const variable = this.summary.variables[index];
      if (variable?.kind !== 'counter') return '';
      this.need(variable.count);
      const count = this.hi(variable.count);
      return `if (!(${count} <= ${UNROLL_LIMIT})) return 0;for (let k${index} = 0; k${index} < ${count}; k${index}++)`;
    };
    this.nest(counters, head, () => {
      const uniform = access.conditions.filter((node) => this.summary.nodes[node]?.uniform === true);
      for (const node of [access.address, ...uniform, ...access.narrowed]) this.need(node);
      const parts = [
        ...uniform.map((node) => `${this.hi(node)} !== 0`),
        ...access.narrowed.map((node) => `!(${this.lo(node)} > ${this.hi(node)})`),
      ];
      const happens = parts.length === 0 ? 'true' : parts.join(' && ');
      const last = `${this.hi(access.address)} + ${number(access.bytes - 1)}`;
      return [`if (${happens}) B.add(${this.lo(access.address)}, ${last}, ${access.kind === 'write'});`];
    });
  }
}
