import type { KernelSummary, SummaryAccess } from '../summary.js';
import { accessSlots, type AccessSlot, type AccessSlots } from './accessSlots.js';
import { number, stored } from './asmText.js';
import { generatedFunction } from './generatedFunction.js';
import { FIRST, foreignOf, given, IntervalCode, LAST } from './intervalCode.js';
import { endsAt, HAS_MAP_AT, type LaunchHeap } from './launchHeap.js';
import type { IntervalBuffer } from './overlap.js';
import type { ValidatedLaunch } from './validatedLaunch.js';
import { wasmCode } from './wasmCode.js';

/** Up to so many intervals each pair is compared as soon as it is known; beyond they are sorted. */
export const MOST_PAIRWISE = 32;

/** 0: reads and writes may meet, 1: they cannot, 2: numbers beyond exact arithmetic, ask the careful one. */
type Judge = (launch: ValidatedLaunch) => 0 | 1 | 2;
/** Puts the intervals into the buffer. @returns the first global condition that does not hold, or −1 */
type Fill = (launch: ValidatedLaunch) => number;

/** Text of more characters would take seconds to compile for one verdict: it runs as ordinary code. */
const MOST_COMPILED = 2 ** 19;

type TextModule = (
  stdlib: typeof globalThis,
  foreign: Readonly<Record<string, () => unknown>>,
  heap: ArrayBufferLike,
) => () => number;

/**
 * Compiled code of a kernel's verdicts. It does not depend on the thread, as the functions made of it do: where one thread compiles
 * for others, they only have to make instances.
 */
export interface VerdictCode {
  /** Undefined where the text is too long to be compiled. */
  readonly judge: WebAssembly.Module | undefined;
  readonly fill: WebAssembly.Module | undefined;
}

/** Whether there is a map of allocations. */
const HAS_MAP = `(W[${HAS_MAP_AT} >> 2] | 0) != 0`;

function instanceOf(
  code: WebAssembly.Module,
  foreign: Readonly<Record<string, () => number | void>>,
  { memory }: LaunchHeap,
): () => number {
  const { exports } = new WebAssembly.Instance(code, { node: { ...foreign, memory } });
  return exports.judge as () => number;
}

/** One interval for each access, over all threads and iterations. */
export class CompactedCode extends IntervalCode {
  private readonly slots: readonly AccessSlot[];
  private readonly searched = new Set<number>();
  private made: string | undefined;

  private constructor(
    summary: KernelSummary,
    private readonly purpose: 'judge' | 'fill',
    private readonly allocationBound: boolean,
    { slots }: AccessSlots = accessSlots(summary),
  ) {
    super(summary, purpose === 'judge', slots.length);
    this.slots = slots;
  }

  /** For the functions that `judge` and `fill` make. */
  static compile(summary: KernelSummary, allocationBound: boolean): VerdictCode {
    const of = (purpose: 'judge' | 'fill'): WebAssembly.Module | undefined =>
      new CompactedCode(summary, purpose, allocationBound).compiled();
    return { judge: summary.class === 'conditional' ? of('judge') : undefined, fill: of('fill') };
  }

  /** The quick verdict: ends at the first overlap. @param code of the same summary and options, where it was compiled before */
  static judge(
    summary: KernelSummary,
    allocationBound: boolean,
    buffer: IntervalBuffer,
    heap: LaunchHeap,
    code?: VerdictCode,
  ): Judge {
    return new CompactedCode(summary, 'judge', allocationBound).function<Judge>(buffer, heap, code);
  }

  /** All intervals, whether they overlap or not. */
  static fill(
    summary: KernelSummary,
    allocationBound: boolean,
    buffer: IntervalBuffer,
    heap: LaunchHeap,
    code?: VerdictCode,
  ): Fill {
    return new CompactedCode(summary, 'fill', allocationBound).function<Fill>(buffer, heap, code);
  }

  private function<T extends Judge | Fill>(
    buffer: IntervalBuffer,
    heap: LaunchHeap,
    known: VerdictCode | undefined,
  ): T {
    this.slots.forEach(({ isWrite }, at) => (buffer.isWrite[at] = isWrite ? 1 : 0));
    buffer.count = this.slots.length;
    const foreign = { ...foreignOf(heap), overlaps: () => (buffer.overlaps() ? 1 : 0) };
    const code = known === undefined ? this.compiled() : known[this.purpose];
    const generated = code === undefined ? this.interpreted(foreign, heap) : instanceOf(code, foreign, heap);
    const enter = this.entering(heap);
    return ((launch) => {
      enter(launch);
      return generated();
    }) as T;
  }

