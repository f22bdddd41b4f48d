import type { Expression, WrapFit } from '../expressions/expression.js';
import { isConstant } from '../expressions/expression.js';
import { assuming, contains, flatten, Rewriter } from '../expressions/rewriting.js';
import type { KernelContext } from '../transfer/operands.js';
import type { FoundLoop } from '../execution/findings.js';
import { constantDivisors, withLaunchRemainders, withRemainders } from '../expressions/remainders.js';
import { coefficientOf, uniformPart, varyingTerms, withForm } from '../expressions/polynomials.js';
import { WrappedLimits } from './wrappedLimits.js';

/** Wider than this no buffer is missed: bounds that types alone give of 32-bit indices are of no use. */
const NARROW_BYTES = 2 ** 31;

interface LoopStep {
  readonly counter: Expression;
  readonly form: Expression;
  readonly stands: Expression;
}

interface Step {
  readonly form: Expression;
  readonly stands: Expression;
  /** Follows from a condition on more than this variable: only where that itself is of no use. */
  readonly isWeak: boolean;
}

/**
 * What conditions on the way to an access say of the values in it. A condition `form ≤ bound`, with a bound that is the same
 * for all threads, makes the whole form a variable of its own, which ends at the bound: `ctaid · ntid + tid < n`. Conditions
 * come in the order in which they were tested: each may rely on those before it.
 */
export class Narrowing {
  /** All `narrow` expressions: where one is empty, the access does not happen. */
  readonly narrowed: Expression[] = [];
  private readonly steps: Step[] = [];
  /** Whose digits conditions speak of. */
  private readonly divisors = new Map<Expression, Set<number>>();
  /** What must not wrap for the conditions taken so far to mean what they say. */
  private readonly provisos: WrapFit[] = [];

  /** What the length of a loop says of its counter beside other values, where that is of use. */
  private readonly loopSteps: LoopStep[] = [];
  /** Counters below the lengths of their loops, where conditions say that nothing wraps in these. */
  private readonly caps: Omit<Step, 'isWeak'>[] = [];

  /** What conditions say of numbers that may wrap around. */
  private readonly wrapped: WrappedLimits;

  constructor(
    private readonly context: KernelContext,
    conditions: readonly Expression[],
    loops: readonly FoundLoop[],
  ) {
    this.wrapped = new WrappedLimits(context);
    for (const condition of conditions) {
      const limited = this.wrapped.take(condition);
      if (limited !== undefined) this.narrowed.push(limited);
      this.take(condition);
    }
    // The innermost first: its length may depend on the others' counters.
    for (const loop of [...loops].reverse()) this.takeLoop(loop);
  }

  /** An expression without wraps, in terms of the narrowed variables. */
  apply(expression: Expression): { readonly expression: Expression; readonly fits: readonly WrapFit[] } {
    const flat = flatten(this.context, expression);
    return {
      expression: this.told(this.narrow(flat.expression), true),
      fits: flat.fits.map((fit) => ({ ...fit, of: this.told(this.narrow(fit.of), true) })),
    };
  }

  /** A number by its independent parts, these narrowed too. */
  private told(value: Expression, withWeak: boolean): Expression {
    const isNumber =
      value.op === 'sum' || isVariable(value) || value.op === 'remainder' || value.op === 'quotient';
    if (value.uniform || !isNumber) return value;
    const { arithmetic } = this.context;
    let result = withRemainders(arithmetic, value, this.divisors);
    for (const weak of withWeak ? [false, true] : [false]) {
      for (const { form, stands, isWeak } of this.steps) {
        if (isWeak === weak) result = withForm(arithmetic, result, form, stands);
      }
    }
    return result;
  }

