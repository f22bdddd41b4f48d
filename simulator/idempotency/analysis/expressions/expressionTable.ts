import { operandsOf, typeRange } from './expression.js';
import type { Expression, Operator, Term, UnknownSource } from './expression.js';
import { addRanges, divideRanges, EVERYTHING, multiplyRanges, union, type Range } from './staticRange.js';

/** More expressions than a kernel is worth: the analysis gives up (PE). */
export class AnalysisBudget extends Error {}

interface LeafNotes {
  readonly range: Range;
  readonly uniform: boolean;
  readonly tainted?: boolean;
  readonly source?: UnknownSource;
}

const threadRanges: Readonly<Record<string, Range>> = {
  'tid.x': [0, 1023],
  'tid.y': [0, 1023],
  'tid.z': [0, 63],
  'ctaid.x': [0, 2 ** 31 - 2],
  'ctaid.y': [0, 65534],
  'ctaid.z': [0, 65534],
  'ntid.x': [1, 1024],
  'ntid.y': [1, 1024],
  'ntid.z': [1, 64],
  'nctaid.x': [1, 2 ** 31 - 1],
  'nctaid.y': [1, 65535],
  'nctaid.z': [1, 65535],
};

const MOST_EXPRESSIONS = 400_000;
/** Expressions asked for, known ones included, and terms gone through to make them: some seconds. Usual kernels need a twentieth. */
const MOST_WORK = 3_000_000;

/**
 * Makes every expression of one analysis, each once: equal operators over equal operands are the same object. It simplifies
 * nothing; `arithmetic.ts` and `conditions.ts` do.
 */
export class ExpressionTable {
  private readonly known = new Map<string, Expression>();
  private count = 0;
  private spent = 0;
  private limit = MOST_WORK;

  /** The id that the next new expression gets. */
  get nextId(): number {
    return this.count;
  }

  /** Allows less work than usual. */
  allow(work: number): void {
    this.limit = work;
  }

  /** @throws AnalysisBudget when that is too much */
  spend(work: number): void {
    this.spent += work;
    if (this.spent > this.limit)
      throw new AnalysisBudget('the expressions of the kernel take too long to rewrite');
  }

  /** A leaf of its own, equal to no other. */
  unknown(range: Range, notes: { tainted?: boolean; source: UnknownSource }): Expression {
    return this.create({ op: 'unknown' }, { range, uniform: false, ...notes });
  }

  carried(register: number, tainted = false): Expression {
    return this.create({ op: 'carried', register }, { range: EVERYTHING, uniform: false, tainted });
  }

  counter(loop: number, range: Range, notes: { tainted: boolean; source?: UnknownSource }): Expression {
    return this.create({ op: 'counter', loop }, { range, uniform: false, ...notes });
  }

  /** Some value from `from` to `to`, equal to no other. */
  hull(from: Expression, to: Expression, notes: { tainted: boolean; source?: UnknownSource }): Expression {
    return this.create({ op: 'hull', from, to }, { range: [from.lo, to.hi], uniform: false, ...notes });
  }

  constant(value: number): Expression {
    return this.leaf({ op: 'constant', value: value + 0 }, `c${value}`, [value, value], true);
  }

  argument(offset: number, bytes: 1 | 2 | 4 | 8, signed: boolean): Expression {
    const range = bytes === 8 ? EVERYTHING : typeRange((bytes * 8) as 8 | 16 | 32, signed);
    return this.leaf({ op: 'argument', offset, bytes, signed }, `a${offset}.${bytes}.${signed}`, range, true);
  }

  dimension(name: Extract<Operator, { op: 'dimension' }>['name']): Expression {
    return this.leaf({ op: 'dimension', name }, `d${name}`, threadRanges[name] ?? EVERYTHING, true);
  }

  thread(name: Extract<Operator, { op: 'thread' }>['name']): Expression {
    return this.leaf({ op: 'thread', name }, `t${name}`, threadRanges[name] ?? EVERYTHING, false);
  }

