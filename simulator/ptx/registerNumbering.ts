import type { IrInstruction, IrOperand, IrRegister } from './ir.js';

export interface NumberedCode {
  readonly instructions: readonly IrInstruction[];
  readonly registers: readonly IrRegister[];
}

/**
 * Numbers registers in the order in which the text first names them (guard, then operands from left to right; the condition
 * code after all), and leaves out those that no instruction has. Rewriting at parse time may have numbered them otherwise.
 */
export function numberRegisters({ instructions, registers }: NumberedCode): NumberedCode {
  const order = new Map<number, number>();
  const visit = (register: number): void => {
    if (!order.has(register)) order.set(register, order.size);
  };
  for (const { guard, destinations, sources } of instructions) {
    if (guard !== undefined) visit(guard.register);
    for (const operand of [...destinations, ...sources]) visitRegisters(operand, visit);
  }
  for (const { carry } of instructions) if (carry !== undefined) visit(carry.register);
  let isInOrder = order.size === registers.length;
  for (const [register, number] of order) isInOrder &&= register === number;
  if (isInOrder) return { instructions, registers };
  const numberOf = (register: number): number => order.get(register) ?? register;
  return {
    registers: [...order.keys()].flatMap((register) => registers[register] ?? []),
    instructions: instructions.map((instruction) => ({
      ...instruction,
      ...(instruction.guard === undefined
        ? {}
        : { guard: { ...instruction.guard, register: numberOf(instruction.guard.register) } }),
      ...(instruction.carry === undefined
        ? {}
        : { carry: { ...instruction.carry, register: numberOf(instruction.carry.register) } }),
      destinations: instruction.destinations.map((operand) => renumbered(operand, numberOf)),
      sources: instruction.sources.map((operand) => renumbered(operand, numberOf)),
    })),
  };
}

function visitRegisters(operand: IrOperand, visit: (register: number) => void): void {
  if (operand.kind === 'register' || operand.kind === 'negatedPredicate') visit(operand.register);
  else if (operand.kind === 'address' && typeof operand.base === 'number') visit(operand.base);
  else if (operand.kind === 'vector') for (const element of operand.elements) visitRegisters(element, visit);
  else if (operand.kind === 'pair') {
    visitRegisters(operand.first, visit);
    visitRegisters(operand.second, visit);
  }
}

function renumbered(operand: IrOperand, numberOf: (register: number) => number): IrOperand {
  switch (operand.kind) {
    case 'register':
    case 'negatedPredicate':
      return { ...operand, register: numberOf(operand.register) };
    case 'address':
      return typeof operand.base === 'number' ? { ...operand, base: numberOf(operand.base) } : operand;
    case 'vector':
      return { kind: 'vector', elements: operand.elements.map((element) => renumbered(element, numberOf)) };
    case 'pair':
      return {
        kind: 'pair',
        first: renumbered(operand.first, numberOf),
        second: renumbered(operand.second, numberOf),
      };
    case 'integer':
    case 'float':
    case 'special':
    case 'symbol':
    case 'sink':
    case 'label':
      return operand;
  }
}
