import { isa, type IrInstruction, type ScalarType } from '../../../ptx/index.js';
import type { InstructionClass } from '../../types.js';

/** The class that an instruction is counted in. */
export function classOf({ opcode, modifiers, types }: IrInstruction): InstructionClass {
  const { counted } = isa(opcode);
  switch (counted) {
    case 'special':
    case 'convert':
    case 'control':
    case 'warp':
    case 'atomic':
      return counted;
    case 'barrier':
      return modifiers.includes('warp') ? 'warp' : 'barrier';
    case 'fence':
      return 'barrier';
    case 'load':
    case 'store': {
      const space = spaceOf(modifiers);
      if (space === 'shared') return 'shared';
      if (space === 'local') return 'local';
      if (space === 'param' || space === 'const') return 'constant';
      return counted === 'store' ? 'globalStore' : 'globalLoad';
    }
    case 'copy':
      return modifiers.includes('global') ? 'globalLoad' : 'barrier';
    case 'quotient':
      return isFloat(types.at(-1)) ? 'special' : 'integer';
    case 'byType': {
      const type = types.at(-1);
      if (!isFloat(type)) return 'integer';
      return type === 'f64' ? 'float64' : 'float32';
    }
  }
}

function isFloat(type: ScalarType | undefined): boolean {
  return type === 'f32' || type === 'f64' || type === 'f16' || type === 'bf16';
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
      case 'shared::cluster':
        return 'shared';
      case 'param::entry':
      case 'param::func':
        return 'param';
      default:
    }
  }
  return 'generic';
}
