import type { IrInstruction } from '../ir.js';

export interface Expansion {
  /** Cycles that the assembler reckons with until a result may be used. */
  readonly latency: number;
  /** Registers that the machine instructions of it need between them, besides its operands and results. */
  readonly temps: number;
}

/** What one PTX instruction becomes, as far as it matters to registers. */
export function expansion({ opcode, modifiers, types }: IrInstruction): Expansion {
  const type = types.at(-1) ?? 'b32';
  const approximate = modifiers.some((each) => each === 'approx' || each === 'full');
  switch (opcode) {
    case 'ld':
    case 'ldu':
      return { latency: modifiers.some((each) => each.startsWith('shared')) ? 33 : 200, temps: 0 };
    case 'atom':
      return { latency: 40, temps: 0 };
    case 'shfl':
    case 'vote':
    case 'match':
    case 'redux':
      return { latency: 24, temps: 0 };
    case 'ex2':
    case 'lg2':
    case 'sin':
    case 'cos':
    case 'tanh':
    case 'rsqrt':
      return type === 'f64' ? { latency: 60, temps: 8 } : { latency: 18, temps: 1 };
    case 'rcp':
    case 'sqrt':
      if (type === 'f64') return { latency: 80, temps: 9 };
      return approximate ? { latency: 18, temps: 1 } : { latency: 30, temps: 3 };
    case 'div':
      if (type === 'f64') return { latency: 100, temps: 12 };
      if (type === 'f32') return approximate ? { latency: 22, temps: 1 } : { latency: 40, temps: 5 };
      return /64/.test(type) ? { latency: 100, temps: 12 } : { latency: 40, temps: 4 };
    case 'rem':
      return /64/.test(type) ? { latency: 100, temps: 12 } : { latency: 40, temps: 4 };
    case 'add':
    case 'sub':
    case 'mul':
    case 'fma':
    case 'mad':
      return { latency: type === 'f64' ? 8 : 5, temps: 0 };
    default:
      return { latency: 5, temps: 0 };
  }
}
