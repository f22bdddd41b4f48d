import type { IrInstruction } from '../ir.js';
import { isa } from '../isa/index.js';

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
  switch (isa(opcode).registers) {
    case 'load':
      return { latency: modifiers.some((each) => each.startsWith('shared')) ? 33 : 200, temps: 0 };
    case 'atomic':
      return { latency: 40, temps: 0 };
    case 'exchange':
      return { latency: 24, temps: 0 };
    case 'approximation':
      return type === 'f64' ? { latency: 60, temps: 8 } : { latency: 18, temps: 1 };
    case 'root':
      if (type === 'f64') return { latency: 80, temps: 9 };
      return approximate ? { latency: 18, temps: 1 } : { latency: 30, temps: 3 };
    case 'quotient':
      if (type === 'f64') return { latency: 100, temps: 12 };
      if (type === 'f32') return approximate ? { latency: 22, temps: 1 } : { latency: 40, temps: 5 };
      return wholeQuotient(type);
    case 'remainder':
      return wholeQuotient(type);
    case 'arithmetic':
      return { latency: type === 'f64' ? 8 : 5, temps: 0 };
    case 'plain':
      return { latency: 5, temps: 0 };
  }
}

function wholeQuotient(type: string): Expansion {
  return /64/.test(type) ? { latency: 100, temps: 12 } : { latency: 40, temps: 4 };
}
