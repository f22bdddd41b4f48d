import type { Expression, IntegerBits } from '../expressions/expression.js';
import { constantOf, termsOf, typeRange } from '../expressions/expression.js';
import { contains, Rewriter, visit } from '../expressions/rewriting.js';
import type { KernelContext } from '../transfer/operands.js';
import type { AccessCase } from './cases.js';

/** More values from memory than this in one access stay as they are. */
const MOST_INDICES = 6;

type Wrap = Extract<Expression, { op: 'wrap' }>;

/** A value from memory, modulo 2^bits, by what a condition or the address makes of it. */
interface Index {
  readonly leaf: Expression;
  readonly bits: IntegerBits;
  readonly variable: Expression;
  readonly as: Expression;
}

/** Variables that have been made, so that accesses share them. */
const made = new WeakMap<KernelContext, Map<string, Expression>>();

/**
 * An access told by its indices from memory as the integers that the kernel compares. What a load brings is a number modulo
 * 2^bits, of which no launch tells whether it wraps; but where j = wrap(u − first) is compared, j itself may be the variable,
 * of its type's range, and u is j + first wherever only its bits count: `if (j >= 0 && j < n) out[j] = …`.
 * @returns undefined when the access holds no such index
 */
export function withLoadedIndices(context: KernelContext, access: AccessCase): AccessCase | undefined {
  let { address, conditions } = access;
  const done = new Set<Expression>();
  for (let count = 0; count < MOST_INDICES; count++) {
    const index = nextIndex(context, [...conditions, address], done);
    if (index === undefined) break;
    done.add(index.leaf).add(index.variable);
    const replacing = new Replacing(context, index);
    conditions = conditions.map((condition) => replacing.exact(condition));
    address = index.bits === 64 ? replacing.modulo(address) : replacing.exact(address);
  }
  return done.size === 0 ? undefined : { address, conditions };
}

/** The first value from memory that is compared or used as an integer, innermost first. */
function nextIndex(
  context: KernelContext,
  expressions: readonly Expression[],
  done: ReadonlySet<Expression>,
): Index | undefined {
  for (const expression of expressions) {
    if (expression.source === undefined) continue;
    const wraps: Wrap[] = [];
    visit(expression, (part) => {
      if (part.op === 'wrap' && part.source !== undefined) wraps.push(part);
      return part.op !== 'hull' && part.source !== undefined;
    });
    for (const wrap of wraps.reverse()) {
      const index = indexOf(context, wrap, done, expressions);
      if (index !== undefined) return index;
    }
  }
  return undefined;
}

/** wrap(± u + rest) as a variable, with u by it. */
function indexOf(
  context: KernelContext,
  wrap: Wrap,
  done: ReadonlySet<Expression>,
  expressions: readonly Expression[],
): Index | undefined {
  const { arithmetic } = context;
  const { bits } = wrap;
  for (const { coefficient, factors } of termsOf(wrap.of)) {
    const [leaf] = factors;
    if (leaf?.op !== 'unknown' || factors.length !== 1 || Math.abs(coefficient) !== 1) continue;
    if (done.has(leaf) || (bits === 64 && !isAny(leaf))) continue;
    const rest = arithmetic.subtract(wrap.of, arithmetic.scale(leaf, coefficient));
    if (contains(rest, (part) => part === leaf)) continue;
    const isSigned = bits === 64 || expressions.some((each) => contains(each, isSignedTwin(wrap)));
    const isItself = bits === 64 && wrap.of === leaf;
    const variable = isItself ? leaf : variableFor(context, wrap, bits, isSigned);
    return { leaf, bits, variable, as: arithmetic.scale(arithmetic.subtract(variable, rest), coefficient) };
  }
  return undefined;
}

function isSignedTwin(wrap: Wrap): (part: Expression) => boolean {
  return (part) => part.op === 'wrap' && part.signed && part.bits === wrap.bits && part.of === wrap.of;
}

/** Whether nothing but the 64 bits of a value are known. */
function isAny(leaf: Expression): boolean {
  return leaf.lo === -Infinity && leaf.hi === Infinity;
}

function variableFor(context: KernelContext, wrap: Wrap, bits: IntegerBits, isSigned: boolean): Expression {
  let known = made.get(context);
  if (known === undefined) {
    known = new Map();
    made.set(context, known);
  }
  const key = `${wrap.of.id}.${bits}.${isSigned}`;
  let variable = known.get(key);
  if (variable === undefined) {
    const range = bits === 64 ? ([-Infinity, Infinity] as const) : typeRange(bits, isSigned);
    const source = wrap.source ?? { cause: 'NA' as const, line: 0, text: 'a value from memory' };
    variable = context.table.unknown([...range], { tainted: wrap.tainted, source });
    known.set(key, variable);
  }
  return variable;
}

/** Puts another number of the same bits in a value's place, where only its bits count. */
class Replacing {
  private readonly rewriter: Rewriter;

  constructor(
    private readonly context: KernelContext,
    private readonly index: Index,
  ) {
    this.rewriter = new Rewriter(context, (part) => this.replaced(part));
  }

  exact(expression: Expression): Expression {
    return expression.source === undefined ? expression : this.rewriter.rewrite(expression);
  }

  /** A number of which only its value modulo 2^bits counts, of no more bits than the index has. */
  modulo(of: Expression): Expression {
    const { arithmetic } = this.context;
    let total: Expression = arithmetic.constant(constantOf(of));
    for (const { coefficient, factors } of termsOf(of)) {
      let product: Expression = arithmetic.constant(coefficient);
      for (const factor of factors) {
        const value = factor === this.index.leaf ? this.index.as : this.exact(factor);
        product = arithmetic.multiply(product, value);
      }
      total = arithmetic.add(total, product);
    }
    return total;
  }

  private replaced(part: Expression): Expression | undefined {
    if (part.source === undefined) return part;
    const { bits, leaf } = this.index;
    if (part.op === 'wrap' && part.bits <= bits) return this.wrapped(part);
    // A number from 0 on is its bits as an unsigned integer.
    if (part === leaf && bits < 64 && leaf.lo >= 0 && leaf.hi < 2 ** bits)
      return this.wrap(this.index.as, bits, false);
    return undefined;
  }

  private wrapped({ of, bits, signed }: Wrap): Expression {
    return this.wrap(this.modulo(of), bits, signed);
  }

  private wrap(of: Expression, bits: IntegerBits, signed: boolean): Expression {
    // Of a value of 64 bits of which nothing is known the signed integer is as good a number as any.
    if (bits === 64 && signed && of.op === 'unknown' && isAny(of)) return of;
    return this.context.arithmetic.wrap(of, bits, signed);
  }
}
