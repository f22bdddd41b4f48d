import { formsOf, isa, isCall, isSwitch } from './isa/index.js';
import { checkByOpcode, type FunctionContext } from './instructionRules.js';
import type { IrFunction, IrInstruction, IrOperand, ScalarType } from './ir.js';
import { countOfLaterArchitectures } from './laterArchitectures.js';
import { checkOperands, type ExpectedOperands, type OperandType } from './operandCheck.js';
import { refusalReason } from './refusalReasons.js';
import { isScalarType } from './scalarTypes.js';
import { canonicalModifiers } from './spelling.js';

/** Type of each operand of an instruction, in order; `address` and `label` for what has none. */
export interface OperandTypes {
  readonly destinations: readonly OperandType[];
  readonly sources: readonly OperandType[];
}

/** What the choice of a form looks at. */
type Spelling = Pick<IrInstruction, 'opcode' | 'modifiers' | 'types'>;
type Instruction = Spelling & Pick<IrInstruction, 'destinations' | 'sources'>;

/** One side of a form, for one spelling. */
interface SpelledOperands extends ExpectedOperands {
  /** How many must be there. */
  readonly least: number;
}

interface SpelledForm {
  readonly destinations: SpelledOperands;
  readonly sources: SpelledOperands;
}

/** Forms by spelling: a text has few spellings and many instructions of each. */
const knownForms = new Map<string, readonly SpelledForm[]>();
const mostKnownForms = 4096;

/** Forms whose modifiers and types a spelling has: nearly always one, a few that differ in their operands. */
function formsOfSpelling(spelling: Spelling): readonly SpelledForm[] {
  const text = `${spelling.opcode}.${spelling.modifiers.join('.')}`;
  let found = knownForms.get(text);
  if (found === undefined) {
    found = findForms(spelling);
    if (knownForms.size >= mostKnownForms) knownForms.clear();
    knownForms.set(text, found);
  }
  return found;
}

function findForms({ opcode, modifiers, types }: Spelling): readonly SpelledForm[] {
  const typeList = types.join('.');
  const others = modifiers.filter((modifier) => !isScalarType(modifier));
  return formsOf(opcode)
    .filter(
      (form) =>
        form.types.test(typeList) &&
        others.every((modifier) => form.allowed.test(modifier)) &&
        form.required.every((required) => others.some((modifier) => required.test(modifier))),
    )
    .map(({ destinations, sources }) => ({
      destinations: spelledOperands(destinations, types),
      sources: spelledOperands(sources, types),
    }));
}

function spelledOperands(codes: readonly string[], types: readonly ScalarType[]): SpelledOperands {
  return {
    codes,
    types: codes.map((code) => resolve(code, types)),
    least: codes.filter((code) => !code.startsWith('{')).length,
  };
}

/** The supported form that an instruction has: one with its number of operands, if there is one. */
function formOf(instruction: Instruction): SpelledForm | undefined {
  const forms = formsOfSpelling(instruction);
  return (
    forms.find(
      (form) =>
        countFits(instruction.destinations, form.destinations) &&
        countFits(instruction.sources, form.sources),
    ) ?? forms[0]
  );
}

/**
 * Whether the operands of an instruction with these modifiers are to be read: it has a form, or the parser replaces it
 * by instructions that have one.
 */
export function isKnownForm(
  opcode: string,
  modifiers: readonly string[],
  types: readonly ScalarType[],
): boolean {
  const { rule, rewritten } = isa(opcode).syntax;
  if (rule === 'call') return modifiers.every((each) => each === 'uni');
  if (rule === 'switch')
    return modifiers.includes('idx') && modifiers.every((each) => /^(idx|uni)$/.test(each));
  if (rewritten === 'policy') return types.length === 1 && types[0] === 'b64';
  if (rewritten === 'move') {
    const [type] = types;
    return (
      types.length === 1 &&
      type !== undefined &&
      modifiers.every((each) => each === type || /^v[24]$/.test(each))
    );
  }
  if (rewritten === 'stack') return modifiers.length === 1 && types[0] === 'u64';
  const plain = canonicalModifiers(opcode, modifiers);
  return formsOfSpelling({ opcode, modifiers: plain, types: plain.filter(isScalarType) }).length > 0;
}

const doubled: Partial<Record<ScalarType, ScalarType>> = { u16: 'u32', s16: 's32', u32: 'u64', s32: 's64' };

function resolve(code: string, types: readonly ScalarType[]): OperandType {
  const last = types.at(-1) ?? 'b32';
  const type = code.replace(/^[v{]|[}]$|\|p$/g, '');
  switch (type) {
    case 'T':
      return last;
    case 'T1':
      return types[0] ?? last;
    case 'W':
      return doubled[last] ?? last;
    case 'a':
      return 'address';
    case 'l':
      return 'label';
    case 'i':
      return 'b32';
    case 'p':
      return 'pred';
    default:
      return type as ScalarType;
  }
}

/**
 * Operand types of a supported instruction. Operands of a `call` are typed by its prototype and given as `address` here.
 * @throws RangeError when the instruction is not supported
 */
export function operandTypes(instruction: IrInstruction): OperandTypes {
  if (isCall(instruction.opcode)) {
    return {
      destinations: instruction.destinations.map(() => 'address'),
      sources: instruction.sources.map(() => 'address'),
    };
  }
  if (isSwitch(instruction.opcode)) {
    return {
      destinations: [],
      sources: instruction.sources.map((_, index) => (index === 0 ? 'u32' : 'label')),
    };
  }
  const form = formOf(instruction);
  if (form === undefined)
    throw new RangeError(`${instruction.opcode} at line ${instruction.line} is not supported`);
  return { destinations: form.destinations.types, sources: form.sources.types };
}

/** Types of the sources of an instruction, as far as it has a form. */
export function sourceTypes(instruction: Instruction): readonly OperandType[] {
  return formOf(instruction)?.sources.types ?? [];
}

/** Why an instruction cannot run, or undefined when it can. */
export function checkInstruction(
  instruction: IrInstruction,
  fn: IrFunction,
  context: FunctionContext,
): string | undefined {
  if (isCall(instruction.opcode) || isSwitch(instruction.opcode))
    return checkByOpcode(instruction, fn, context);
  const form = formOf(instruction);
  if (form === undefined) return refusalReason(instruction, formsOf(instruction.opcode).length > 0);
  return (
    checkCount(instruction.destinations, form.destinations, 'destination') ??
    countOfLaterArchitectures(instruction) ??
    checkCount(instruction.sources, form.sources, 'source') ??
    checkOperands(instruction.destinations, form.destinations, instruction, fn, true) ??
    checkOperands(instruction.sources, form.sources, instruction, fn, false) ??
    checkByOpcode(instruction, fn, context)
  );
}

function countFits(operands: readonly IrOperand[], { codes, least }: SpelledOperands): boolean {
  return operands.length >= least && operands.length <= codes.length;
}

function checkCount(
  operands: readonly IrOperand[],
  expected: SpelledOperands,
  what: string,
): string | undefined {
  if (countFits(operands, expected)) return undefined;
  const { codes, least } = expected;
  return `it has ${operands.length} ${what} operands, ${least === codes.length ? least : `${least} to ${codes.length}`} expected`;
}
