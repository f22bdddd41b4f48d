import type { IrInstruction, IrOperand } from '../../ptx/index.js';

/** Calls back for each register that an operand names. */
function visitOperand(operand: IrOperand, visit: (register: number) => void): void {
  switch (operand.kind) {
    case 'register':
    case 'negatedPredicate':
      visit(operand.register);
      return;
    case 'address':
      if (typeof operand.base === 'number') visit(operand.base);
      return;
    case 'vector':
      for (const element of operand.elements) visitOperand(element, visit);
      return;
    case 'pair':
      visitOperand(operand.first, visit);
      visitOperand(operand.second, visit);
      return;
    case 'integer':
    case 'float':
    case 'special':
    case 'symbol':
    case 'sink':
    case 'label':
      return;
  }
}

/** Registers that the instruction reads, its guard included. */
export function visitReads(instruction: IrInstruction, visit: (register: number) => void): void {
  if (instruction.guard !== undefined) visit(instruction.guard.register);
  for (const source of instruction.sources) visitOperand(source, visit);
}

/** Registers that the instruction writes. */
export function visitWrites(instruction: IrInstruction, visit: (register: number) => void): void {
  for (const destination of instruction.destinations) visitOperand(destination, visit);
}