  /** The same with what must not wrap as a proviso. */
  bounded(expression: Expression): Expression {
    const { expression: value, fits } = this.apply(expression);
    const { arithmetic, table } = this.context;
    const provisos = [...this.provisos, ...fits];
    let known = this.orAsItIs(assuming(arithmetic, value, provisos), expression);
    const counted = this.counted(value);
    if (counted !== value)
      known = table.make({ op: 'meet', a: known, b: assuming(arithmetic, counted, provisos) });
    for (const other of [this.capped(expression), this.wrapped.applied(expression)])
      if (other !== undefined) known = table.make({ op: 'meet', a: known, b: other });
    return known;
  }

  /** Where something wraps, small types, masks and remainders still bound what is made of it. */
  private orAsItIs(bounded: Expression, expression: Expression): Expression {
    const { arithmetic } = this.context;
    if (bounded.op !== 'assume') return bounded;
    const told = withRemainders(arithmetic, expression);
    const { lo, hi } = arithmetic.sum(0, varyingTerms(told));
    if (!(hi - lo < NARROW_BYTES)) return bounded;
    return arithmetic.table.make({ op: 'meet', a: bounded, b: told });
  }

  /** The value with counters told by how far they are from their ends. */
  private counted(value: Expression): Expression {
    const { arithmetic } = this.context;
    let result = value;
    for (const { counter, form, stands } of this.loopSteps) {
      const factor = coefficientOf(arithmetic, result, { coefficient: 1, factors: [counter] });
      if (factor === undefined) continue;
      const change = arithmetic.multiply(factor, arithmetic.subtract(stands, form));
      const plain = this.opened(arithmetic.add(withLaunchRemainders(arithmetic, result), change));
      const told = withLaunchRemainders(arithmetic, plain);
      const parts = told === plain ? withRemainders(arithmetic, plain) : told;
      if (told !== plain || varyingTerms(parts).length <= varyingTerms(result).length) result = parts;
    }
    return result;
  }

  /** The value with counters that end where the lengths of their loops say for the threads that come here. */
  private capped(expression: Expression): Expression | undefined {
    if (this.caps.length === 0) return undefined;
    const { arithmetic } = this.context;
    const flat = flatten(this.context, expression);
    const plain = this.narrow(flat.expression);
    const value = this.below(plain);
    if (value === plain) return undefined;
    const fits = flat.fits.map((fit) => ({ ...fit, of: this.below(this.narrow(fit.of)) }));
    return assuming(arithmetic, value, [...this.provisos, ...fits]);
  }

  private below(value: Expression): Expression {
    const { arithmetic } = this.context;
    let result = value;
    for (const { form, stands } of this.caps) {
      const factor = coefficientOf(arithmetic, result, { coefficient: 1, factors: [form] });
      if (factor !== undefined)
        result = arithmetic.add(result, arithmetic.multiply(factor, arithmetic.subtract(stands, form)));
    }
    return result;
  }

  /** A sum with narrowed quotients as what they were, so that what they divide can be seen. */
  private opened(sum: Expression): Expression {
    const { arithmetic } = this.context;
    let result = sum;
    for (const term of varyingTerms(sum)) {
      for (const factor of term.factors) {
        if (factor.op !== 'narrow' || factor.of.op !== 'quotient') continue;
        const by = coefficientOf(arithmetic, result, { coefficient: 1, factors: [factor] });
        if (by === undefined) continue;
        result = arithmetic.add(result, arithmetic.multiply(by, arithmetic.subtract(factor.of, factor)));
      }
    }
    return result;
  }

