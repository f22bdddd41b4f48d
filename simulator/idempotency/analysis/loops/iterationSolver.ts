import type { Expression, UnknownSource } from '../expressions/expression.js';
import { termsOf } from '../expressions/expression.js';
import { contains, Rewriter } from '../expressions/rewriting.js';
import { selectValue } from '../expressions/selection.js';
import type { KernelContext } from '../transfer/operands.js';
import { integerBits } from '../transfer/operands.js';

/** A register that an iteration reads and changes. */
export interface CarriedRegister {
  readonly register: number;
  /** Stands for its value when an iteration begins. */
  readonly symbol: Expression;
  /** Before the first iteration. */
  readonly initial: Expression | undefined;
  /** When the next iteration begins, in terms of symbols. */
  readonly next: Expression | undefined;
}

export interface LoopNotes {
  readonly line: number;
  readonly tainted: boolean;
  /** Expressions with a lower id are invariant in the loop. */
  readonly mark: number;
}

/**
 * What carried registers are at iteration `counter`: an induction variable is its first value and so many steps; what
 * follows from others one iteration before is told by them; the rest is unknown, with bounds where there are some.
 */
export class IterationSolver {
  private readonly solved = new Map<Expression, Expression>();

  constructor(
    private readonly context: KernelContext,
    private readonly counter: Expression,
    private readonly notes: LoopNotes,
    carried: readonly CarriedRegister[],
  ) {
    let open = carried.filter((each) => !this.take(each, this.linear(each)));
    for (let progress = true; progress;) {
      const left = open.filter((each) => !this.take(each, this.following(each)));
      progress = left.length < open.length;
      open = left;
    }
    for (const each of open) this.solved.set(each.symbol, this.irregular(each, open));
  }

  /** An expression of an iteration, with the symbols replaced by what they are at iteration `counter`. */
  at(): Rewriter {
    return new Rewriter(this.context, (part) => this.solved.get(part));
  }

  valueOf(symbol: Expression): Expression | undefined {
    return this.solved.get(symbol);
  }

  private take({ symbol }: CarriedRegister, value: Expression | undefined): boolean {
    if (value !== undefined) this.solved.set(symbol, value);
    return value !== undefined;
  }

  private isPredicate(register: number): boolean {
    return this.context.kernel.registers[register]?.type === 'pred';
  }

  private bitsOf(register: number): 8 | 16 | 32 | 64 {
    return integerBits(this.context.kernel.registers[register]?.type ?? 'b64');
  }

  private linear({ register, symbol, initial, next }: CarriedRegister): Expression | undefined {
    if (initial === undefined || next === undefined) return undefined;
    if (next === symbol) return initial;
    if (this.isPredicate(register)) return undefined;
    const { arithmetic } = this.context;
    const bits = this.bitsOf(register);
    const step = arithmetic.reduce(this.stepOf(next, symbol), bits);
    if (step.newest >= this.notes.mark) return undefined;
    return arithmetic.reduce(arithmetic.add(initial, arithmetic.multiply(step, this.counter)), bits);
  }

  /** next − symbol, where both sides of a choice hold the symbol as what they add to. */
  private stepOf(
    next: Expression,
    symbol: Expression,
    known: Map<Expression, Expression> = new Map(),
  ): Expression {
    const found = known.get(next);
    if (found !== undefined) return found;
    const { arithmetic } = this.context;
    let step = arithmetic.subtract(next, symbol);
    const choice = contains(step, (part) => part === symbol) ? choiceAmong(next) : undefined;
    if (choice !== undefined) {
      const [a, b] = [this.stepOf(choice.a, symbol, known), this.stepOf(choice.b, symbol, known)];
      const chosen = selectValue(this.context, choice.condition, a, b);
      step = arithmetic.add(arithmetic.subtract(next, choice), chosen);
    }
    known.set(next, step);
    return step;
  }

  /** Of a register that depends on solved ones alone, or grows by what they say. */
  private following({ register, symbol, initial, next }: CarriedRegister): Expression | undefined {
    if (initial === undefined || next === undefined) return undefined;
    const { conditions, arithmetic } = this.context;
    const isOpen = (part: Expression): boolean =>
      part.id >= this.notes.mark && isLeaf(part) && !this.solved.has(part);
    if (!contains(next, isOpen)) {
      const before = shifted(this.context, this.at().rewrite(next), this.counter);
      if (replaced(this.context, before, this.counter, conditions.no) === initial) return before;
      const isFirst = conditions.isZero(this.counter);
      return this.isPredicate(register)
        ? conditions.choose(isFirst, initial, before)
        : selectValue(this.context, isFirst, initial, before);
    }
    if (this.isPredicate(register)) return undefined;
    const bits = this.bitsOf(register);
    const step = arithmetic.reduce(this.stepOf(next, symbol), bits);
    if (contains(step, isOpen)) return undefined;
    return this.accumulated(initial, this.at().rewrite(step), bits);
  }

  /** Σ of a step a + b·j over the iterations j before this one: a·k + b·k(k − 1)/2. */
  private accumulated(initial: Expression, step: Expression, bits: 8 | 16 | 32 | 64): Expression | undefined {
    const { arithmetic, table } = this.context;
    const parts = splitBy(this.context, step, this.counter);
    if (parts === undefined) return undefined;
    const { counter } = this;
    const pairs = arithmetic.quotient(
      arithmetic.subtract(arithmetic.multiply(counter, counter), counter),
      table.constant(2),
      'floor',
    );
    const total = arithmetic.add(
      arithmetic.multiply(parts.constant, counter),
      arithmetic.multiply(parts.slope, pairs),
    );
    return arithmetic.reduce(arithmetic.add(initial, total), bits);
  }

