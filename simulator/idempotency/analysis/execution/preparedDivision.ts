import { isPlainLoad } from '../../../ptx/index.js';
import type { IrInstruction } from '../../../ptx/index.js';
import type { DimensionName, ThreadVariable } from '../../summary.js';
import type { Expression } from '../expressions/expression.js';
import { constantOf, termsOf } from '../expressions/expression.js';
import type { Operands } from '../transfer/operands.js';
import type { Findings } from './findings.js';
import type { Path } from './path.js';

type Argument = Expression & { readonly op: 'argument' };

const WORD = 2 ** 32;

const extents: Readonly<Record<ThreadVariable, DimensionName>> = {
  'tid.x': 'ntid.x',
  'tid.y': 'ntid.y',
  'tid.z': 'ntid.z',
  'ctaid.x': 'nctaid.x',
  'ctaid.y': 'nctaid.y',
  'ctaid.z': 'nctaid.z',
};

/**
 * ⌊(⌊x · M / 2^32⌋ + x) / 2^S⌋ or ⌊⌊x · M / 2^32⌋ / 2^S⌋, where host code has put a divisor D, M and S beside one another into
 * the arguments (offset calculators of frameworks, FastDivmod): ⌊x / D⌋, as long as the launch's M and S are what they have
 * to be for D, and x is below 2^31, which becomes a condition of the launch. @returns undefined for anything else
 */
export function preparedQuotient(
  o: Operands,
  { findings, path }: { readonly findings: Findings | undefined; readonly path: Path },
): Expression | undefined {
  const { arithmetic, conditions, instruction } = o;
  if (instruction.opcode !== 'shr' || o.bits !== 32 || o.signed) return undefined;
  const shift = o.integer(1, 32, false);
  if (shift.op !== 'argument' || shift.bytes !== 4) return undefined;
  const found = multiplied(o);
  const divisor = found && divisorBeside(o, found.multiplier, shift);
  const divisors: Expression[] = [];
  const most = found && mostOf(o, found.of, divisors);
  if (found === undefined || divisor === undefined || most === undefined) return undefined;
  const power = arithmetic.power(shift);
  const whole = found.isAdded ? arithmetic.addConstant(found.multiplier, WORD) : found.multiplier;
  // What M · D is above 2^(32 + S): times an x below 2^31 it must not reach a whole.
  const excess = arithmetic.subtract(arithmetic.multiply(whole, divisor), arithmetic.scale(power, WORD));
  const isPrepared = conditions.and([
    conditions.lessEqual(arithmetic.constant(0), excess),
    conditions.lessEqual(excess, arithmetic.scale(power, 2)),
    ...[divisor, ...divisors].map((each) => conditions.less(arithmetic.constant(0), each)),
    conditions.less(most, arithmetic.constant(2 ** 31)),
  ]);
  const reached = path.since().filter(({ uniform }) => uniform);
  findings?.conditions.push({
    condition: conditions.or([isPrepared, ...reached.map((each) => conditions.not(each))]),
    line: instruction.line,
    text: 'a division prepared at launch has a multiplier or a shift that does not belong to its divisor',
  });
  return arithmetic.quotient(found.of, divisor, 'floor');
}

interface Multiplied {
  /** x, from 0 on. */
  readonly of: Expression;
  readonly multiplier: Argument;
  /** ⌊x · M / 2^32⌋ + x, not ⌊x · M / 2^32⌋. */
  readonly isAdded: boolean;
}

function multiplied(o: Operands): Multiplied | undefined {
  const { arithmetic } = o;
  const value = o.raw(0);
  for (const { coefficient, factors } of termsOf(value)) {
    const [high] = factors;
    if (coefficient !== 1 || factors.length !== 1 || high?.op !== 'quotient' || high.rounding !== 'floor')
      continue;
    if (high.b.op !== 'constant' || high.b.value !== WORD) continue;
    const rest = arithmetic.subtract(value, high);
    for (const multiplier of termsOf(high.a).flatMap((term) => term.factors)) {
      if (multiplier.op !== 'argument' || multiplier.bytes !== 4 || multiplier.signed) continue;
      const isAdded = rest.op !== 'constant' || rest.value !== 0;
      const of = isAdded ? arithmetic.wrap(rest, 32, false) : cofactor(o, high.a, multiplier);
      if (of === undefined || of.lo < 0 || arithmetic.multiply(of, multiplier) !== high.a) continue;
      return { of, multiplier, isAdded };
    }
  }
  return undefined;
}

