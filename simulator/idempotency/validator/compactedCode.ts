import type { KernelSummary, SummaryAccess } from '../summary.js';
import { accessSlots, type AccessSlot } from './accessSlots.js';
import { generatedFunction } from './generatedFunction.js';
import { IntervalCode } from './intervalCode.js';
import { bitsOf, floored, IntervalRuntime, truncated } from './intervalRuntime.js';
import { literal, LAUNCH_TEXT } from './nodeCode.js';
import type { IntervalBuffer } from './overlap.js';
import type { ValidatedLaunch } from './validatedLaunch.js';

/** Up to so many intervals each pair is compared as soon as it is known; beyond they are sorted. */
export const MOST_PAIRWISE = 32;

/** 0: reads and writes may meet, 1: they cannot, 2: numbers beyond exact arithmetic, ask the careful one. */
type Judge = (launch: ValidatedLaunch) => 0 | 1 | 2;
/** Puts the intervals into the buffer. @returns the first global condition that does not hold, or −1 */
type Fill = (launch: ValidatedLaunch) => number;

/** One interval for each access, over all threads and iterations. */
export class CompactedCode extends IntervalCode {
  private readonly slots: readonly AccessSlot[];
  private readonly searched = new Set<number>();

  private constructor(
    summary: KernelSummary,
    private readonly purpose: 'judge' | 'fill',
    private readonly allocationBound: boolean,
  ) {
    super(summary, purpose === 'judge');
    this.slots = accessSlots(summary).slots;
  }

  /** The quick verdict: ends at the first overlap. */
  static judge(summary: KernelSummary, allocationBound: boolean, buffer: IntervalBuffer): Judge {
    return new CompactedCode(summary, 'judge', allocationBound).function<Judge>(buffer);
  }

  /** All intervals, whether they overlap or not. */
  static fill(summary: KernelSummary, allocationBound: boolean, buffer: IntervalBuffer): Fill {
    return new CompactedCode(summary, 'fill', allocationBound).function<Fill>(buffer);
  }

  private function<T>(buffer: IntervalBuffer): T {
    this.conditions();
    this.slots.forEach((slot, at) => this.slot(slot, at));
    const isJudge = this.purpose === 'judge';
    const isSorted = isJudge && this.slots.length > MOST_PAIRWISE;
    if (isJudge) this.push(isSorted ? 'return B.overlaps() ? 0 : 1;' : 'return 1;');
    else this.push('return failed;');
    const runtime = new IntervalRuntime();
    const make = generatedFunction<
      (
        R: IntervalRuntime,
        I: Float64Array,
        F: Float64Array,
        B: IntervalBuffer,
        LO: Float64Array,
        HI: Float64Array,
        divide: typeof floored,
        truncate: typeof truncated,
        bits: typeof bitsOf,
      ) => T
    >(
      ['R', 'I', 'F', 'B', 'LO', 'HI', 'floored', 'truncated', 'bitsOf'],
      `return function (L) {\n${LAUNCH_TEXT}\n${this.text}\n};`,
    );
    this.slots.forEach(({ isWrite }, at) => (buffer.isWrite[at] = isWrite ? 1 : 0));
    buffer.count = this.slots.length;
    return make(
      runtime,
      runtime.given,
      runtime.found,
      buffer,
      buffer.lo,
      buffer.hi,
      floored,
      truncated,
      bitsOf,
    );
  }

  private conditions(): void {
    if (this.purpose === 'fill') this.push('let failed = -1;');
    this.summary.conditions.forEach(({ node }, index) => {
      this.need(node);
      // A fill goes on: the intervals of a launch that is refused are of use too.
      const refuse = this.purpose === 'judge' ? 'return 0;' : `{ if (failed < 0) failed = ${index}; }`;
      this.push(`if (${this.lo(node)} !== 1) ${refuse}`);
    });
  }