  symbol(name: string): Expression {
    return this.leaf({ op: 'symbol', name }, `s${name}`, [0, 2 ** 47], true);
  }

  place(space: Extract<Operator, { op: 'place' }>['space'], name: string): Expression {
    return this.leaf({ op: 'place', space, name }, `p${space}.${name}`, [0, 2 ** 47], true);
  }

  /** An operator over expressions of this table. */
  make(operator: Operator): Expression {
    this.spend(1);
    const key = keyOf(operator);
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const operands = operandsOf(operator as Expression);
    const made = this.create(operator, {
      range: rangeOf(operator),
      uniform: operands.every((each) => each.uniform),
      tainted: operands.some((each) => each.tainted),
      ...sourceOf(operands),
    });
    this.known.set(key, made);
    return made;
  }

  private leaf(operator: Operator, key: string, range: Range, uniform: boolean): Expression {
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const made = this.create(operator, { range, uniform });
    this.known.set(key, made);
    return made;
  }

  private create(operator: Operator, notes: LeafNotes): Expression {
    if (this.count >= MOST_EXPRESSIONS)
      throw new AnalysisBudget('the expressions of the kernel are too many');
    const id = this.count++;
    const operands = operandsOf(operator as Expression);
    const isNew =
      operator.op === 'unknown' ||
      operator.op === 'carried' ||
      operator.op === 'counter' ||
      operator.op === 'hull';
    return {
      ...operator,
      id,
      lo: notes.range[0],
      hi: notes.range[1],
      uniform: notes.uniform,
      tainted: notes.tainted === true,
      source: notes.source,
      newest: isNew ? id : operands.reduce((newest, each) => Math.max(newest, each.newest), -1),
    };
  }
}

function sourceOf(operands: readonly Expression[]): { source?: UnknownSource } {
  const sources = operands.flatMap((each) => (each.source === undefined ? [] : [each.source]));
  const first = sources.find((each) => each.cause === 'NA') ?? sources[0];
  return first === undefined ? {} : { source: first };
}

function termKey({ coefficient, factors }: Term): string {
  return `${coefficient}*${factors.map((factor) => factor.id).join('*')}`;
}

function keyOf(operator: Operator): string {
  switch (operator.op) {
    case 'sum':
      return `+${operator.constant};${operator.terms.map(termKey).join(';')}`;
    case 'quotient':
    case 'remainder':
      return `${operator.op}${operator.rounding}${operator.a.id},${operator.b.id}`;
    case 'exactQuotient':
      return `exact${operator.divides}${operator.a.id},${operator.b.id}`;
    case 'bits':
      return `${operator.operation}${operator.bits}:${operator.a.id},${operator.b.id}`;
    case 'wrap':
      return `wrap${operator.signed}${operator.bits}:${operator.of.id}`;
    case 'narrow':
      return `narrow${operator.of.id},${operator.least?.id},${operator.most?.id}`;
    case 'assume':
      return `assume${operator.of.id};${operator.fits.map((fit) => `${fit.of.id}.${fit.bits}.${fit.signed}`).join(';')}`;
    case 'constant':
    case 'argument':
    case 'dimension':
    case 'symbol':
    case 'thread':
    case 'counter':
    case 'unknown':
    case 'carried':
    case 'place':
    case 'product':
    case 'power':
    case 'minimum':
    case 'maximum':
    case 'select':
    case 'atMostZero':
    case 'isZero':
    case 'not':
    case 'and':
    case 'or':
    case 'hull':
    case 'meet':
      return `${operator.op}${operandsOf(operator as Expression)
        .map((each) => each.id)
        .join(',')}`;
  }
}

const range = (expression: Expression): Range => [expression.lo, expression.hi];

export function termRange(term: Term): Range {
  return term.factors.reduce<Range>(
    (product, factor) => multiplyRanges(product, range(factor)),
    [term.coefficient, term.coefficient],
  );
}

