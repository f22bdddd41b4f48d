import type { SummaryNode, SummaryOperator, SummaryVariable } from '../../summary.js';
import type { Expression, Term } from '../expressions/expression.js';
import type { KernelContext } from '../transfer/operands.js';
import { withRemainders } from '../expressions/remainders.js';

/** Turns expressions into the tables of a summary, each once. */
export class SummaryTables {
  readonly nodes: SummaryNode[] = [];
  readonly variables: SummaryVariable[] = [];
  readonly symbols = new Set<string>();
  private readonly nodeOf = new Map<Expression, number>();
  private readonly byText = new Map<string, number>();
  private readonly threads = new Map<string, number>();
  private readonly counters = new Map<number, number>();

  constructor(private readonly context: KernelContext) {}

  /** Index of the node that stands for an expression. */
  node(expression: Expression): number {
    const known = this.nodeOf.get(expression);
    if (known !== undefined) return known;
    const made = this.emit(expression);
    this.nodeOf.set(expression, made);
    return made;
  }

  private emit(expression: Expression): number {
    const { uniform } = expression;
    const add = (operator: SummaryOperator): number => this.add(operator, uniform);
    switch (expression.op) {
      case 'constant':
        return add({ op: 'constant', value: expression.value });
      case 'argument': {
        const { offset, bytes, signed } = expression;
        return add({ op: 'argument', offset, bytes, signed });
      }
      case 'dimension':
        return add({ op: 'dimension', name: expression.name });
      case 'symbol':
        this.symbols.add(expression.name);
        return add({ op: 'symbol', name: expression.name });
      case 'thread':
        return add({ op: 'variable', variable: this.thread(expression.name) });
      case 'counter':
        return add({ op: 'variable', variable: this.counter(expression.loop) });
      case 'unknown':
        return this.append({ op: 'unknown', ...finite(expression) }, false);
      case 'carried':
      case 'place':
        return this.append({ op: 'unknown' }, false);
      case 'sum':
        return this.sum(expression);
      case 'product':
      case 'minimum':
      case 'maximum': {
        const [a, b] = [this.node(expression.a), this.node(expression.b)];
        return add({ op: expression.op, a, b });
      }
      case 'meet':
        return add({ op: 'meet', of: [this.node(expression.a), this.node(expression.b)] });
      case 'power':
        return add({ op: 'power', of: this.node(expression.of) });
      case 'quotient':
      case 'remainder': {
        const [a, b] = [this.node(expression.a), this.node(expression.b)];
        return add({ op: expression.op, a, b, rounding: expression.rounding });
      }
      case 'exactQuotient': {
        const [a, b] = [this.node(expression.a), this.node(expression.b)];
        return add({ op: 'exactQuotient', a, b, divides: expression.divides });
      }
      case 'bits': {
        const { operation, bits } = expression;
        return add({ op: 'bits', operation, a: this.node(expression.a), b: this.node(expression.b), bits });
      }
      case 'wrap': {
        const { bits, signed } = expression;
        return add({ op: 'wrap', of: this.node(expression.of), bits, signed });
      }
      case 'select': {
        const condition = this.node(expression.condition);
        return add({ op: 'select', condition, a: this.node(expression.a), b: this.node(expression.b) });
      }
      case 'atMostZero':
        return this.atMostZero(expression.of, uniform);
      case 'isZero': {
        const [positive, negative] = this.sides(expression.of);
        return add({ op: 'equal', a: positive, b: negative });
      }
      case 'not':
        return add({ op: 'not', of: this.node(expression.of) });
      case 'and':
      case 'or':
        return add({ op: expression.op, terms: expression.terms.map((term) => this.node(term)) });
      case 'narrow': {
        const of = this.node(expression.of);
        const lo = expression.least === undefined ? {} : { lo: this.node(expression.least) };
        const hi = expression.most === undefined ? {} : { hi: this.node(expression.most) };
        return add({ op: 'narrow', of, ...lo, ...hi });
      }
      case 'assume': {
        const fits = expression.fits.map(({ of, bits, signed }) => ({ of: this.node(of), bits, signed }));
        return add({ op: 'assume', of: this.node(expression.of), fits });
      }
      case 'hull': {
        const [from, to] = [this.node(expression.from), this.node(expression.to)];
        return this.append({ op: 'hull', from, to }, false);
      }
    }
  }

  private atMostZero(of: Expression, uniform: boolean): number {
    const [positive, negative] = this.sides(of);
    return this.add({ op: 'lessEqual', a: positive, b: negative }, uniform);
  }

