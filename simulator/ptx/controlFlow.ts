import { endsBlock } from './isa/index.js';
import type { IrBlock, IrInstruction } from './ir.js';

export interface BlockLayout {
  /** First instruction of each block, ascending. */
  readonly starts: readonly number[];
  /** Block of each instruction. */
  readonly blockOf: Int32Array;
}

/** Cuts instructions into basic blocks at the targets of branches and after what leaves a block. */
export function layOutBlocks(opcodes: readonly string[], targets: Iterable<number>): BlockLayout {
  const isStart = new Uint8Array(opcodes.length + 1);
  isStart[0] = 1;
  for (const target of targets) isStart[target] = 1;
  opcodes.forEach((opcode, index) => {
    if (endsBlock(opcode)) isStart[index + 1] = 1;
  });
  const starts: number[] = [];
  const blockOf = new Int32Array(opcodes.length);
  for (let index = 0; index < opcodes.length; index++) {
    if (isStart[index] === 1) starts.push(index);
    blockOf[index] = starts.length - 1;
  }
  return { starts, blockOf };
}

/** Joins blocks by their branches. The last block never falls off the end: the parser ends every body with a return. */
export function connectBlocks(
  instructions: readonly IrInstruction[],
  layout: BlockLayout,
  labelOf: ReadonlyMap<number, string>,
): IrBlock[] {
  const predecessors: number[][] = layout.starts.map(() => []);
  const successors = layout.starts.map((_, index) => {
    const last = (layout.starts[index + 1] ?? instructions.length) - 1;
    const found = successorsOf(instructions[last], index, layout.starts.length);
    for (const each of found) predecessors[each]?.push(index);
    return found;
  });
  return layout.starts.map((first, index) => {
    const label = labelOf.get(first);
    return {
      index,
      ...(label === undefined ? {} : { label }),
      first,
      last: (layout.starts[index + 1] ?? instructions.length) - 1,
      successors: successors[index] ?? [],
      predecessors: predecessors[index] ?? [],
    };
  });
}

function successorsOf(last: IrInstruction | undefined, block: number, blocks: number): number[] {
  const next = block + 1 < blocks ? [block + 1] : [];
  if (last === undefined || !endsBlock(last.opcode)) return next;
  const targets = last.sources.flatMap((source) => (source.kind === 'label' ? [source.block] : []));
  return [...new Set(last.guard === undefined ? targets : [...targets, ...next])];
}
