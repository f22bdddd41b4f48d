import type { Dim3 } from '../../../executor/index.js';
import type { KernelSummary, SummaryNode } from '../../summary.js';

/** Ends of an interval; null where it has none. */
export interface Interval {
  readonly lo: bigint | null;
  readonly hi: bigint | null;
}

export interface EvaluatedLaunch {
  readonly args: Uint8Array;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly symbols: ReadonlyMap<string, number>;
}

const ALL: Interval = { lo: null, hi: null };
const SAFE = 2n ** 53n - 1n;

/**
 * Reads a summary as its documentation says, slowly, with big integers: the intervals of a launch. Nothing that runs uses it;
 * tests hold summaries (and whatever evaluates them fast) to it.
 */
export class ReferenceEvaluator {
  private readonly values: Interval[] = [];
  private readonly bytes = new Map<number, Interval | undefined>();

  constructor(
    private readonly summary: KernelSummary,
    private readonly launch: EvaluatedLaunch,
  ) {
    for (const node of summary.nodes) this.values.push(tame(this.evaluate(node)));
  }

  value(node: number): Interval {
    return this.values[node] ?? ALL;
  }

  /** Whether the launch fulfils the summary's global conditions. */
  get isAdmitted(): boolean {
    return this.summary.conditions.every(({ node }) => this.value(node).lo === 1n);
  }

  /** First and last byte of an access by its index; undefined when it never happens in this launch. */
  bytesOf(index: number): Interval | undefined {
    if (!this.bytes.has(index)) this.bytes.set(index, this.findBytes(index));
    return this.bytes.get(index);
  }

  private findBytes(index: number): Interval | undefined {
    const access = this.summary.accesses[index];
    if (access === undefined) throw new RangeError(`no access ${index}`);
    if (access.conditions.some((node) => this.summary.nodes[node]?.uniform === true && this.isFalse(node))) {
      return undefined;
    }
    if (access.narrowed.some((node) => isEmpty(this.value(node)))) return undefined;
    for (const variable of access.variables) {
      if (isEmpty(this.variable(variable))) return undefined;
    }
    const { lo, hi } = this.value(access.address);
    return { lo, hi: hi === null ? null : hi + BigInt(access.bytes) - 1n };
  }

  private isFalse(node: number): boolean {
    return this.value(node).hi === 0n;
  }

  private variable(index: number): Interval {
    const variable = this.summary.variables[index];
    if (variable === undefined) return ALL;
    if (variable.kind === 'counter') {
      const { hi } = this.value(variable.count);
      return { lo: 0n, hi: hi === null ? null : hi - 1n };
    }
    const [name = '', axis = ''] = variable.name.split('.');
    const extents = name === 'tid' ? this.launch.block : this.launch.grid;
    return { lo: 0n, hi: BigInt(extents['xyz'.indexOf(axis)] ?? 1) - 1n };
  }

