import type { IrInstruction, IrOperand, IrRegister, ScalarType } from '../../ir.js';
import { isScalarType } from '../../scalarTypes.js';
import type { NewInstruction } from '../replacement.js';

type Register = Extract<IrOperand, { kind: 'register' }>;

/** Code that stands in the place of one instruction: of its line, and with registers of its own. */
export class MatrixCode {
  readonly instructions: NewInstruction[] = [];

  /** @param add gives a new register its number */
  constructor(
    private readonly of: Pick<IrInstruction, 'line' | 'guard'>,
    private readonly add: (register: IrRegister) => number,
  ) {}

  temporary(type: ScalarType): Register {
    return { kind: 'register', register: this.add({ name: '', type }) };
  }

  /** Computes a value, whatever guard there is. @param text opcode and modifiers @returns the register that holds it */
  compute(text: string, type: ScalarType, ...sources: readonly IrOperand[]): Register {
    const to = this.temporary(type);
    this.put(text, [to], sources);
    return to;
  }

  /** Does what the instruction does, under its guard. */
  act(text: string, destinations: readonly IrOperand[], sources: readonly IrOperand[]): void {
    this.put(text, destinations, sources, this.of.guard);
  }

  private put(
    text: string,
    destinations: readonly IrOperand[],
    sources: readonly IrOperand[],
    guard?: IrInstruction['guard'],
  ): void {
    const [opcode = '', ...modifiers] = text.split('.');
    const types = modifiers.filter(isScalarType);
    this.instructions.push({ line: this.of.line, opcode, modifiers, types, guard, destinations, sources });
  }
}

/** What a lane is among the others: `group` of four it is in, and its place `own` there. */
export interface LanePlace {
  readonly group: IrOperand;
  readonly own: IrOperand;
}