/** What `product` is a multiple of `factor` by. */
function cofactor({ arithmetic }: Operands, product: Expression, factor: Argument): Expression | undefined {
  const terms = termsOf(product);
  if (constantOf(product) !== 0 || terms.some(({ factors }) => !factors.includes(factor))) return undefined;
  const left = terms.map(({ coefficient, factors }) => {
    const at = factors.indexOf(factor);
    return { coefficient, factors: factors.filter((_, index) => index !== at) };
  });
  const constant = left
    .filter(({ factors }) => factors.length === 0)
    .reduce((sum, each) => sum + each.coefficient, 0);
  return arithmetic.sum(
    constant,
    left.filter(({ factors }) => factors.length > 0),
  );
}

/**
 * The greatest value of a number that is made of threads and of quotients by what is above zero: below 2^31 none of it wraps.
 * @param divisors where those go
 */
function mostOf(o: Operands, of: Expression, divisors: Expression[]): Expression | undefined {
  const { arithmetic } = o;
  if (of.uniform) return of;
  if (of.op === 'wrap') return mostOf(o, of.of, divisors);
  if (of.op === 'quotient' && of.a.lo >= 0 && of.b.uniform) {
    divisors.push(of.b);
    return mostOf(o, of.a, divisors);
  }
  if (of.op === 'thread') return arithmetic.addConstant(o.context.table.dimension(extents[of.name]), -1);
  if (of.op !== 'sum' || of.constant < 0) return undefined;
  let total: Expression = arithmetic.constant(of.constant);
  for (const { coefficient, factors } of of.terms) {
    let product: Expression = arithmetic.constant(coefficient);
    for (const factor of factors) {
      const most = factor.lo >= 0 ? mostOf(o, factor, divisors) : undefined;
      if (most === undefined || coefficient < 0) return undefined;
      product = arithmetic.multiply(product, most);
    }
    total = arithmetic.add(total, product);
  }
  return total;
}

/** The divisor of M and S: the word before them or behind them, whichever the quotient is multiplied with. */
function divisorBeside(o: Operands, multiplier: Argument, shift: Argument): Argument | undefined {
  if (shift.offset !== multiplier.offset + 4) return undefined;
  const { kernel, table } = o.context;
  const holds = (offset: number): boolean =>
    kernel.parameters.some((each) => each.offset <= offset && offset + 4 <= each.offset + each.bytes);
  const places = [multiplier.offset - 4, shift.offset + 4].filter(holds);
  const [result] = o.instruction.destinations;
  const uses = kernel.instructions.filter(
    ({ opcode, sources }) => /^(mul|mad)$/.test(opcode) && sources.some((each) => isSame(each, result)),
  );
  const used = uses.flatMap(({ sources }) =>
    sources.flatMap((source) => loadedFrom(kernel.instructions, source, o)),
  );
  const place = places.find((each) => used.includes(each)) ?? places[0];
  if (place === undefined) return undefined;
  const argument = table.argument(place, 4, false);
  return argument.op === 'argument' ? argument : undefined;
}

type Operand = IrInstruction['sources'][number];

function isSame(a: Operand, b: Operand | undefined): boolean {
  return a.kind === 'register' && b?.kind === 'register' && a.register === b.register;
}

/** Offsets among the parameters from which a register is loaded. */
function loadedFrom(instructions: readonly IrInstruction[], register: Operand, o: Operands): number[] {
  return instructions.flatMap(({ opcode, destinations, sources: [source] }) => {
    if (!isPlainLoad(opcode) || !destinations.some((each) => isSame(each, register))) return [];
    if (source?.kind !== 'address' || typeof source.base !== 'string') return [];
    const parameter = o.context.kernel.parameters.find(({ name }) => name === source.base);
    return parameter === undefined ? [] : [parameter.offset + source.offset];
  });
}
