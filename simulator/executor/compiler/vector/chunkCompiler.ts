import type { IrInstruction, ScalarType } from '../../../ptx/index.js';
import type { FaultCode } from '../../types.js';
import { FunctionBuilder, type Label } from '../../wasm/index.js';
import { accessBytes, type AccessGroup } from '../accessGroups.js';
import type { CacheLocals, DynamicBytes, MemorySurroundings } from '../addressEmitter.js';
import { emitControlFlow, type NodeEmitter } from '../controlFlowEmitter.js';
import { AREA, CACHE, faultNumber, RECORD, WARP_SIZE } from '../executorArea.js';
import type { FlowNode, Terminator } from '../flowGraph.js';
import { spaceOf } from '../instructionClass.js';
import type { KernelPlan } from '../kernelPlan.js';
import { MemoryEmitter } from '../memoryEmitter.js';
import { OperandEmitter, type SurroundingValues } from '../operandEmitter.js';
import { liveAt } from '../partedLanes.js';
import { trapCode } from '../regionCompiler.js';
import type { RegionFlow } from '../regionFlow.js';
import { RegionRegisters } from '../regionRegisters.js';
import { REGION_RESULT } from '../regionResult.js';
import { wasmTypeOf } from '../registerTypes.js';
import { pushSpecialRegister, type ThreadLocals } from '../specialRegisters.js';
import { ChunkCounters } from './chunkCounters.js';
import { ChunkInstructions, type InstructionSurroundings } from './chunkInstructions.js';
import type { ChunkPlan } from './chunkPlan.js';
import { readsLaneSpecials } from './laneOperands.js';
import { MaskedCode, type MaskedSurroundings } from './maskedCode.js';
import { VectorMemoryEmitter, type ChunkMemory } from './memory/index.js';
import { VectorOperands, type ChunkSurroundings } from './vectorOperands.js';

/** Functions for lanes that do not run in chunks, by index. */
export interface PartedFunctions {
  /** (warp, lanes): from the region's start. */
  readonly lanes: number;
  /** (warp, lanes, point): from where they left their chunk. */
  readonly resume: number;
}

/**
 * Compiles a kernel whose threads never meet to `run(lo, hi)`, as RegionCompiler does, but chunk by chunk: neighbouring
 * lanes run together as long as they take the same way. Where they part, each goes on by itself in the resume function.
 */