  /** counter ≤ times, for as long as times ≥ 0. */
  private takeLoop({ counter, count }: FoundLoop): void {
    if (count === undefined) return;
    const { arithmetic, table } = this.context;
    const narrowed = this.narrow(counter);
    if (narrowed.op !== 'counter' && narrowed.op !== 'narrow') return;
    const times = flatten(this.context, arithmetic.addConstant(count, -1));
    const fits = times.fits.map((fit) => ({ ...fit, of: this.narrow(fit.of) }));
    if (fits.some(({ of }) => !of.uniform)) {
      const most = assuming(arithmetic, this.told(this.narrow(times.expression), true), [
        ...this.provisos,
        ...fits,
      ]);
      this.caps.push({
        form: narrowed,
        stands: table.make({ op: 'narrow', of: narrowed, least: undefined, most }),
      });
    }
    for (const limit of limitsOf(times.expression)) {
      const most = this.narrow(limit);
      if (most.uniform) continue;
      const value = arithmetic.subtract(narrowed, most);
      const form = arithmetic.sum(0, varyingTerms(value));
      const bound = arithmetic.scale(uniformPart(arithmetic, value), -1);
      const proviso = { of: this.told(most, true), bits: 64 as const, signed: false };
      const provisos = [...this.provisos, ...fits, proviso];
      const stands = table.make({
        op: 'narrow',
        of: form,
        least: undefined,
        most: assuming(arithmetic, bound, provisos),
      });
      this.loopSteps.push({ counter: narrowed, form, stands });
    }
  }

  private narrow(expression: Expression): Expression {
    if (this.steps.length === 0 || expression.uniform) return expression;
    const { arithmetic } = this.context;
    const rewriter: Rewriter = new Rewriter(this.context, (part, rewrite) => {
      if (part.uniform || part.op === 'narrow') return part;
      if (part.op !== 'sum' && !isVariable(part)) return undefined;
      let value: Expression = arithmetic.constant(part.op === 'sum' ? part.constant : 0);
      for (const term of varyingAndOther(part)) {
        let product: Expression = arithmetic.constant(term.coefficient);
        for (const factor of term.factors) {
          product = arithmetic.multiply(product, isVariable(factor) ? factor : rewrite(factor));
        }
        value = arithmetic.add(value, product);
      }
      for (const { form, stands, isWeak } of this.steps) {
        if (!isWeak && !isDigit(form)) value = withForm(arithmetic, value, form, stands);
      }
      return value;
    });
    return rewriter.rewrite(expression);
  }

  private take(condition: Expression): void {
    if (this.takeUnsigned(condition)) return;
    const { expression, fits } = this.apply(condition);
    // Where an unsigned value may be below zero it is not what it looks like: such a condition says nothing here.
    // Nor can a launch tell whether an unknown value wraps.
    if (fits.some((fit) => mayBeNegative(fit) || fit.of.source !== undefined)) return;
    this.takeFlat(expression, fits);
  }

  /** wrapped ≤ limit as unsigned numbers: one comparison for 0 ≤ value ≤ limit. */
  private takeUnsigned(condition: Expression): boolean {
    if (condition.op !== 'atMostZero') return false;
    const { arithmetic } = this.context;
    const varying = varyingTerms(condition.of);
    const [term] = varying;
    const [wrapped] = term?.factors ?? [];
    if (varying.length !== 1 || term?.coefficient !== 1 || term.factors.length !== 1) return false;
    if (wrapped?.op !== 'wrap' || wrapped.signed) return false;
    const value = this.apply(wrapped.of);
    if (value.expression.lo >= 0) return false;
    const limit = this.apply(arithmetic.scale(uniformPart(arithmetic, condition.of), -1));
    // A value of 64 bits of which nothing is known is its bits as a signed integer.
    const { of, bits } = wrapped;
    const isAny = bits === 64 && of.op === 'unknown' && of.lo === -Infinity && of.hi === Infinity;
    const signed = isAny ? [limit.expression] : [value.expression, limit.expression];
    const asSigned = signed.map((each) => ({ of: each, bits, signed: true }));
    const fits = [...value.fits, ...limit.fits, ...asSigned];
    if (fits.some(mayBeNegative)) return true;
    this.within(value.expression, limit.expression, fits);
    return true;
  }

  /** 0 ≤ value ≤ most. */
  private within(value: Expression, most: Expression, fits: readonly WrapFit[]): void {
    if (value.op === 'bits' && value.operation === 'or') {
      // No bit of either may lie above.
      this.within(value.a, most, fits);
      this.within(value.b, most, fits);
      return;
    }
    const { arithmetic } = this.context;
    this.bound(this.narrow(arithmetic.scale(value, -1)), fits, false);
    this.bound(this.narrow(arithmetic.subtract(value, most)), fits, false);
  }

