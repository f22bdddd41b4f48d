import { isLoad, isStore, isa } from './isa/index.js';

/**
 * Modifiers in the spelling that forms know: hints to caches left out (`L2::cache_hint` and its operand), and `.b128` of memory
 * as a pair of `.b64`.
 */
export function canonicalModifiers(opcode: string, modifiers: readonly string[]): readonly string[] {
  const { hints } = isa(opcode).syntax;
  if (hints === undefined) return modifiers;
  if (!modifiers.some((each) => /^(L2::cache_hint|b128)$/.test(each))) return modifiers;
  return modifiers.flatMap((each) => {
    if (each === 'L2::cache_hint') return hints === 'address' ? [each] : [];
    if (each === 'b128') return isLoad(opcode) || isStore(opcode) ? ['v2', 'b64'] : [each];
    return [each];
  });
}