  private compiled(): WebAssembly.Module | undefined {
    const text = this.moduleText();
    if (text.length > MOST_COMPILED) return undefined;
    try {
      return new WebAssembly.Module(wasmCode(text));
    } catch (error) {
      // More locals than V8 takes, or terms in a row than there is stack for.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  private interpreted(foreign: Readonly<Record<string, () => unknown>>, heap: LaunchHeap): () => number {
    const make = generatedFunction<TextModule>(
      ['stdlib', 'foreign', 'heap'],
      `${this.moduleText()}\nreturn judge;`,
    );
    return make(globalThis, foreign, heap.buffer);
  }

  /** Made once. */
  private moduleText(): string {
    this.made ??= this.makeText();
    return this.made;
  }

  private makeText(): string {
    const isJudge = this.purpose === 'judge';
    const isSorted = isJudge && this.slots.length > MOST_PAIRWISE;
    if (isSorted) this.push('readFirst = inf;writeFirst = inf;readLast = -inf;writeLast = -inf;');
    this.conditions();
    this.slots.forEach((slot, at) => this.slot(slot, at));
    if (isSorted) {
      this.declareHelper('overlaps');
      this.declareIntegers('meets');
      this.push('meets = overlaps() | 0;');
    }
    if (isJudge) this.push(isSorted ? 'return (1 - meets) | 0;' : 'return 1;');
    else this.push('return failed | 0;');
    return `${this.prelude}\nfunction judge() {\n${this.declarations}\n${this.text}\n}`;
  }

  private conditions(): void {
    if (this.purpose === 'fill') this.declareIntegers('failed');
    if (this.purpose === 'fill') this.push('failed = -1;');
    this.summary.conditions.forEach(({ node }, index) => {
      this.need(node);
      // A fill goes on: the intervals of a launch that is refused are of use too.
      const refuse = this.purpose === 'judge' ? 'return 0;' : `if ((failed | 0) < 0) failed = ${index};`;
      this.push(`if (${this.lo(node)} != 1.0) ${refuse}`);
    });
  }

  private slot({ access, isWrite, bytes }: AccessSlot, at: number): void {
    this.need(access.address);
    const happens = this.happening(access);
    // What is compared later lies on the heap.
    const isKept = this.purpose === 'fill' || this.slots.length > MOST_PAIRWISE;
    const [first, last] = isKept ? ['a', 'z'] : [`a${at}`, `z${at}`];
    this.declareNumbers(first, last);
    this.push(`${first} = inf;${last} = -inf;`);
    const clip = this.allocationBound ? this.clip(access, first, last) : '';
    const end = `${this.hi(access.address)} + ${number(bytes - 1)}`;
    // What has no bound on one side may wrap around to the other.
    const open = `if (!((${first} > -inf) & (${last} < inf))) { ${first} = -inf;${last} = inf; }`;
    this.push(`if (${happens}) { ${first} = ${this.lo(access.address)};${last} = ${end};${open}${clip} }`);
    if (isKept) {
      const [lo, hi] = endsAt(at, this.slots.length);
      this.push(`${stored(lo)} = ${first};${stored(hi)} = ${last};`);
      if (this.purpose === 'judge') this.meetsLast(isWrite);
      return;
    }
    this.slots.slice(0, at).forEach((other, before) => {
      if (other.isWrite !== isWrite)
        this.push(`if (${first} <= z${before}) if (a${before} <= ${last}) return 0;`);
    });
  }

  /** What is read is often written next to it: a launch that is refused for that need not be sorted. */
  private meetsLast(isWrite: boolean): void {
    const [own, other] = isWrite ? ['write', 'read'] : ['read', 'write'];
    this.declareNumbers('readFirst', 'writeFirst', 'readLast', 'writeLast', 'a', 'z');
    const compare = `if (a <= ${other}Last) if (${other}First <= z) return 0;`;
    this.push(`if (a <= z) { ${compare}${own}First = a;${own}Last = z; }`);
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
      ...uniform.map((node) => `(${this.hi(node)} != 0.0)`),
      ...access.narrowed.map((node) => `!(${this.lo(node)} > ${this.hi(node)})`),
      ...counts.map((node) => `!(${this.hi(node)} < 1.0)`),
    ];
    return parts.length === 0 ? '1' : [...new Set(parts)].join(' & ');
  }

  /** Keeps an interval within the allocation of the pointer that it is counted from (section 2.19). */
  private clip({ bases }: SummaryAccess, first: string, last: string): string {
    for (const base of bases) this.search(base);
    if (bases.length === 0) return '';
    this.declareIntegers('e', 'n');
    this.declareNumbers('s', 't');
    this.declareHelper('allocation');
    // The only one that lies in an allocation.
    const chosen = bases.map((base) => `if ((e${base} | 0) != -1) { e = e${base};n = (n + 1) | 0; }`);
    const ends = bases
      .filter((base) => this.summary.nodes[base]?.op === 'symbol')
      .map(
        (base) =>
          `if (((e | 0) == -2) & ((e${base} | 0) == -2)) { s = ${this.lo(base)};t = s + ${number(this.symbolBytes(base) - 1)}; }`,
      );
    return (
      `if (${HAS_MAP}) { e = -1;n = 0;s = 0.0;t = 0.0;${chosen.join('')}if ((n | 0) == 1) { ` +
      `if ((e | 0) >= 0) { ${given('+(e | 0)')}allocation();s = ${FIRST};t = ${LAST}; }${ends.join('')}` +
      `if ((${first} <= t) & (s <= ${last})) { if (${first} < s) ${first} = s;if (${last} > t) ${last} = t; } } }`
    );
  }

  /** Number of the allocation that holds a pointer: −1 none, −2 a variable of the module. */
  private search(base: number): void {
    if (this.searched.has(base)) return;
    this.searched.add(base);
    this.need(base);
    this.declareIntegers(`e${base}`);
    const isSymbol = this.summary.nodes[base]?.op === 'symbol';
    if (!isSymbol) this.declareHelper('find');
    const found = isSymbol ? `e${base} = -2;` : `${given(this.lo(base))}e${base} = find() | 0;`;
    this.push(`e${base} = -1;if (${HAS_MAP}) if (${this.lo(base)} == ${this.hi(base)}) { ${found} }`);
  }

  private symbolBytes(base: number): number {
    const node = this.summary.nodes[base];
    const name = node?.op === 'symbol' ? node.name : '';
    return this.summary.symbols.find((symbol) => symbol.name === name)?.bytes ?? 1;
  }
}