  private evaluate(node: SummaryNode): Interval {
    const at = (index: number): Interval => this.value(index);
    switch (node.op) {
      case 'constant':
        return point(BigInt(node.value));
      case 'argument':
        return point(this.argument(node.offset, node.bytes, node.signed));
      case 'dimension': {
        const [name = '', axis = ''] = node.name.split('.');
        const extents = name === 'ntid' ? this.launch.block : this.launch.grid;
        return point(BigInt(extents['xyz'.indexOf(axis)] ?? 1));
      }
      case 'symbol': {
        const address = this.launch.symbols.get(node.name);
        return address === undefined ? ALL : point(BigInt(address));
      }
      case 'variable':
        return this.variable(node.variable);
      case 'unknown':
        return {
          lo: node.lo === undefined ? null : BigInt(Math.floor(node.lo)),
          hi: node.hi === undefined ? null : BigInt(Math.ceil(node.hi)),
        };
      case 'sum':
        return node.terms.reduce<Interval>(
          (total, term) => {
            const { lo, hi } = at(term);
            return {
              lo: total.lo === null || lo === null ? null : total.lo + lo,
              hi: total.hi === null || hi === null ? null : total.hi + hi,
            };
          },
          point(BigInt(node.constant)),
        );
      case 'scale':
        return product(point(BigInt(node.factor)), at(node.of));
      case 'product':
        return product(at(node.a), at(node.b));
      case 'power': {
        const { lo, hi } = at(node.of);
        if (lo === null || hi === null || lo < 0n || hi > 52n) return ALL;
        return { lo: 2n ** lo, hi: 2n ** hi };
      }
      case 'quotient':
        return quotient(at(node.a), at(node.b), node.rounding);
      case 'exactQuotient':
        return this.exactQuotient(node, at(node.a), at(node.b));
      case 'remainder':
        return remainder(at(node.a), at(node.b), node.rounding);
      case 'minimum': {
        const [a, b] = [at(node.a), at(node.b)];
        return { lo: least(a.lo, b.lo, true), hi: least(a.hi, b.hi, false) };
      }
      case 'maximum': {
        const [a, b] = [at(node.a), at(node.b)];
        return { lo: greatest(a.lo, b.lo, false), hi: greatest(a.hi, b.hi, true) };
      }
      case 'bits':
        return bitwise(node, at(node.a), at(node.b));
      case 'wrap':
        return wrap(at(node.of), node.bits, node.signed);
      case 'select': {
        const condition = at(node.condition);
        if (condition.lo === 1n) return at(node.a);
        if (condition.hi === 0n) return at(node.b);
        const [a, b] = [at(node.a), at(node.b)];
        return { lo: least(a.lo, b.lo, true), hi: greatest(a.hi, b.hi, true) };
      }
      case 'less':
        return compare(at(node.a), at(node.b), true);
      case 'lessEqual':
        return compare(at(node.a), at(node.b), false);
      case 'equal': {
        const [a, b] = [at(node.a), at(node.b)];
        if (isPoint(a) && isPoint(b) && a.lo === b.lo) return point(1n);
        const isApart =
          (a.hi !== null && b.lo !== null && a.hi < b.lo) || (b.hi !== null && a.lo !== null && b.hi < a.lo);
        return isApart ? point(0n) : { lo: 0n, hi: 1n };
      }
      case 'not': {
        const { lo, hi } = at(node.of);
        return { lo: hi === 0n ? 1n : 0n, hi: lo === 1n ? 0n : 1n };
      }
      case 'and':
      case 'or': {
        const terms = node.terms.map(at);
        const isAnd = node.op === 'and';
        if (terms.every((term) => (isAnd ? term.lo === 1n : term.hi === 0n))) return point(isAnd ? 1n : 0n);
        if (terms.some((term) => (isAnd ? term.hi === 0n : term.lo === 1n))) return point(isAnd ? 0n : 1n);
        return { lo: 0n, hi: 1n };
      }
      case 'narrow': {
        const of = at(node.of);
        const lo = node.lo === undefined ? null : at(node.lo).lo;
        const hi = node.hi === undefined ? null : at(node.hi).hi;
        return { lo: greatest(of.lo, lo, false), hi: least(of.hi, hi, false) };
      }
      case 'assume': {
        const fits = node.fits.every(({ of, bits, signed }) => within(at(of), bits, signed));
        return fits ? at(node.of) : ALL;
      }
      case 'meet':
        return node.of
          .map(at)
          .reduce<Interval>(
            (a, b) => ({ lo: greatest(a.lo, b.lo, false), hi: least(a.hi, b.hi, false) }),
            ALL,
          );
      case 'hull':
        return { lo: at(node.from).lo, hi: at(node.to).hi };
    }
  }

  private argument(offset: number, bytes: number, signed: boolean): bigint {
    let value = 0n;
    for (let index = bytes - 1; index >= 0; index--) {
      value = (value << 8n) | BigInt(this.launch.args[offset + index] ?? 0);
    }
    return signed ? BigInt.asIntN(bytes * 8, value) : value;
  }

  private exactQuotient(
    node: Extract<SummaryNode, { op: 'exactQuotient' }>,
    a: Interval,
    b: Interval,
  ): Interval {
    if (isPoint(a) && isPoint(b)) {
      if (b.lo === 0n || a.lo % b.lo !== 0n || a.lo / b.lo < 0n) return ALL;
      return point(a.lo / b.lo);
    }
    const isForward = a.lo !== null && a.lo >= 0n && b.lo !== null && b.lo > 0n;
    const isBackward = a.hi !== null && a.hi <= 0n && b.hi !== null && b.hi < 0n;
    return node.divides && (isForward || isBackward) ? quotient(a, b, 'floor') : ALL;
  }
}

function point(value: bigint): Interval & { lo: bigint } {
  return { lo: value, hi: value };
}

function isPoint(interval: Interval): interval is { lo: bigint; hi: bigint } {
  return interval.lo !== null && interval.lo === interval.hi;
}

function isEmpty({ lo, hi }: Interval): boolean {
  return lo !== null && hi !== null && lo > hi;
}

function tame({ lo, hi }: Interval): Interval {
  const isWild = (lo !== null && (lo > SAFE || lo < -SAFE)) || (hi !== null && (hi > SAFE || hi < -SAFE));
  return isWild ? ALL : { lo, hi };
}

/** The lesser; an absent one counts as below everything, or as no bound at all. */
function least(a: bigint | null, b: bigint | null, isAbsentLeast: boolean): bigint | null {
  if (a === null || b === null) return isAbsentLeast ? null : (a ?? b);
  return a < b ? a : b;
}

function greatest(a: bigint | null, b: bigint | null, isAbsentGreatest: boolean): bigint | null {
  if (a === null || b === null) return isAbsentGreatest ? null : (a ?? b);
  return a > b ? a : b;
}

/** Corners, where an absent end makes the side that it can reach absent. */
function product(a: Interval, b: Interval): Interval {
  if (isPoint(a) && a.lo === 0n) return a;
  if (isPoint(b) && b.lo === 0n) return b;
  if (a.lo === null || a.hi === null || b.lo === null || b.hi === null) return halfProduct(a, b);
  const corners = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
  return {
    lo: corners.reduce((x, y) => (x < y ? x : y)),
    hi: corners.reduce((x, y) => (x > y ? x : y)),
  };
}