export class ChunkCompiler
  implements NodeEmitter, MaskedSurroundings, InstructionSurroundings, SurroundingValues
{
  readonly f = new FunctionBuilder(['i32', 'i32'], ['i32']);
  private readonly scalar: OperandEmitter;
  private readonly v: VectorOperands;
  private readonly instructions: ChunkInstructions;
  private readonly registers: RegionRegisters;
  private readonly counters: ChunkCounters;
  private readonly maskedCode: MaskedCode;
  private readonly caches = new Map<number, CacheLocals>();
  private readonly sharedLimits = new Map<number, number>();
  private readonly thread: ThreadLocals;
  private readonly firstThread: number;
  private readonly threads: number;
  private readonly extents: readonly number[];
  private readonly lanes: number;
  private readonly fuel: number;
  private readonly site: number;
  private readonly faultLane: number;
  private readonly localMemory: number;
  /** Of the running lane, where code is written lane by lane. */
  private readonly laneThread: ThreadLocals;
  private readonly laneLocal: number;
  private readonly point: number;
  private readonly noLanes: number;
  private lane: number | undefined;
  private current: FlowNode | undefined;
  private faultLabel: Label = 0;
  private faultedLabel: Label = 0;
  private leaveLabel: Label = 0;
  private partLabel: Label = 0;

  constructor(
    private readonly plan: KernelPlan,
    private readonly chunks: ChunkPlan,
    private readonly flow: RegionFlow,
    counterBase: number,
    private readonly parted: PartedFunctions,
  ) {
    const { f } = this;
    const i32 = (): number => f.local('i32');
    this.registers = new RegionRegisters(plan, 0, flow);
    this.thread = { warp: i32(), lane: i32(), tid: [i32(), i32(), i32()] };
    const [, y, z] = this.thread.tid;
    this.laneThread = { warp: this.thread.warp, lane: i32(), tid: [i32(), y, z] };
    this.firstThread = i32();
    this.threads = i32();
    this.extents = [i32(), i32()];
    this.lanes = i32();
    this.fuel = f.local('i64');
    this.site = i32();
    this.faultLane = i32();
    this.localMemory = i32();
    this.laneLocal = i32();
    this.point = i32();
    this.noLanes = f.local('v128');
    const { shapes } = chunks.shapes;
    this.scalar = new OperandEmitter(
      f,
      plan.fn,
      plan.library,
      plan.exact,
      this,
      (register) => this.registers.uses(register) && shapes[register]?.kind !== 'varying',
    );
    this.v = new VectorOperands(chunks.groups, this.scalar, this.chunkSurroundings());
    this.counters = new ChunkCounters(f, flow, counterBase, this.v.width, chunks.masked.passSlots);
    this.maskedCode = new MaskedCode(f, this.v, plan.graph, flow, chunks.masked.kept, this);
    this.declareCaches();
    this.instructions = new ChunkInstructions(
      this.v,
      chunks,
      new VectorMemoryEmitter(this.v, this.chunkMemory()),
      {
        once: new MemoryEmitter(this.scalar, this.scalarMemory(this.v.width)),
        lane: new MemoryEmitter(this.v.lane, this.scalarMemory(1)),
      },
      plan.imported,
      this,
    );
  }

  compile(): FunctionBuilder {
    const { f } = this;
    this.loadUniforms();
    this.faultedLabel = f.block();
    this.faultLabel = f.block();
    this.emitBlocks();
    this.counters.flush();
    f.i32(0).op('return').end();
    f.area().get(this.site).memory('i32Store', RECORD.faultInstruction);
    f.area().get(this.firstThread).get(this.faultLane).op('i32Add').memory('i32Store', RECORD.faultThread);
    f.end();
    this.counters.endChunk();
    this.counters.endWarp();
    this.counters.flush();
    f.i32(REGION_RESULT.fault);
    return f;
  }

  // --- NodeEmitter ---

  emitBody({ index }: FlowNode): void {
    const zone = this.chunks.masked.zoneAt.get(index);
    const node = this.plan.graph.nodes[index];
    if (zone !== undefined) this.maskedCode.emit(zone);
    else if (node !== undefined) this.emitNode(node, this.flow.positionOf.get(index) ?? 0, undefined);
  }

  // --- MaskedSurroundings ---

  emitNode(node: FlowNode, position: number, mask: readonly number[] | undefined): void {
    this.counters.pass(position, mask);
    this.current = node;
    for (const index of node.body) {
      const instruction = this.plan.fn.instructions[index];
      if (instruction !== undefined) this.instructions.emit(instruction);
    }
  }

  spend(node: FlowNode, cost: number, mask: readonly number[] | undefined): void {
    const { f, v } = this;
    if (mask === undefined) {
      this.emitBackEdge(node, cost);
      return;
    }
    v.setMask(mask);
    const bits = v.activeBits();
    v.setMask(undefined);
    f.get(this.fuel).get(bits).op('i32Popcnt').op('i64ExtendI32U').i64(cost).op('i64Mul').op('i64Sub');
    f.tee(this.fuel).i64(0).op('i64LtS').if();
    f.get(this.thread.lane).get(bits).op('i32Ctz').op('i32Add').set(this.faultLane);
    this.leaveFaulted('fuelExhausted', node.counted.at(-1) ?? node.body.at(-1) ?? 0);
    f.end();
  }

  // --- NodeEmitter ---

  emitCondition(register: number, negated: boolean): void {
    const { f, v } = this;
    if (v.shapeOfRegister(register).kind === 'uniform') f.get(this.scalar.localOf(register));
    else {
      const taken = v.temporary('taken', 'i32');
      const locals = v.localsOf(register);
      this.foldMasks(locals, 'v128Or');
      f.simd('v128AnyTrue').set(taken);
      this.foldMasks(locals, 'v128And');
      f.simd('i32x4AllTrue').get(taken).op('i32Ne');
      this.part(this.current?.body.length ?? 0);
      f.get(taken);
    }
    if (negated) f.op('i32Eqz');
  }

  emitIndex(register: number): void {
    const { f, v } = this;
    const shape = v.shapeOfRegister(register);
    if (shape.kind === 'uniform') {
      f.get(this.scalar.localOf(register));
      return;
    }
    const operand = { kind: 'register', register } as const;
    const first = v.temporary('index', 'i32');
    v.useLane(operand, 'u32', 0);
    f.set(first);
    for (let group = 0; group < v.groups; group++) {
      v.use(operand, 'u32', group);
      f.get(first).simd('i32x4Splat').simd('i32x4Eq');
      if (group > 0) f.simd('v128And');
    }
    f.simd('i32x4AllTrue').op('i32Eqz');
    this.part(this.current?.body.length ?? 0);
    f.get(first);
  }

  emitLeave(_: FlowNode, terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'sync' }>): void {
    switch (terminator.kind) {
      case 'exit':
        this.f.br(this.leaveLabel);
        return;
      case 'trap':
        this.emitFault(trapCode(this.plan.fn.instructions[terminator.at]), terminator.at);
        return;
      case 'sync':
        throw new RangeError('threads of this kernel meet');
    }
  }

  emitBackEdge(node: FlowNode, cost: number): void {
    const { f } = this;
    f.get(this.fuel)
      .i64(cost * this.v.width)
      .op('i64Sub')
      .tee(this.fuel)
      .i64(0)
      .op('i64LtS')
      .if();
    this.emitFault('fuelExhausted', node.counted.at(-1) ?? node.body.at(-1) ?? 0);
    f.end();
  }

  emitNoTarget(at: number): void {
    this.emitFault('illegalInstruction', at);
  }

  // --- SurroundingValues ---

  pushSpecial(name: string): 'i32' | 'i64' {
    return pushSpecialRegister(this.f, name, this.thread, { fuel: this.fuel });
  }

  pushSymbol(name: string, offset: number, type: 'i32' | 'i64'): void {
    const { f, plan } = this;
    const inBlock =
      plan.sharedLayout.offsets.get(name) ??
      plan.localLayout.offsets.get(name) ??
      plan.fn.parameters.find((parameter) => parameter.name === name)?.offset;
    if (inBlock !== undefined) {
      if (type === 'i64') f.i64(inBlock + offset);
      else f.i32(inBlock + offset);
      return;
    }
    f.area().memory('i64Load', plan.symbolAddress(name));
    if (offset !== 0) f.i64(offset).op('i64Add');
    if (type === 'i32') f.op('i32WrapI64');
  }

  // --- InstructionSurroundings ---

  beginLane(lane: number | undefined, instruction: IrInstruction): void {
    const { f } = this;
    this.lane = lane;
    if (lane === undefined) return;
    if (readsLaneSpecials(instruction)) {
      f.get(this.thread.lane).i32(lane).op('i32Add').set(this.laneThread.lane);
      f.get(this.thread.tid[0]).i32(lane).op('i32Add').set(this.laneThread.tid[0]);
    }
    const { bytes } = this.plan.localLayout;
    if (bytes > 0 && /^(?:local|generic)$/.test(spaceOf(instruction.modifiers)))
      f.get(this.localMemory)
        .i32(lane * bytes)
        .op('i32Add')
        .set(this.laneLocal);
  }

  partIf(instruction: IrInstruction): void {
    this.part(this.current?.body.indexOf(instruction.index) ?? 0);
  }

  // --- what code around instructions needs ---

  private chunkSurroundings(): ChunkSurroundings {
    return {
      shapes: this.chunks.shapes.shapes,
      exact: this.plan.exact,
      firstLane: this.thread.lane,
      pushLaneSpecial: (name) => pushSpecialRegister(this.f, name, this.laneThread, { fuel: this.fuel }),
      pushSymbol: (name, offset, type) => {
        this.pushSymbol(name, offset, type);
      },
    };
  }

  private chunkMemory(): ChunkMemory {
    return {
      ...this.scalarMemory(1),
      localBase: () => this.localMemory,
      leaveLaneWithFault: (instruction, lane) => {
        this.f.get(this.thread.lane).get(lane).op('i32Add').set(this.faultLane);
        this.f.i32(instruction.index).set(this.site).br(this.faultLabel);
      },
    };
  }

  /** @param times how many lanes an access that is written once stands for */
  private scalarMemory(times: number): MemorySurroundings {
    const { f, plan } = this;
    const found = <T>(what: T | undefined): T => {
      if (what === undefined) throw new RangeError('an access was not foreseen');
      return what;
    };
    return {
      sharedLayout: plan.sharedLayout,
      localLayout: plan.localLayout,
      groupOf: (instruction) => found(plan.groups.ofInstruction.get(instruction.index)),
      byteGroupOf: (instruction) => found(plan.groups.byteGroupOf.get(instruction.index)),
      cacheLocals: (group) => found(this.caches.get(group.index)),
      sharedLimit: (log2Bytes) => found(this.sharedLimits.get(log2Bytes)),
      localBase: () => this.laneLocal,
      countBytes: (what: DynamicBytes, bytes: number | (() => void)) => {
        this.counters.countBytes(
          what,
          typeof bytes === 'number' && (times === 1 || !this.v.isMasked)
            ? bytes * times
            : () => {
                if (typeof bytes === 'number') f.i32(bytes);
                else bytes();
                if (times === 1) return;
                this.pushLanes(times);
                f.op('i32Mul');
              },
        );
      },
      leaveWithFault: (instruction) => {
        f.get(this.thread.lane);
        if (this.lane === undefined && this.v.isMasked) f.get(this.v.activeBits()).op('i32Ctz');
        else f.i32(this.lane ?? 0);
        f.op('i32Add').set(this.faultLane);
        f.i32(instruction.index).set(this.site).br(this.faultLabel);
      },
      recordAccess: () => undefined,
      noteWrite: () => undefined,
    };
  }

  private emitFault(code: FaultCode, at: number): void {
    this.f.get(this.thread.lane).set(this.faultLane);
    this.leaveFaulted(code, at);
  }

  private leaveFaulted(code: FaultCode, at: number): void {
    const { f } = this;
    f.area().i32(faultNumber(code)).memory('i32Store', RECORD.faultCode);
    f.i32(at).set(this.site).br(this.faultLabel);
  }

  /** Pushes how many of the chunk's lanes are active. */
  private pushLanes(all: number): void {
    if (this.v.isMasked) this.f.get(this.v.activeBits()).op('i32Popcnt');
    else this.f.i32(all);
  }

  private foldMasks(locals: readonly number[], name: 'v128And' | 'v128Or'): void {
    locals.forEach((local, index) => {
      this.f.get(local);
      if (index > 0) this.f.simd(name);
    });
  }

  // --- lanes part ---

  /** Takes an i32 that tells whether the lanes have to part, at a place in the running node. */
  private part(at: number): void {
    const { f, chunks, current } = this;
    const { points, slots } = chunks.resume;
    const index = points.findIndex((point) => point.node === current?.index && point.at === at);
    const point = points[index];
    if (point === undefined) throw new RangeError('lanes part where it was not foreseen');
    f.if();
    f.i32(index).set(this.point);
    // What is not needed there need not be kept in a machine register until here.
    const live = liveAt(this.plan.fn, this.plan.graph, this.plan.liveness, point);
    for (const register of slots.keys()) if (!live.has(register)) this.clear(register);
    f.br(this.partLabel).end();
  }

  private clear(register: number): void {
    const { f, v } = this;
    if (v.shapeOfRegister(register).kind === 'varying') {
      for (const local of v.localsOf(register)) f.get(this.noLanes).set(local);
      return;
    }
    this.pushZero(register);
    f.set(this.scalar.localOf(register));
  }

  private pushZero(register: number): void {
    const { f } = this;
    const type = wasmTypeOf(this.scalar.typeOf(register));
    if (type === 'i32') f.i32(0);
    else if (type === 'i64') f.i64(0);
    else if (type === 'f32') f.f32(0);
    else f.f64(0);
  }

  /** The chunk's registers go to memory, and its lanes on from there one by one. */
  private emitParted(): void {
    const { f, v } = this;
    for (const [register, slot] of this.chunks.resume.slots) {
      const operand = { kind: 'register', register } as const;
      const type = v.typeOf(register);
      const wide = wasmTypeOf(type) === 'i64' || wasmTypeOf(type) === 'f64';
      for (let group = 0; group < v.groups; group++) {
        for (const half of wide ? ([0, 1] as const) : ([0] as const)) {
          f.get(this.thread.lane)
            .i32(wide ? 3 : 2)
            .op('i32Shl')
            .area()
            .op('i32Add');
          if (v.shapeOf(operand).kind === 'varying')
            f.get(v.localsOf(register)[wide ? 2 * group + half : group] ?? 0);
          else v.use(operand, heldAs(type), group, half);
          f.simdMemory('v128Store', slot + 16 * (wide ? 2 * group + half : group));
        }
      }
    }
    this.counters.part(true, this.thread.lane);
    this.callParted(() => {
      const { width } = v;
      f.i32(width === WARP_SIZE ? -1 : (1 << width) - 1)
        .get(this.thread.lane)
        .op('i32Shl')
        .get(this.point)
        .call(this.parted.resume);
    });
  }

  private callParted(call: () => void): void {
    const { f } = this;
    f.area().get(this.fuel).memory('i64Store', RECORD.fuel);
    f.get(this.thread.warp);
    call();
    f.brIf(this.faultedLabel);
    f.area().memory('i64Load', RECORD.fuel).set(this.fuel);
  }

  // --- frame of the function ---

  private declareCaches(): void {
    const { f } = this;
    const { ofInstruction, byteGroupOf } = this.plan.groups;
    for (const instruction of this.registers.instructions) {
      for (const group of [ofInstruction.get(instruction.index), byteGroupOf.get(instruction.index)]) {
        if (group === undefined || this.caches.has(group.index)) continue;
        this.caches.set(group.index, { base: f.local('i64'), limit: f.local('i64'), offset: f.local('i32') });
      }
      const isCopy = instruction.opcode === 'cp' && instruction.sources.length > 2;
      const touches = isCopy || /^(ld|ldu|st|atom|red)$/.test(instruction.opcode);
      const space = isCopy ? 'shared' : spaceOf(instruction.modifiers);
      if (!touches || (space !== 'shared' && space !== 'generic')) continue;
      const log2 = Math.log2(accessBytes(instruction));
      if (!this.sharedLimits.has(log2)) this.sharedLimits.set(log2, f.local('i32'));
    }
  }

  private loadUniforms(): void {
    const { f } = this;
    const cached = (group: AccessGroup, { base, limit, offset }: CacheLocals): void => {
      f.area()
        .memory('i64Load', group.cacheAt + CACHE.base)
        .set(base);
      f.area()
        .memory('i64Load', group.cacheAt + CACHE.limit)
        .set(limit);
      f.area()
        .memory('i32Load', group.cacheAt + CACHE.offset)
        .set(offset);
    };
    for (const group of this.plan.groups.groups) {
      const locals = this.caches.get(group.index);
      if (locals !== undefined) cached(group, locals);
    }
    for (const [log2, local] of this.sharedLimits)
      f.area().memory('i32Load', RECORD.sharedBytes).i32(log2).op('i32ShrU').set(local);
    f.area().memory('i32Load', RECORD.threads).set(this.threads);
    this.extents.forEach((extent, axis) =>
      f
        .area()
        .memory('i32Load', RECORD.ntid + 4 * axis)
        .set(extent),
    );
  }

  private emitBlocks(): void {
    const { f } = this;
    const [block, end] = [0, 1];
    const { warp, tid } = this.thread;
    const again = f.loop();
    f.get(block).get(end).op('i32LtU').if();
    this.placeBlock(block);
    f.area().memory('i64Load', RECORD.fuelPerBlock).set(this.fuel);
    if (this.plan.usesShared)
      f.area().i32(AREA.shared).op('i32Add').i32(0).area().memory('i32Load', RECORD.sharedBytes).memoryFill();
    if (this.plan.localLayout.bytes > 0) f.area().memory('i32Load', RECORD.locals).set(this.localMemory);
    for (const each of [warp, this.firstThread, ...tid]) f.i32(0).set(each);
    const warps = f.loop();
    this.emitWarp();
    f.get(warp).i32(1).op('i32Add').set(warp);
    f.get(this.firstThread).i32(WARP_SIZE).op('i32Add').tee(this.firstThread);
    f.get(this.threads).op('i32LtU').brIf(warps).end();
    f.get(block).i32(1).op('i32Add').set(block).br(again).end().end();
  }

  private placeBlock(block: number): void {
    const { f } = this;
    const rest = this.point;
    f.get(block).set(rest);
    for (const axis of [0, 1]) {
      const extent = RECORD.nctaid + 4 * axis;
      f.area()
        .get(rest)
        .area()
        .memory('i32Load', extent)
        .op('i32RemU')
        .memory('i32Store', RECORD.ctaid + 4 * axis);
      f.get(rest).area().memory('i32Load', extent).op('i32DivU').set(rest);
    }
    f.area()
      .get(rest)
      .memory('i32Store', RECORD.ctaid + 8);
  }

  /** Chunk after chunk; what is left behind the last whole one runs lane by lane. */
  private emitWarp(): void {
    const { f, lanes } = this;
    const { lane } = this.thread;
    const left = lanes;
    f.get(this.threads).get(this.firstThread).op('i32Sub').tee(left);
    f.i32(WARP_SIZE).get(left).i32(WARP_SIZE).op('i32LtU').op('select').set(lanes);
    f.i32(0).set(lane);
    const done = f.block();
    const again = f.loop();
    f.get(lane).i32(this.v.width).op('i32Add').get(lanes).op('i32GtU').if();
    f.get(lane).get(lanes).op('i32GeU').brIf(done);
    this.counters.part(false, this.thread.lane);
    this.callParted(() => {
      f.i32(-1)
        .get(lane)
        .op('i32Shl')
        .i32(-1)
        .i32(WARP_SIZE)
        .get(lanes)
        .op('i32Sub')
        .op('i32ShrU')
        .op('i32And');
      f.call(this.parted.lanes);
    });
    f.br(done).end();
    this.emitChunk();
    this.advance();
    f.br(again).end().end();
    this.counters.endWarp();
  }

  private emitChunk(): void {
    const { f, v } = this;
    for (const register of this.plan.liveness.liveIn[this.plan.graph.entry]?.members() ?? []) {
      if (this.registers.uses(register)) this.clear(register);
    }
    const done = f.block();
    this.partLabel = f.block();
    this.leaveLabel = f.block();
    emitControlFlow(f, this.chunks.masked.graph, this.chunks.masked.flow, this);
    f.op('unreachable').end();
    f.br(done).end();
    if (this.chunks.resume.points.length > 0) this.emitParted();
    f.end();
    this.counters.endChunk();
    this.lane = undefined;
    v.setMask(undefined);
  }

  /** On to the next chunk: a row of threads holds whole chunks, unless the block is one row. */
  private advance(): void {
    const { f } = this;
    const { width } = this.v;
    const [x, y, z] = this.thread.tid;
    const [extentX = 0, extentY = 0] = this.extents;
    f.get(this.thread.lane).i32(width).op('i32Add').set(this.thread.lane);
    const { bytes } = this.plan.localLayout;
    if (bytes > 0)
      f.get(this.localMemory)
        .i32(width * bytes)
        .op('i32Add')
        .set(this.localMemory);
    f.get(x).i32(width).op('i32Add').tee(x).get(extentX).op('i32Eq').if();
    f.i32(0).set(x).get(y).i32(1).op('i32Add').tee(y).get(extentY).op('i32Eq').if();
    f.i32(0).set(y).get(z).i32(1).op('i32Add').set(z).end().end();
  }
}

/** The type by which a register's local is read as it is. */
function heldAs(type: ScalarType): ScalarType {
  return type !== 'pred' && wasmTypeOf(type) === 'i32' ? 'b32' : type;
}