  private irregular(carried: CarriedRegister, open: readonly CarriedRegister[]): Expression {
    const { context, notes } = this;
    const { register, initial, next } = carried;
    const isTainted = notes.tainted || initial?.tainted !== false || next?.tainted !== false;
    const source: UnknownSource = next?.source ?? {
      cause: 'PE',
      line: notes.line,
      text: 'a value that changes irregularly from one iteration to the next',
    };
    if (this.isPredicate(register)) return context.opaque(1, source, isTainted, [0, 1]);
    const symbols = new Set(open.map((each) => each.symbol));
    const bounds = this.bounds(carried, symbols);
    const inner = next?.source ?? initial?.source;
    if (bounds !== undefined) {
      return context.table.hull(bounds[0], bounds[1], {
        tainted: isTainted,
        ...(inner === undefined ? {} : { source: inner }),
      });
    }
    return context.opaque(this.bitsOf(register), source, isTainted);
  }

  /** Bounds of a register that an iteration keeps, replaces by a solved value, or divides. */
  private bounds(
    { register, symbol, initial, next }: CarriedRegister,
    open: ReadonlySet<Expression>,
  ): readonly [Expression, Expression] | undefined {
    if (initial === undefined || next === undefined) return undefined;
    const { arithmetic, table } = this.context;
    const bits = this.bitsOf(register);
    const signs = new Set<boolean>();
    const values: Expression[] = [];
    const work = [next];
    const isOwn = (part: Expression): boolean => {
      if (part === symbol) return true;
      if (part.op !== 'wrap' || part.of !== symbol || part.bits !== bits) return false;
      signs.add(part.signed);
      return true;
    };
    for (let part = work.pop(); part !== undefined; part = work.pop()) {
      if (isOwn(part)) continue;
      if (part.op === 'select' || part.op === 'minimum' || part.op === 'maximum') work.push(part.a, part.b);
      else if (part.op === 'quotient' && part.b.op === 'constant' && part.b.value > 1 && isOwn(part.a)) {
        // Toward zero, or minus one.
        values.push(
          table.constant(0),
          arithmetic.minimum(table.constant(-1), this.integer(initial, bits, true)),
        );
      } else if (contains(part, (inner) => open.has(inner))) return undefined;
      else values.push(this.at().rewrite(part));
    }
    if (signs.size > 1) return undefined;
    const signed = !signs.has(false);
    const all = [initial, ...values].map((value) => this.integer(value, bits, signed));
    const [first = initial, ...others] = all;
    return [
      others.reduce((least, each) => arithmetic.minimum(least, each), first),
      others.reduce((most, each) => arithmetic.maximum(most, each), first),
    ];
  }

  private integer(value: Expression, bits: 8 | 16 | 32 | 64, signed: boolean): Expression {
    return this.context.arithmetic.wrap(value, bits, signed);
  }
}

/** A choice that is a term of a sum by itself. */
function choiceAmong(sum: Expression): (Expression & { readonly op: 'select' }) | undefined {
  for (const { coefficient, factors } of termsOf(sum)) {
    const [factor] = factors;
    if (coefficient === 1 && factors.length === 1 && factor?.op === 'select') return factor;
  }
  return undefined;
}

function isLeaf({ op }: Expression): boolean {
  return op === 'unknown' || op === 'carried' || op === 'counter' || op === 'hull';
}

/** An expression with a counter replaced. */
export function replaced(
  context: KernelContext,
  expression: Expression,
  counter: Expression,
  value: Expression,
): Expression {
  if (expression.newest < counter.id) return expression;
  return new Rewriter(context, (part) =>
    part === counter ? value : part.newest < counter.id ? part : undefined,
  ).rewrite(expression);
}

/** An expression as it was one iteration before. */
export function shifted(context: KernelContext, expression: Expression, counter: Expression): Expression {
  return replaced(context, expression, counter, context.arithmetic.addConstant(counter, -1));
}

/** slope · counter + constant, neither of which holds the counter; undefined when the expression is not of that form. */
export function splitBy(
  { arithmetic }: KernelContext,
  expression: Expression,
  counter: Expression,
): { slope: Expression; constant: Expression } | undefined {
  const terms = termsOf(expression);
  const holds = (part: Expression): boolean =>
    part.newest >= counter.id && contains(part, (inner) => inner === counter);
  const slope = terms.filter((term) => term.factors.includes(counter));
  const rest = terms.filter((term) => !term.factors.includes(counter));
  const over = slope.map((term) => {
    const at = term.factors.indexOf(counter);
    return { coefficient: term.coefficient, factors: term.factors.filter((_, index) => index !== at) };
  });
  if ([...over, ...rest].some((term) => term.factors.some(holds))) return undefined;
  const constants = over.filter((term) => term.factors.length === 0);
  const steps = constants.reduce((total, term) => total + term.coefficient, 0);
  return {
    slope: arithmetic.sum(
      steps,
      over.filter((term) => term.factors.length > 0),
    ),
    constant: arithmetic.sum(
      expression.op === 'sum' ? expression.constant : expression.op === 'constant' ? expression.value : 0,
      rest,
    ),
  };
}
