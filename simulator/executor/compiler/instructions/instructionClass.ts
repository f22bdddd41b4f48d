import type { IrInstruction } from '../../../ptx/index.js';
import type { InstructionClass } from '../../types.js';

const special = new Set(['rcp', 'sqrt', 'rsqrt', 'sin', 'cos', 'ex2', 'lg2', 'tanh']);

/** The class that an instruction is counted in. */
export function classOf(instruction: IrInstruction): InstructionClass {
  const { opcode, modifiers, types } = instruction;
  switch (opcode) {
    case 'bra':
    case 'brx':
    case 'ret':
    case 'exit':
    case 'trap':
    case 'call':
    case 'vprintf':
    case 'assertfail':
    case 'malloc':
    case 'free':
      return 'control';
    case 'bar':
    case 'barrier':
      return modifiers.includes('warp') ? 'warp' : 'barrier';
    case 'membar':
    case 'fence':
    case 'nanosleep':
      return 'barrier';
    case 'shfl':
    case 'vote':
    case 'match':
    case 'redux':
    case 'activemask':
      return 'warp';
    case 'atom':
    case 'red':
      return 'atomic';
    case 'ld':
    case 'ldu':
    case 'st': {
      const space = spaceOf(modifiers);
      if (space === 'shared') return 'shared';
      if (space === 'local') return 'local';
      if (space === 'param' || space === 'const') return 'constant';
      return opcode === 'st' ? 'globalStore' : 'globalLoad';
    }
    case 'cp':
      return modifiers.includes('global') ? 'globalLoad' : 'barrier';
    case 'cvt':
      return 'convert';
    default: {
      if (special.has(opcode)) return 'special';
      const type = types.at(-1);
      const isFloat = type === 'f32' || type === 'f64' || type === 'f16' || type === 'bf16';
      if (!isFloat) return 'integer';
      if (opcode === 'div') return 'special';
      return type === 'f64' ? 'float64' : 'float32';
    }
  }
}

export type AccessSpace = 'global' | 'shared' | 'local' | 'param' | 'const' | 'generic';

/** State space of a load, store or atomic by its modifiers. */
export function spaceOf(modifiers: readonly string[]): AccessSpace {
  for (const modifier of modifiers) {
    switch (modifier) {
      case 'global':
      case 'shared':
      case 'local':
      case 'param':
      case 'const':
        return modifier;
      case 'shared::cta':
        return 'shared';
      case 'param::entry':
      case 'param::func':
        return 'param';
      default:
    }
  }
  return 'generic';
}