  private slot({ access, isWrite, bytes }: AccessSlot, at: number): void {
    this.need(access.address);
    const happens = this.happening(access);
    const [first, last] = [`a${at}`, `z${at}`];
    this.push(`let ${first} = Infinity, ${last} = -Infinity;`);
    const clip = this.allocationBound ? this.clip(access, first, last) : '';
    const end = `${this.hi(access.address)} + ${literal(bytes - 1)}`;
    this.push(`if (${happens}) { ${first} = ${this.lo(access.address)}; ${last} = ${end};${clip} }`);
    if (this.purpose === 'fill' || this.slots.length > MOST_PAIRWISE) {
      this.push(`LO[${at}] = ${first}; HI[${at}] = ${last};`);
      return;
    }
    const pairs = this.slots
      .slice(0, at)
      .map((other, before) => (other.isWrite === isWrite ? -1 : before))
      .filter((before) => before >= 0)
      .map((before) => `${first} <= z${before} && a${before} <= ${last}`);
    if (pairs.length > 0) this.push(`if (${pairs.join(' || ')}) return 0;`);
  }

  /** Whether an access happens at all, as far as conditions of the whole launch and empty intervals tell. */
  private happening(access: SummaryAccess): string {
    const uniform = access.conditions.filter((node) => this.summary.nodes[node]?.uniform === true);
    const counts = access.variables.flatMap((index) => {
      const variable = this.summary.variables[index];
      return variable?.kind === 'counter' ? [variable.count] : [];
    });
    for (const node of [...uniform, ...access.narrowed, ...counts]) this.need(node);
    const parts = [
      ...uniform.map((node) => `${this.hi(node)} !== 0`),
      ...access.narrowed.map((node) => `${this.lo(node)} <= ${this.hi(node)}`),
      ...counts.map((node) => `${this.hi(node)} >= 1`),
    ];
    return parts.length === 0 ? 'true' : [...new Set(parts)].join(' && ');
  }

  /** Keeps an interval within the allocation of the pointer that it is counted from (section 2.19). */
  private clip({ bases }: SummaryAccess, first: string, last: string): string {
    for (const base of bases) this.search(base);
    if (bases.length === 0) return '';
    const [only] = bases;
    const chosen =
      bases.length === 1 && only !== undefined
        ? `const e = e${only};`
        : `let e = -1, n = 0;${bases.map((base) => `if (e${base} !== -1) { e = e${base}; n++; }`).join('')}if (n !== 1) e = -1;`;
    const ends = bases
      .filter((base) => this.summary.nodes[base]?.op === 'symbol')
      .map(
        (base) =>
          `if (e === -2 && e${base} === -2) { s = ${this.lo(base)}; t = s + ${this.symbolBytes(base) - 1}; }`,
      );
    return (
      `if (M !== undefined) { ${chosen}if (e !== -1) { let s = 0, t = 0;if (e >= 0) { s = M.first(e); t = M.last(e); }` +
      `${ends.join('')}if (${first} <= t && s <= ${last}) { if (${first} < s) ${first} = s;if (${last} > t) ${last} = t; } } }`
    );
  }

  /** Number of the allocation that holds a pointer: −1 none, −2 a variable of the module. */
  private search(base: number): void {
    if (this.searched.has(base)) return;
    this.searched.add(base);
    this.need(base);
    const isKnown = this.isPoint(base) ? 'true' : `${this.lo(base)} === ${this.hi(base)}`;
    const found = this.summary.nodes[base]?.op === 'symbol' ? '-2' : `(I[0] = ${this.lo(base)}, M.find(I))`;
    this.push(`const e${base} = M !== undefined && ${isKnown} ? ${found} : -1;`);
  }

  private symbolBytes(base: number): number {
    const node = this.summary.nodes[base];
    const name = node?.op === 'symbol' ? node.name : '';
    return this.summary.symbols.find((symbol) => symbol.name === name)?.bytes ?? 1;
  }
}