  private takeFlat(condition: Expression, fits: readonly WrapFit[]): void {
    const { conditions, arithmetic } = this.context;
    if (condition.op === 'and') {
      for (const term of condition.terms) this.takeFlat(this.narrow(term), fits);
    } else if (condition.op === 'atMostZero') this.bound(condition.of, fits, false);
    else if (condition.op === 'isZero') this.bound(condition.of, fits, true);
    else if (condition.op === 'not' && condition.of.op === 'isZero') {
      // Other than a bound that it cannot pass: beyond it.
      const value = condition.of.of;
      const zero = arithmetic.constant(0);
      if (value.lo === 0) this.takeFlat(conditions.less(zero, value), fits);
      else if (value.hi === 0) this.takeFlat(conditions.less(value, zero), fits);
      else this.takeRest(value, fits);
    }
  }

  /** a mod b ≠ 0 with a ≥ 0: for b ≥ 1 it is from 1 on, and a no less. */
  private takeRest(value: Expression, fits: readonly WrapFit[]): void {
    const { arithmetic } = this.context;
    const told = this.told(value, false);
    const rest = told.op === 'remainder' ? told : arithmetic.scale(told, -1);
    if (rest.op !== 'remainder' || rest.rounding !== 'floor' || !rest.b.uniform || rest.a.lo < 0) return;
    const divisor = { of: arithmetic.addConstant(rest.b, -1), bits: 64 as const, signed: false };
    for (const each of [rest, rest.a]) {
      this.bound(arithmetic.addConstant(arithmetic.scale(each, -1), 1), [...fits, divisor], false);
    }
  }

  /** Of ⌊value / d⌋ = q or ≤ q, and of a | b ≥ 0, what they say of value, of a and b. @returns whether it was such */
  private inside(value: Expression, fits: readonly WrapFit[], isEqual: boolean): boolean {
    const { arithmetic } = this.context;
    const [term] = varyingTerms(value);
    const [factor] = term?.factors ?? [];
    if (term === undefined || varyingTerms(value).length !== 1 || term.factors.length !== 1) return false;
    const rest = uniformPart(arithmetic, value);
    if (factor?.op === 'quotient' && factor.rounding === 'floor' && factor.b.op === 'constant') {
      const by = factor.b.value;
      if (by <= 0 || (isEqual ? !isConstant(rest, 0) : term.coefficient !== 1)) return false;
      const most = arithmetic.addConstant(arithmetic.scale(rest, -by), by - 1);
      if (isEqual) this.within(factor.a, most, fits);
      else this.bound(this.narrow(arithmetic.subtract(factor.a, most)), fits, false);
      return true;
    }
    if (factor?.op !== 'bits' || factor.operation !== 'or') return false;
    if (isEqual || term.coefficient !== -1 || !isConstant(rest, 0)) return false;
    for (const each of [factor.a, factor.b]) {
      this.bound(this.narrow(arithmetic.scale(each, -1)), fits, false);
    }
    return true;
  }

