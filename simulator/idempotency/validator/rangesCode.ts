import type { KernelSummary, SummaryAccess } from '../summary.js';
import { generatedFunction } from './generatedFunction.js';
import { IntervalCode } from './intervalCode.js';
import { bitsOf, floored, IntervalRuntime, truncated } from './intervalRuntime.js';
import { literal, LAUNCH_TEXT } from './nodeCode.js';
import type { IntervalBuffer } from './overlap.js';
import type { ValidatedLaunch } from './validatedLaunch.js';

/** Iterations of one loop that are unrolled; a launch of more is refused (section 2.7). */
export const UNROLL_LIMIT = 32;

/** 0: a condition does not hold, or a loop is too long; 1: the intervals are in the buffer. */
type Fill = (launch: ValidatedLaunch) => 0 | 1;

/** One interval for each access and each iteration of the loops around it, over all threads: no range compaction. */
export class RangesCode extends IntervalCode {
  static fill(summary: KernelSummary, buffer: IntervalBuffer): Fill {
    const code = new RangesCode(summary, false);
    return code.function(buffer);
  }

  private function(buffer: IntervalBuffer): Fill {
    for (const { node } of this.summary.conditions) {
      this.need(node);
      this.push(`if (${this.lo(node)} !== 1) return 0;`);
    }
    this.summary.accesses.forEach((access) => this.access(access));
    this.push('return 1;');
    const runtime = new IntervalRuntime();
    const make = generatedFunction<
      (
        R: IntervalRuntime,
        I: Float64Array,
        F: Float64Array,
        B: IntervalBuffer,
        divide: typeof floored,
        truncate: typeof truncated,
        bits: typeof bitsOf,
      ) => Fill
    >(
      ['R', 'I', 'F', 'B', 'floored', 'truncated', 'bitsOf'],
      `return function (L) {\n${LAUNCH_TEXT}\nB.clear();\n${this.text}\n};`,
    );
    return make(runtime, runtime.given, runtime.found, buffer, floored, truncated, bitsOf);
  }

  private access(access: SummaryAccess): void {
    const counters = access.variables.filter((index) => this.summary.variables[index]?.kind === 'counter');
    const head = (index: number): string => {
      const variable = this.summary.variables[index];
      if (variable?.kind !== 'counter') return '';
      this.need(variable.count);
      const count = this.hi(variable.count);
      return `if (${count} > ${UNROLL_LIMIT}) return 0;for (let k${index} = 0; k${index} < ${count}; k${index}++)`;
    };
    this.nest(counters, head, () => {
      const uniform = access.conditions.filter((node) => this.summary.nodes[node]?.uniform === true);
      for (const node of [access.address, ...uniform, ...access.narrowed]) this.need(node);
      const parts = [
        ...uniform.map((node) => `${this.hi(node)} !== 0`),
        ...access.narrowed.map((node) => `${this.lo(node)} <= ${this.hi(node)}`),
      ];
      const happens = parts.length === 0 ? 'true' : parts.join(' && ');
      const last = `${this.hi(access.address)} + ${literal(access.bytes - 1)}`;
      return [`if (${happens}) B.add(${this.lo(access.address)}, ${last}, ${access.kind === 'write'});`];
    });
  }
}
