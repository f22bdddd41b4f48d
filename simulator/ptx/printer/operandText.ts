import type { IrOperand } from '../ir.js';

/** How the numbers in operands are called. */
export interface OperandNames {
  register(register: number): string;
  label(block: number): string;
}

/** An operand as PTX; floats as their exact bits. */
export function operandText(operand: IrOperand, names: OperandNames): string {
  switch (operand.kind) {
    case 'register':
      return names.register(operand.register);
    case 'negatedPredicate':
      return `!${names.register(operand.register)}`;
    case 'integer':
      return integerText(operand.low, operand.high);
    case 'float':
      return floatText(operand);
    case 'special':
      return `%${operand.name}`;
    case 'symbol':
      return operand.name + offsetText(operand.offset);
    case 'address':
      return `[${addressText(operand, names)}]`;
    case 'vector':
      return `{${operand.elements.map((element) => operandText(element, names)).join(', ')}}`;
    case 'pair':
      return `${operandText(operand.first, names)}|${operandText(operand.second, names)}`;
    case 'sink':
      return '_';
    case 'label':
      return names.label(operand.block);
  }
}

function addressText({ base, offset }: IrOperand & { kind: 'address' }, names: OperandNames): string {
  if (base === undefined) return String(offset);
  return (typeof base === 'number' ? names.register(base) : base) + offsetText(offset);
}

function offsetText(offset: number): string {
  return offset === 0 ? '' : `+${offset}`;
}

/** An integer of 64 bits, given by its halves, as a signed decimal. */
export function integerText(low: number, high: number): string {
  return String((BigInt(high) << 32n) | BigInt(low >>> 0));
}

export function floatText({ width, low, high }: IrOperand & { kind: 'float' }): string {
  return width === 32 ? `0f${hex(low)}` : `0d${hex(high)}${hex(low)}`;
}

function hex(word: number): string {
  return (word >>> 0).toString(16).toUpperCase().padStart(8, '0');
}
