import type { IrInstruction, IrOperand } from '../ir.js';

function collect(operand: IrOperand, into: number[]): void {
  switch (operand.kind) {
    case 'register':
    case 'negatedPredicate':
      into.push(operand.register);
      break;
    case 'address':
      if (typeof operand.base === 'number') into.push(operand.base);
      break;
    case 'vector':
      for (const element of operand.elements) collect(element, into);
      break;
    case 'pair':
      collect(operand.first, into);
      collect(operand.second, into);
      break;
    case 'integer':
    case 'float':
    case 'special':
    case 'symbol':
    case 'sink':
    case 'label':
      break;
  }
}

/** Registers that an instruction reads, its guard and condition code included; one may appear twice. */
export function readRegisters(instruction: IrInstruction): number[] {
  const found: number[] = [];
  if (instruction.guard !== undefined) found.push(instruction.guard.register);
  if (instruction.carry?.reads === true) found.push(instruction.carry.register);
  for (const source of instruction.sources) collect(source, found);
  return found;
}

/** Registers that an instruction writes, its condition code included (only when its guard holds). */
export function writtenRegisters(instruction: IrInstruction): number[] {
  const found: number[] = [];
  for (const destination of instruction.destinations) collect(destination, found);
  if (instruction.carry?.writes === true) found.push(instruction.carry.register);
  return found;
}
