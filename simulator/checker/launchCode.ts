import { blockIndexOf, type Dim3, type ExecutorLaunch, type Warp } from '../executor/index.js';
import { sourceLines, type IrInstruction, type SourceLine } from '../ptx/index.js';
import type { CodePlace, ThreadPlace } from './findings.js';

/** Names instructions and threads of one launch as its user knows them. */
export class LaunchCode {
  private readonly lines: readonly string[];
  private readonly sources: readonly (SourceLine | undefined)[];

  /** @param ptx text of the kernel's module, for the instructions as they are written */
  constructor(
    readonly launch: ExecutorLaunch,
    ptx: string,
  ) {
    this.lines = ptx.split('\n');
    this.sources = sourceLines(this.lines);
  }

  instruction(pc: number): IrInstruction | undefined {
    return this.launch.kernel.instructions[pc];
  }

  place(pc: number): CodePlace {
    const { kernel, module } = this.launch;
    const instruction = kernel.instructions[pc];
    const ptxLine = instruction?.line ?? kernel.line;
    const written = (this.lines[ptxLine - 1] ?? '')
      .replace(/\/\/.*/, '')
      .trim()
      .replace(/\s+/g, ' ');
    const named = instruction === undefined ? '' : [instruction.opcode, ...instruction.modifiers].join('.');
    const source = this.sources[ptxLine];
    return {
      kernel: kernel.name,
      ptxFile: module.ir.file,
      ptxLine,
      instruction: written === '' || written.length > 120 ? named : written,
      ...(source === undefined ? {} : { sourceFile: source.file, sourceLine: source.line }),
    };
  }

  thread(warp: Warp, lane: number): ThreadPlace {
    return this.threadAt(warp.block, warp.index * 32 + lane);
  }

  threadAt(block: number, thread: number): ThreadPlace {
    const { block: extents } = this.launch.shape;
    return { block: blockIndexOf(this.launch, block), thread: unflatten(extents, thread) };
  }
}

function unflatten(extents: Dim3, linear: number): Dim3 {
  const [x, y] = extents;
  return [linear % x, Math.floor(linear / x) % y, Math.floor(linear / (x * y))];
}
