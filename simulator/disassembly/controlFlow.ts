import {
  analyzeLiveness,
  analyzeLoops,
  dominators,
  postDominators,
  printBlocks,
  typeBits,
  type BitSet,
  type IrBlock,
  type IrFunction,
  type PrintedBlock,
} from '../ptx/index.js';
import type { DisassembledBlock, DisassembledFunction, DisassembledInstruction } from './disassembly.js';

/** A function's blocks and loops, with its printed instructions. */
export function describeFlow(fn: IrFunction): Pick<DisassembledFunction, 'loops' | 'isReducible' | 'blocks'> {
  const { loops, backEdges, isReducible } = analyzeLoops(fn);
  const above = dominators(fn).immediate;
  const below = postDominators(fn).immediate;
  const liveness = analyzeLiveness(fn);
  const words = fn.registers.map(({ type }) => (type === 'pred' ? 0 : Math.ceil(typeBits(type) / 32)));
  const wordsOf = (live: BitSet | undefined): number =>
    live?.members().reduce((sum, register) => sum + (words[register] ?? 0), 0) ?? 0;
  const printed = printBlocks(fn);
  const blocks = fn.blocks.map((block): DisassembledBlock => {
    const { index, predecessors, successors } = block;
    const points = liveness.pointsOf(index).map(wordsOf);
    const [dominator = -1, postDominator = fn.blocks.length] = [above[index], below[index]];
    const own = printed[index];
    return {
      index,
      ...(own?.label === undefined ? {} : { label: own.label }),
      predecessors,
      successors,
      isReachable: index === 0 || dominator >= 0,
      ...(dominator < 0 ? {} : { dominator }),
      ...(postDominator >= fn.blocks.length || postDominator < 0 ? {} : { postDominator }),
      loopDepth: loops.filter((loop) => loop.blocks.includes(index)).length,
      liveIn: points[0] ?? 0,
      liveOut: points.at(-1) ?? 0,
      mostLive: Math.max(...points),
      instructions: instructionsOf(fn, block, own),
    };
  });
  return {
    loops: loops.map(({ header, blocks: members, depth }) => ({
      header,
      blocks: members,
      depth,
      latches: backEdges.flatMap(([from, to]) => (to === header ? [from] : [])),
    })),
    isReducible,
    blocks,
  };
}

function instructionsOf(
  fn: IrFunction,
  { first, last }: IrBlock,
  printed: PrintedBlock | undefined,
): DisassembledInstruction[] {
  return fn.instructions.slice(first, last + 1).map(({ index, line }, place) => {
    const found = printed?.instructions[place];
    const tables = found?.tables ?? [];
    return { index, line, text: found?.text ?? '', ...(tables.length === 0 ? {} : { tables }) };
  });
}