/** Bounds of an operator, from those of its operands. */
export function rangeOf(operator: Operator): Range {
  switch (operator.op) {
    case 'sum':
      return operator.terms.reduce<Range>(
        (total, term) => addRanges(total, termRange(term)),
        [operator.constant, operator.constant],
      );
    case 'product':
      return multiplyRanges(range(operator.a), range(operator.b));
    case 'power':
      return operator.of.lo >= 0
        ? [2 ** Math.min(operator.of.lo, 53), operator.of.hi <= 52 ? 2 ** operator.of.hi : Infinity]
        : EVERYTHING;
    case 'quotient':
      return divideRanges(range(operator.a), range(operator.b), operator.rounding);
    case 'exactQuotient':
      return [0, Infinity];
    case 'remainder':
      return remainderRange(range(operator.a), range(operator.b), operator.rounding);
    case 'minimum':
      return [Math.min(operator.a.lo, operator.b.lo), Math.min(operator.a.hi, operator.b.hi)];
    case 'maximum':
      return [Math.max(operator.a.lo, operator.b.lo), Math.max(operator.a.hi, operator.b.hi)];
    case 'bits':
      return bitsRange(operator);
    case 'wrap': {
      if (operator.bits === 64) return operator.signed ? EVERYTHING : [0, Infinity];
      return typeRange(operator.bits, operator.signed);
    }
    case 'select':
      return union(range(operator.a), range(operator.b));
    case 'atMostZero':
    case 'isZero':
    case 'not':
    case 'and':
    case 'or':
      return [0, 1];
    case 'narrow':
      return [
        Math.max(operator.of.lo, operator.least?.lo ?? -Infinity),
        Math.min(operator.of.hi, operator.most?.hi ?? Infinity),
      ];
    case 'meet':
      return [Math.max(operator.a.lo, operator.b.lo), Math.min(operator.a.hi, operator.b.hi)];
    case 'assume':
    case 'constant':
    case 'argument':
    case 'dimension':
    case 'symbol':
    case 'thread':
    case 'counter':
    case 'unknown':
    case 'carried':
    case 'place':
    case 'hull':
      return EVERYTHING;
  }
}

function remainderRange(a: Range, b: Range, rounding: 'floor' | 'zero'): Range {
  if (b[0] <= 0) return EVERYTHING;
  const most = b[1] - 1;
  if (a[0] >= 0) return [0, Math.min(a[1], most)];
  return rounding === 'floor' ? [0, most] : [Math.max(a[0], -most), Math.min(Math.max(a[1], 0), most)];
}

function bitsRange({ operation, a, b, bits }: Extract<Operator, { op: 'bits' }>): Range {
  const most = typeRange(bits, true)[1];
  const isPlain = (each: Expression): boolean => each.lo >= 0 && each.hi <= most;
  if (operation === 'and') {
    const bounds = [a, b].filter(isPlain).map((each) => each.hi);
    if (bounds.length > 0) return [0, Math.min(...bounds)];
  } else if (isPlain(a) && isPlain(b)) {
    const greatest = Math.max(a.hi, b.hi);
    return [operation === 'or' ? Math.max(a.lo, b.lo) : 0, powerAbove(greatest) - 1];
  }
  // Numbers of so many bits with a sign give one of as many.
  const size = Math.max(-Math.min(a.lo, b.lo), Math.max(a.hi, b.hi) + 1, 1);
  const power = powerAbove(size - 1);
  if (power <= 2 ** 52 && power <= most) return [-power, power - 1];
  return bits === 64 ? EVERYTHING : typeRange(bits, true);
}

/** The least power of two above a whole number ≥ 0: exact, as logarithms are not beyond 2^48. */
export function powerAbove(value: number): number {
  let power = 1;
  while (power <= value && power < Infinity) power *= 2;
  return power;
}
