import { isSignedType, type IrInstruction, type ScalarType } from '../../../ptx/index.js';

/** What an instruction compares, in the tests that WebAssembly has for scalars and for lanes alike. */

const comparisons = new Set('eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan'.split(' '));

type Test = 'Eq' | 'Ne' | 'Lt' | 'Le' | 'Gt' | 'Ge';

const integerTests: Readonly<Record<string, Test>> = {
  eq: 'Eq',
  ne: 'Ne',
  lt: 'Lt',
  le: 'Le',
  gt: 'Gt',
  ge: 'Ge',
  lo: 'Lt',
  ls: 'Le',
  hi: 'Gt',
  hs: 'Ge',
};

/** All are false with a NaN. */
const floatTests: Readonly<Record<string, Exclude<Test, 'Ne'>>> = {
  eq: 'Eq',
  lt: 'Lt',
  le: 'Le',
  gt: 'Gt',
  ge: 'Ge',
};

/** u-forms are true with a NaN: each is the opposite of a plain one that is false with it. */
const opposites: Readonly<Record<string, Exclude<Test, 'Eq' | 'Ne'>>> = {
  ltu: 'Ge',
  leu: 'Gt',
  gtu: 'Le',
  geu: 'Lt',
};

/** Tests of equality have no sign. */
export type IntegerComparison =
  | { readonly test: 'Eq' | 'Ne'; readonly sign?: undefined }
  | { readonly test: Exclude<Test, 'Eq' | 'Ne'>; readonly sign: 'S' | 'U' };

export interface FloatComparison {
  /** One test; whether neither is a NaN; or whether one is less than the other, which a NaN is not. */
  readonly test: Test | 'ordered' | 'different';
  readonly isInverted: boolean;
}

function comparisonOf(instruction: IrInstruction): string {
  return instruction.modifiers.find((modifier) => comparisons.has(modifier)) ?? 'eq';
}

export function integerComparison(instruction: IrInstruction, type: ScalarType): IntegerComparison {
  const how = comparisonOf(instruction);
  const test = integerTests[how] ?? 'Eq';
  if (test === 'Eq' || test === 'Ne') return { test };
  const names = how === 'lo' || how === 'ls' || how === 'hi' || how === 'hs';
  return { test, sign: names || !isSignedType(type) ? 'U' : 'S' };
}

export function floatComparison(instruction: IrInstruction): FloatComparison {
  const how = comparisonOf(instruction);
  const opposite = opposites[how];
  if (opposite !== undefined) return { test: opposite, isInverted: true };
  if (how === 'num' || how === 'nan') return { test: 'ordered', isInverted: how === 'nan' };
  if (how === 'ne' || how === 'equ') return { test: 'different', isInverted: how === 'equ' };
  // neu is true with a NaN, as WebAssembly's test is.
  return { test: how === 'neu' ? 'Ne' : (floatTests[how] ?? 'Eq'), isInverted: false };
}

const JOINS = ['and', 'or', 'xor'] as const;

/** How the comparison is joined with the predicate operand, if it is. */
export function joinOf({ modifiers }: IrInstruction): 'And' | 'Or' | 'Xor' | undefined {
  const name = JOINS.find((each) => modifiers.includes(each));
  return name === undefined ? undefined : ({ and: 'And', or: 'Or', xor: 'Xor' } as const)[name];
}

/** Bits are moved as they are; between float registers of the same kind that needs no look at a NaN. */
export function needsBits(
  operands: { isLoose(register: number): boolean },
  { destinations: [destination] }: IrInstruction,
): boolean {
  return destination?.kind !== 'register' || !operands.isLoose(destination.register);
}