  /** A difference as what is added and what is taken away, so that an interval of each is exact. */
  private sides(of: Expression): [number, number] {
    const { arithmetic } = this.context;
    if (of.op !== 'sum') return [this.node(of), this.node(arithmetic.constant(0))];
    const positive = of.terms.filter((term) => term.coefficient > 0);
    const negative = of.terms
      .filter((term) => term.coefficient < 0)
      .map((term) => ({ ...term, coefficient: -term.coefficient }));
    return [
      this.node(arithmetic.sum(Math.max(of.constant, 0), positive)),
      this.node(arithmetic.sum(Math.max(-of.constant, 0), negative)),
    ];
  }

  private sum(expression: Expression): number {
    const { arithmetic } = this.context;
    const told = expression.uniform ? expression : withRemainders(arithmetic, expression);
    if (told.op !== 'sum') return this.node(told);
    const terms = [
      ...this.grouped(told.terms.filter((term) => term.factors.every((factor) => factor.uniform))),
      ...this.grouped(told.terms.filter((term) => term.factors.some((factor) => !factor.uniform))),
    ];
    return this.add({ op: 'sum', constant: told.constant, terms }, told.uniform);
  }

  /** Products with the same varying factors as one product of those with a uniform sum: each variable occurs once. */
  private grouped(terms: readonly Term[]): number[] {
    const { arithmetic } = this.context;
    const groups = new Map<string, { varying: Expression[]; uniform: Term[]; constant: number }>();
    for (const term of terms) {
      const varying = term.factors.filter((factor) => !factor.uniform);
      const uniform = term.factors.filter((factor) => factor.uniform);
      const key = varying.length === 0 ? `u${groups.size}` : varying.map((factor) => factor.id).join('*');
      const group = groups.get(key) ?? { varying, uniform: [], constant: 0 };
      groups.set(key, group);
      if (uniform.length === 0) group.constant += term.coefficient;
      else group.uniform.push({ coefficient: term.coefficient, factors: uniform });
    }
    return [...groups.values()].map((group) => {
      const isSingle = group.constant === 0 && group.uniform.length === 1;
      const [only] = group.uniform;
      if (isSingle && only !== undefined)
        return this.product(only.coefficient, [...only.factors, ...group.varying]);
      if (group.uniform.length === 0) return this.product(group.constant, group.varying);
      const coefficient = arithmetic.sum(group.constant, group.uniform);
      return this.product(1, [coefficient, ...group.varying]);
    });
  }

  private product(coefficient: number, factors: readonly Expression[]): number {
    const [first, ...others] = factors;
    if (first === undefined) return this.add({ op: 'constant', value: coefficient }, true);
    let node = this.node(first);
    let isUniform = first.uniform;
    for (const factor of others) {
      isUniform &&= factor.uniform;
      node = this.add({ op: 'product', a: node, b: this.node(factor) }, isUniform);
    }
    return coefficient === 1 ? node : this.add({ op: 'scale', factor: coefficient, of: node }, isUniform);
  }

  private thread(name: Extract<Expression, { op: 'thread' }>['name']): number {
    const known = this.threads.get(name);
    if (known !== undefined) return known;
    const index = this.variables.push({ kind: 'thread', name }) - 1;
    this.threads.set(name, index);
    return index;
  }

  /** The variable of a loop's counter; those that its count depends on come before it. */
  counter(loop: number): number {
    const known = this.counters.get(loop);
    if (known !== undefined) return known;
    const found = this.context.loops[loop];
    const count =
      found?.count === undefined ? this.append({ op: 'unknown', lo: 0 }, false) : this.node(found.count);
    const index = this.variables.push({ kind: 'counter', count, line: found?.line ?? 0 }) - 1;
    this.counters.set(loop, index);
    return index;
  }

  private add(operator: SummaryOperator, uniform: boolean): number {
    const key = JSON.stringify(operator);
    const known = this.byText.get(key);
    if (known !== undefined) return known;
    const index = this.append(operator, uniform);
    this.byText.set(key, index);
    return index;
  }

  private append(operator: SummaryOperator, uniform: boolean): number {
    return this.nodes.push({ ...operator, uniform }) - 1;
  }
}

function finite({ lo, hi }: Expression): { lo?: number; hi?: number } {
  return { ...(Number.isFinite(lo) ? { lo } : {}), ...(Number.isFinite(hi) ? { hi } : {}) };
}
