import { readRegisters, typeBits, writtenRegisters, type IrInstruction } from '../../../ptx/index.js';
import { emitInstruction, emitUnguarded } from '../regions/index.js';
import type { ImportedOperations } from '../hostCalls/index.js';
import { MemoryEmitter } from '../accesses/index.js';
import { wasmTypeOf } from '../instructions/index.js';
import { vectorEmitter, VectorMemoryEmitter, type VectorOperands } from '../vector/index.js';
import type { ChunkAccesses } from './chunkAccesses.js';
import type { ChunkDivergence } from './chunkDivergence.js';
import type { InstructionPlan } from './instructionPlan.js';

/** Writes the instructions of a chunk, each in its manner. */
export class ChunkInstructions {
  private readonly memory: VectorMemoryEmitter;
  /** Accesses that happen once for all lanes, and those of one lane. */
  private readonly scalarMemory: { readonly once: MemoryEmitter; readonly lane: MemoryEmitter };

  constructor(
    private readonly v: VectorOperands,
    private plan: InstructionPlan,
    private readonly accesses: ChunkAccesses,
    private readonly divergence: ChunkDivergence,
    private readonly imported: ImportedOperations,
  ) {
    this.memory = new VectorMemoryEmitter(v, accesses.ofChunk());
    this.scalarMemory = {
      once: new MemoryEmitter(v.scalar, accesses.ofLanes(v.width)),
      lane: new MemoryEmitter(v.lane, accesses.ofLanes(1)),
    };
  }

  /** Writes instructions for which another plan holds. */
  assuming(plan: InstructionPlan, body: () => void): void {
    const { plan: before } = this;
    this.plan = plan;
    body();
    this.plan = before;
  }

  /** @param body a node's instructions, which are to follow */
  beginNode(body: readonly number[]): void {
    this.memory.beginNode(body);
  }

  emit(instruction: IrInstruction): void {
    const { v, plan } = this;
    const manner = plan.mannerOf(instruction);
    if (manner === 'silent') return;
    if (manner === 'once') {
      this.checkLanes(instruction);
      emitInstruction(instruction, v.scalar, this.scalarMemory.once, this.imported);
      return;
    }
    this.underGuard(instruction, () => {
      switch (manner) {
        case 'memory':
          if (!this.memory.emit(instruction)) this.emitLanes(instruction);
          return;
        case 'vector':
          vectorEmitter(instruction, v.library.fusesMultiplyAdd)?.(v, instruction);
          return;
        case 'spread':
          this.emitSpread(instruction);
          return;
        case 'lanes':
          this.emitLanes(instruction);
      }
    });
  }

  /** A widened affine value is affine while no lane wraps: one compare of the last lane's with the first's. */
  private checkLanes(instruction: IrInstruction): void {
    const { f, scalar, width } = this.v;
    const { checked, rowBits = 0 } = this.plan.shapes.resultOf(instruction);
    if (checked === undefined) return;
    if (checked === 'row') {
      // The last lane is in lane 0's row.
      scalar.use(instruction.sources[0], 'u32');
      f.i32(2 ** rowBits - 1).op('i32And');
      f.i32(2 ** rowBits - width).op('i32GtU');
      this.divergence.before(instruction);
      return;
    }
    const narrow = instruction.sources
      .slice(0, 2)
      .filter((source) => this.v.shapeOf(source).kind === 'affine');
    const [source] = narrow;
    const shape = this.v.shapeOf(source);
    if (source === undefined || shape.kind !== 'affine') return;
    // The widened value is the source itself, or a product that is as wide as it has to be.
    const reach = shape.stride * (width - 1);
    const type = checked === 'signed' ? 's32' : 'u32';
    scalar.use(source, type);
    f.i32(reach).op('i32Add');
    scalar.use(source, type);
    const below = checked === 'signed' ? 'i32LtS' : 'i32LtU';
    const above = checked === 'signed' ? 'i32GtS' : 'i32GtU';
    f.op(reach > 0 ? below : above);
    this.divergence.before(instruction);
  }

  private underGuard(instruction: IrInstruction, body: () => void): void {
    const { v } = this;
    const { f } = v;
    const { guard } = instruction;
    if (guard === undefined) {
      body();
      return;
    }
    if (v.shapeOfRegister(guard.register).kind === 'uniform') {
      f.get(v.scalar.localOf(guard.register));
      if (guard.negated) f.op('i32Eqz');
      f.if();
      body();
      f.end();
      return;
    }
    const locals = v.localsOf(guard.register);
    const isOverwritten = writtenRegisters(instruction).includes(guard.register);
    const mask =
      guard.negated || isOverwritten
        ? locals.map((local, group) => {
            const kept = v.temporary(`guard ${group}`, 'v128');
            f.get(local);
            if (guard.negated) f.simd('v128Not');
            f.set(kept);
            return kept;
          })
        : locals;
    v.underMask(mask, body);
  }

  /** Computes in lane 0 what is the same in all lanes. */
  private emitSpread(instruction: IrInstruction): void {
    const { v } = this;
    this.accesses.beginLane(0, instruction);
    emitUnguarded(instruction, v.lane, this.scalarMemory.lane, this.imported);
    this.accesses.beginLane(undefined, instruction);
    for (const register of writtenRegisters(instruction)) {
      if (v.shapeOfRegister(register).kind !== 'varying') continue;
      const held = v.typeOf(register);
      const all = v.temporary('all lanes', 'v128');
      v.f.get(v.lane.localOf(register));
      v.splat(held);
      v.f.set(all);
      const type = wasmTypeOf(held);
      for (let group = 0; group < v.groups; group++) {
        for (const half of typeBits(held) === 64 ? ([0, 1] as const) : ([0] as const)) {
          v.f.get(all);
          v.assign(
            { kind: 'register', register },
            held === 'pred' ? held : type === 'i32' ? 'b32' : held,
            group,
            half,
          );
        }
      }
    }
  }

  private emitLanes(instruction: IrInstruction): void {
    const { v } = this;
    const { f } = v;
    const bits = v.isMasked ? v.activeBits() : undefined;
    const written = writtenRegisters(instruction).filter(
      (register) => v.shapeOfRegister(register).kind === 'varying',
    );
    for (let lane = 0; lane < v.width; lane++) {
      if (bits !== undefined)
        f.get(bits)
          .i32(1 << lane)
          .op('i32And')
          .if();
      this.accesses.beginLane(lane, instruction);
      v.lane.loadAll(readRegisters(instruction), lane);
      emitUnguarded(instruction, v.lane, this.scalarMemory.lane, this.imported);
      for (const register of written) v.lane.keep(register, lane);
      if (bits !== undefined) f.end();
    }
    this.accesses.beginLane(undefined, instruction);
  }
}
