import { isLoad, isStore, isa } from './isa/index.js';

/**
 * Modifiers in the spelling that forms know: hints to caches left out (`L2::cache_hint` and its operand), `.b128` of memory as
 * a pair of `.b64`, and the shared memory of the cluster as the block's own, which it is in a cluster of one block.
 */
export function canonicalModifiers(opcode: string, modifiers: readonly string[]): readonly string[] {
  const { hints } = isa(opcode).syntax;
  if (hints === undefined) return modifiers;
  if (!modifiers.some((each) => /^(L2::cache_hint|b128|shared::cluster)$/.test(each))) return modifiers;
  // A copy to shared::cluster is a bulk copy, and `st.async` and `red.async` are for a barrier of another block.
  const isOwn = hints !== 'copy' && !modifiers.includes('async');
  return modifiers.flatMap((each) => {
    if (each === 'L2::cache_hint') return hints === 'address' ? [each] : [];
    if (each === 'b128') return isLoad(opcode) || isStore(opcode) ? ['v2', 'b64'] : [each];
    return each === 'shared::cluster' && isOwn ? ['shared::cta'] : [each];
  });
}