  /** value ≤ 0, or value = 0. */
  private bound(given: Expression, fits: readonly WrapFit[], isEqual: boolean): void {
    const { arithmetic } = this.context;
    for (const [a, divisor] of constantDivisors(arithmetic, given)) {
      const before = this.divisors.get(a);
      if (before === undefined) this.divisors.set(a, new Set([divisor]));
      else before.add(divisor);
    }
    const value = this.told(given, false);
    const varying = varyingTerms(value);
    if (varying.length === 0 || this.inside(value, fits, isEqual)) return;
    const isFalling = (varying[0]?.coefficient ?? 0) < 0;
    const whole = isFalling ? arithmetic.scale(value, -1) : value;
    const form = arithmetic.sum(0, varyingTerms(whole));
    const limit = arithmetic.scale(uniformPart(arithmetic, whole), -1);
    this.limit(form, limit, fits, isEqual ? 'both' : isFalling ? 'least' : 'most', false);
    if (varying.length === 1) return;
    // form ≤ limit also bounds each of its parts, by what the others are at least.
    for (const term of varyingTerms(form)) {
      const [variable] = term.factors;
      const size = Math.abs(term.coefficient);
      if (term.factors.length !== 1 || variable === undefined || !isVariable(variable)) continue;
      const rest = arithmetic.subtract(limit, arithmetic.subtract(form, arithmetic.sum(0, [term])));
      const isRising = term.coefficient > 0;
      const side = isEqual ? 'both' : isRising === !isFalling ? 'most' : 'least';
      const signed = isRising ? rest : arithmetic.scale(rest, -1);
      this.limit(arithmetic.scale(variable, size), signed, fits, side, true);
    }
  }

  /** form ≤ limit, ≥ limit or = limit. */
  private limit(
    form: Expression,
    limit: Expression,
    fits: readonly WrapFit[],
    side: 'least' | 'most' | 'both',
    isWeak: boolean,
  ): void {
    const { arithmetic, table } = this.context;
    const [term] = varyingTerms(form);
    if (term === undefined) return;
    const isSingle = varyingTerms(form).length === 1 && term.coefficient > 0;
    const size = isSingle ? term.coefficient : 1;
    const of = isSingle ? arithmetic.sum(0, [{ ...term, coefficient: 1 }]) : form;
    const by = table.constant(size);
    const below = arithmetic.quotient(limit, by, 'floor');
    const above = arithmetic.scale(arithmetic.quotient(arithmetic.scale(limit, -1), by, 'floor'), -1);
    const least = side === 'most' ? undefined : above;
    const most = side === 'least' ? undefined : below;
    this.provisos.push(...fits);
    const provided = (limitOf: Expression | undefined): Expression | undefined =>
      limitOf && assuming(arithmetic, limitOf, this.provisos);
    // What earlier conditions have narrowed in the form holds under their provisos only.
    const whole = assuming(arithmetic, of, this.provisos);
    this.narrowed.push(table.make({ op: 'narrow', of: whole, least: provided(least), most: provided(most) }));
    this.steps.push({ form: of, stands: table.make({ op: 'narrow', of, least, most }), isWeak });
  }
}

/** A form of digits of numbers divided by constants: it occurs only where a sum is told by digits. */
function isDigit(form: Expression): boolean {
  return varyingTerms(form).some(({ factors }) =>
    factors.some((each) => (each.op === 'quotient' || each.op === 'remainder') && each.b.op === 'constant'),
  );
}

/** The numbers of which a trip count is the least, or zero. */
function limitsOf(times: Expression): readonly Expression[] {
  if (times.op === 'minimum') return [times.a, times.b].flatMap(limitsOf);
  if (times.op !== 'maximum') return [times];
  // Of two numbers the greater limits it, and that may be either.
  if (isConstant(times.a, 0)) return limitsOf(times.b);
  return isConstant(times.b, 0) ? limitsOf(times.a) : [times];
}

/** Whether an unsigned value is sure to be negative for some threads; what depends on arguments may be sound in most launches. */
function mayBeNegative({ of, signed }: WrapFit): boolean {
  return !signed && of.lo < 0 && !contains(of, (part) => part.op === 'argument');
}

/** What a condition can narrow: anything that differs between threads and is no sum. */
function isVariable(part: Expression): boolean {
  return (
    part.op === 'thread' ||
    part.op === 'counter' ||
    part.op === 'narrow' ||
    part.op === 'unknown' ||
    part.op === 'hull'
  );
}

function varyingAndOther(
  part: Expression,
): readonly { coefficient: number; factors: readonly Expression[] }[] {
  return part.op === 'sum' ? part.terms : [{ coefficient: 1, factors: [part] }];
}
