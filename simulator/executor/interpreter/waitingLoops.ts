import type { IrFunction, IrInstruction } from '../../ptx/index.js';
import { analyzeLoops, isAtomic, isPlainLoad, isWait, writtenRegisters } from '../../ptx/index.js';

const answers = new WeakMap<IrFunction, boolean>();

/**
 * Whether threads of a kernel may wait for what others write: a loop that reads memory in a way that sees such writes. A
 * loop that only happens to update counters is counted in, too: it is run fairly, which changes nothing of its results.
 */
export function mayWait(fn: IrFunction): boolean {
  const known = answers.get(fn);
  if (known !== undefined) return known;
  const { loops, isReducible } = analyzeLoops(fn);
  const inLoops = isReducible
    ? [...new Set(loops.flatMap(({ blocks }) => blocks))].flatMap((index) => {
        const block = fn.blocks[index];
        return block === undefined ? [] : fn.instructions.slice(block.first, block.last + 1);
      })
    : fn.instructions;
  const written = new Set(inLoops.flatMap((instruction) => writtenRegisters(instruction)));
  const found = (loops.length > 0 || !isReducible) && inLoops.some((each) => seesOthers(each, written));
  answers.set(fn, found);
  return found;
}

function seesOthers({ opcode, modifiers, sources }: IrInstruction, written: ReadonlySet<number>): boolean {
  if (isAtomic(opcode) || isWait(opcode)) return true;
  if (!isPlainLoad(opcode) || modifiers.includes('param') || modifiers.includes('const')) return false;
  if (modifiers.some((modifier) => /^(?:volatile|relaxed|acquire|mmio|cv)$/.test(modifier))) return true;
  // The same address again and again: what it holds may be waited for.
  const [place] = sources;
  return place?.kind === 'address' && !(typeof place.base === 'number' && written.has(place.base));
}