function halfProduct(a: Interval, b: Interval): Interval {
  const isPlus = (each: Interval): boolean => each.lo !== null && each.lo >= 0n;
  if (!isPlus(a) || !isPlus(b) || a.lo === null || b.lo === null) return ALL;
  return { lo: a.lo * b.lo, hi: a.hi === null || b.hi === null ? null : a.hi * b.hi };
}

function divide(a: bigint, b: bigint, rounding: 'floor' | 'zero'): bigint {
  const whole = a / b;
  return rounding === 'floor' && a % b !== 0n && a < 0n !== b < 0n ? whole - 1n : whole;
}

function quotient(a: Interval, b: Interval, rounding: 'floor' | 'zero'): Interval {
  if (b.lo === null || b.hi === null || (b.lo <= 0n && b.hi >= 0n)) return ALL;
  if (a.lo === null || a.hi === null) {
    if (b.lo < 0n) return ALL;
    const { lo, hi } = b;
    const end = (value: bigint | null, isLow: boolean): bigint | null => {
      if (value === null) return null;
      return divide(value, value < 0n === isLow ? lo : hi, rounding);
    };
    return { lo: end(a.lo, true), hi: end(a.hi, false) };
  }
  const corners = [a.lo, a.hi].flatMap((x) => [b.lo, b.hi].map((y) => divide(x, y ?? 1n, rounding)));
  return {
    lo: corners.reduce((x, y) => (x < y ? x : y)),
    hi: corners.reduce((x, y) => (x > y ? x : y)),
  };
}

function remainder(a: Interval, b: Interval, rounding: 'floor' | 'zero'): Interval {
  if (b.lo === null || b.lo <= 0n) return ALL;
  if (isPoint(b) && a.lo !== null && a.hi !== null) {
    const [first, last] = [divide(a.lo, b.lo, rounding), divide(a.hi, b.lo, rounding)];
    if (first === last) return { lo: a.lo - b.lo * first, hi: a.hi - b.lo * first };
  }
  const most = b.hi === null ? null : b.hi - 1n;
  if (a.lo !== null && a.lo >= 0n) return { lo: 0n, hi: least(a.hi, most, false) };
  if (rounding === 'floor') return { lo: 0n, hi: most };
  const low = most === null ? null : -most;
  const positive = a.hi === null ? most : least(a.hi > 0n ? a.hi : 0n, most, false);
  return { lo: greatest(a.lo, low, false), hi: positive };
}

function range(bits: number, signed: boolean): { lo: bigint; hi: bigint } {
  if (bits === 64) return signed ? { lo: -SAFE - 1n, hi: SAFE + 1n } : { lo: 0n, hi: SAFE + 1n };
  const power = 2n ** BigInt(bits);
  return signed ? { lo: -power / 2n, hi: power / 2n - 1n } : { lo: 0n, hi: power - 1n };
}

function within({ lo, hi }: Interval, bits: number, signed: boolean): boolean {
  const type = range(bits, signed);
  return lo !== null && hi !== null && lo >= type.lo && hi <= type.hi;
}

function wrap(value: Interval, bits: number, signed: boolean): Interval {
  if (isPoint(value)) {
    return point(signed ? BigInt.asIntN(bits, value.lo) : BigInt.asUintN(bits, value.lo));
  }
  if (within(value, bits, signed)) return value;
  return bits === 64 ? ALL : range(bits, signed);
}

function bitwise(node: Extract<SummaryNode, { op: 'bits' }>, a: Interval, b: Interval): Interval {
  const { bits, operation } = node;
  if (isPoint(a) && isPoint(b)) {
    const value = operation === 'and' ? a.lo & b.lo : operation === 'or' ? a.lo | b.lo : a.lo ^ b.lo;
    return point(BigInt.asIntN(bits, value));
  }
  const whole = bits === 64 ? ALL : range(bits, true);
  const most = range(bits, true).hi;
  const isPlain = (each: Interval): each is { lo: bigint; hi: bigint } =>
    each.lo !== null && each.hi !== null && each.lo >= 0n && each.hi <= most;
  if (operation === 'and') {
    const ends = [a, b].filter(isPlain).map((each) => each.hi);
    return ends.length === 0 ? whole : { lo: 0n, hi: ends.reduce((x, y) => (x < y ? x : y)) };
  }
  if (!isPlain(a) || !isPlain(b)) return whole;
  const cover = 2n ** BigInt((a.hi > b.hi ? a.hi : b.hi).toString(2).length) - 1n;
  return { lo: operation === 'or' ? (a.lo > b.lo ? a.lo : b.lo) : 0n, hi: cover };
}

function compare(a: Interval, b: Interval, isStrict: boolean): Interval {
  const holds = (x: bigint, y: bigint): boolean => (isStrict ? x < y : x <= y);
  if (a.hi !== null && b.lo !== null && holds(a.hi, b.lo)) return point(1n);
  if (a.lo !== null && b.hi !== null && !holds(a.lo, b.hi)) return point(0n);
  return { lo: 0n, hi: 1n };
}
