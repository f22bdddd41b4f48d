import { elementBits, productForm, productNames, wmmaMatrix, type Operand } from '../tensor/index.js';
import type { IrInstruction, IrOperand } from './ir.js';

type Spelled = Pick<IrInstruction, 'opcode' | 'modifiers' | 'sources'>;

/**
 * The name under which `simulator/tensor` knows a product: its text, and of a sparse one its selector. What lowering made of `wmma.mma`
 * says `wmma` first.
 */
export function productName({ opcode, modifiers, sources }: Spelled): string {
  const parts = modifiers[0] === 'wmma' ? [...modifiers] : [opcode, ...modifiers];
  // The compiler writes a rounding last, where the assembler takes it before the types, too.
  if (/^r[nzmp]$/.test(parts.at(-1) ?? '')) parts.splice(parts.indexOf('f64'), 0, parts.pop() ?? '');
  const text = parts.join('.');
  const selector = sources[4];
  return selector?.kind === 'integer' ? `${text} ${selector.low}` : text;
}

/** What an instruction on a warp's matrices must keep beyond its form; undefined when it does. */
export function checkMatrix(instruction: IrInstruction): string | undefined {
  const { opcode, modifiers } = instruction;
  if (opcode === 'ldmatrix' || opcode === 'stmatrix') return checkRows(instruction);
  const [verb] = modifiers;
  if (opcode === 'wmma' && verb !== 'mma') return checkFragment(instruction);
  return checkProduct(instruction);
}

/** Registers of a lane that an operand is. */
export function registersOf(operand: IrOperand | undefined): readonly IrOperand[] {
  if (operand === undefined) return [];
  return operand.kind === 'vector' ? operand.elements : [operand];
}

function checkProduct(instruction: IrInstruction): string | undefined {
  const { modifiers, sources, destinations } = instruction;
  const isSparse = modifiers.some((each) => each.startsWith('sp'));
  if (isSparse && sources[4]?.kind !== 'integer') return 'the selector of a sparse product is a constant';
  const form = productForm(productName(instruction));
  if (form === undefined) return unknownProduct(instruction);
  const [a, b, c] = sources;
  return (
    checkCount('D', destinations[0], form.d) ??
    checkCount('A', a, form.a) ??
    checkCount('B', b, form.b) ??
    checkCount('C', c, form.c)
  );
}

function checkCount(
  name: string,
  operand: IrOperand | undefined,
  { registers, type }: Operand,
): string | undefined {
  const count = registersOf(operand).length;
  return count === registers
    ? undefined
    : `${name} has ${count} registers, ${registers} of .${type} expected`;
}

const SHAPE = /^m\d+n\d+k\d+$/;

/** Products that differ in their shape, or else in what is said besides, as what would be taken. */
function unknownProduct(instruction: IrInstruction): string {
  const name = productName(instruction);
  const rest = (text: string): string =>
    text
      .split(/[. ]/)
      .filter((each) => !SHAPE.test(each))
      .join('.');
  const others = productNames().filter((each) => rest(each) === rest(name));
  const shapes = [...new Set(others.map((each) => each.split('.').find((part) => SHAPE.test(part)) ?? ''))];
  if (shapes.length > 0) return `no product of this shape; with these types there are ${shapes.join(', ')}`;
  const shape = instruction.modifiers.find((each) => SHAPE.test(each)) ?? '';
  const verb =
    instruction.opcode === 'wmma'
      ? 'wmma.mma'
      : (/^mma(?:\.sp(?:::ordered_metadata)?)?/.exec(name)?.[0] ?? '');
  const near = productNames().filter((each) => each.startsWith(`${verb}.`) && each.includes(`.${shape}.`));
  if (near.length === 0) return `no product of shape ${shape}`;
  return `no product of these types, orders and modifiers; of this shape there is ${near[0] ?? ''}, for one`;
}

function checkRows({ opcode, modifiers, sources, destinations }: IrInstruction): string | undefined {
  const count = Number(modifiers.find((each) => /^x[124]$/.test(each))?.slice(1) ?? 1);
  const given = registersOf(opcode === 'ldmatrix' ? destinations[0] : sources[1]).length;
  return given === count ? undefined : `${given} registers, ${count} expected: one a matrix`;
}

/** The fragment that a `wmma` load or store carries; undefined where sm_90 has none. */
export function carriedFragment({ modifiers }: Pick<IrInstruction, 'modifiers'>): Operand | undefined {
  const [, fragment = ''] = modifiers;
  const shape = modifiers.find((each) => SHAPE.test(each)) ?? '';
  return wmmaMatrix(shape, fragment, modifiers.at(-1) ?? '');
}

function checkFragment(instruction: IrInstruction): string | undefined {
  const { modifiers, sources, destinations } = instruction;
  const fragment = carriedFragment(instruction);
  if (fragment === undefined) return 'there is no matrix of this shape and type';
  const isStore = modifiers[0] === 'store';
  const natural = modifiers[1] === 'b' ? 'col' : 'row';
  if (elementBits(fragment.type) < 8 && !modifiers.includes(natural))
    return `a matrix of .${fragment.type} lies by ${natural} alone`;
  const stride = sources[isStore ? 2 : 1];
  if (stride?.kind === 'integer' && stride.low <= 0) return 'the stride is positive';
  return checkCount(isStore ? 'D' : 'the matrix', isStore ? sources[1] : destinations[0], fragment);
}
