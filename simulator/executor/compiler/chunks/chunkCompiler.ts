import type { IrInstruction } from '../../../ptx/index.js';
import type { FaultCode } from '../../types.js';
import { FunctionBuilder, type Label } from '../../../wasm/index.js';
import { AccessCaches, type MemorySurroundings, MemoryEmitter } from '../accesses/index.js';
import { type DynamicBytes, spaceOf } from '../instructions/index.js';
import {
  emitControlFlow,
  type NodeEmitter,
  emitRegionLeave,
  RegionRegisters,
  pushSpecialRegister,
} from '../regions/index.js';
import { AREA, faultNumber, RECORD, WARP_SIZE, REGION_RESULT } from '../area/index.js';
import type { FlowNode, Terminator, RegionFlow, ContextLocals } from '../analysis/index.js';
import { type KernelPlan, pushSymbolAddress } from '../plan/index.js';
import { OperandEmitter, type SurroundingValues } from '../scalar/index.js';
import { ChunkContexts } from './chunkContexts.js';
import { ChunkCounters } from './chunkCounters.js';
import { ChunkInstructions, type InstructionSurroundings } from './chunkInstructions.js';
import { emitBlocks, emitPhase, type ChunkBody } from './chunkFrames.js';
import type { ChunkPlan } from './chunkPlan.js';
import { ChunkThreads } from './chunkThreads.js';
import { findEdgeCondition, pushEdgeCondition, type EdgeCondition } from './edgeConditions.js';
import {
  readsLaneSpecials,
  VectorMemoryEmitter,
  type ChunkMemory,
  VectorOperands,
  type ChunkSurroundings,
} from '../vector/index.js';
import { MaskedCode, type MaskedSurroundings } from '../predication/index.js';
import { PartingRegisters } from './partingRegisters.js';
import { SteadyCode } from './steadyCode.js';

/** Functions for lanes that do not run in chunks, by index. */
export interface PartedFunctions {
  /** (warp, lanes): from the region's start; (warp, lanes, start) where there is a point that stands for it. */
  readonly lanes: number;
  readonly start?: number;
  /** (warp, lanes, point): from where they left their chunk. */
  readonly resume: number;
}

/**
 * Compiles a region as RegionCompiler does, but chunk by chunk: neighbouring lanes run together as long as they take the
 * same way. Where they part, each goes on by itself in the resume function.
 *
 * `run(lo, hi)` of a kernel whose threads never meet; otherwise `phase(from, to, lanes)`, see `emitPhase`.
 */
export class ChunkCompiler
  implements NodeEmitter, MaskedSurroundings, InstructionSurroundings, SurroundingValues, ChunkBody
{
  readonly f: FunctionBuilder;
  readonly registers: RegionRegisters;
  readonly threads: ChunkThreads;
  readonly counters: ChunkCounters;
  readonly fuel: number;
  readonly status: number;
  private readonly scalar: OperandEmitter;
  private readonly v: VectorOperands;
  private readonly instructions: ChunkInstructions;
  private readonly maskedCode: MaskedCode;
  private readonly caches: AccessCaches;
  private readonly contexts: ChunkContexts;
  private readonly context: ContextLocals;
  private readonly parting: PartingRegisters;
  private readonly site: number;
  private readonly faultLane: number;
  /** Index of the point at which the chunk's lanes part. */
  private readonly point: number;
  /** The lane, in the chunk, that code is written for; undefined for all of them. */
  private lane: number | undefined;
  private current: FlowNode | undefined;
  private edge: EdgeCondition | undefined;
  private faultLabel: Label = 0;
  private faultedLabel: Label = 0;
  private leaveLabel: Label = 0;
  private partLabel: Label = 0;

  constructor(
    readonly plan: KernelPlan,
    private readonly chunks: ChunkPlan,
    readonly region: number,
    readonly flow: RegionFlow,
    counterBase: number,
    private readonly parted: PartedFunctions,
    readonly shape: 'warp' | 'blocks',
  ) {
    this.f = new FunctionBuilder(shape === 'warp' ? ['i32', 'i32', 'i32'] : ['i32', 'i32'], ['i32']);
    const { f } = this;
    const i32 = (): number => f.local('i32');
    this.registers = RegionRegisters.of(plan, region, flow);
    this.threads = new ChunkThreads(f, plan.localLayout.bytes, chunks.groups * 4);
    this.fuel = f.local('i64');
    this.status = i32();
    this.site = i32();
    this.faultLane = i32();
    this.point = i32();
    const narrow = i32();
    this.context = { narrow, wide: plan.context.hasWide ? i32() : narrow };
    const { shapes } = chunks.shapes;
    const steadyRegisters = new Set([...chunks.steady.values()].flatMap(({ scalars }) => scalars));
    this.scalar = new OperandEmitter(
      f,
      plan.fn,
      plan.library,
      plan.exact,
      this,
      (register) =>
        this.registers.uses(register) &&
        (shapes[register]?.kind !== 'varying' || steadyRegisters.has(register)),
    );
    this.v = new VectorOperands(chunks.groups, this.scalar, this.chunkSurroundings());
    this.parting = new PartingRegisters(this.v, plan, chunks.resume, this.threads.first.lane);
    this.contexts = new ChunkContexts(this.v, plan, this.registers, this.context);
    this.counters = new ChunkCounters(
      f,
      flow,
      counterBase,
      this.v.width,
      plan.library,
      chunks.masked.passSlots,
    );
    this.maskedCode = new MaskedCode(f, this.v, plan.graph, flow, chunks.masked.kept, this);
    this.caches = new AccessCaches(f, plan.groups, this.registers.instructions);
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
    this.caches.load();
    this.faultedLabel = f.block();
    this.faultLabel = f.block();
    if (this.shape === 'blocks') emitBlocks(this);
    else emitPhase(this, this.region, { context: this.context, contexts: this.contexts });
    f.end();
    f.area().get(this.site).memory('i32Store', RECORD.faultInstruction);
    f.area()
      .get(this.threads.firstThread)
      .get(this.faultLane)
      .op('i32Add')
      .memory('i32Store', RECORD.faultThread);
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
    this.edge = this.edgeConditionOf(node);
    this.instructions.beginNode(node.body);
    for (const index of node.body) {
      const instruction = this.plan.fn.instructions[index];
      if (instruction === undefined || this.edge?.instructions.includes(instruction) === true) continue;
      this.instructions.emit(instruction);
    }
    if (this.plan.exits.before.has(node.index)) this.f.i32(-1 - node.index).set(this.status);
  }

  steadyLoop({ index }: FlowNode): SteadyCode | undefined {
    const loop = this.chunks.steady.get(index);
    return loop && new SteadyCode(this.v, this.instructions, loop);
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
    f.get(this.threads.first.lane).get(bits).op('i32Ctz').op('i32Add').set(this.faultLane);
    this.leaveFaulted('fuelExhausted', node.counted.at(-1) ?? node.body.at(-1) ?? 0);
    f.end();
  }

  // --- NodeEmitter ---

  emitCondition(register: number, negated: boolean): void {
    const { f, v } = this;
    const { edge } = this;
    if (v.shapeOfRegister(register).kind === 'uniform') f.get(this.scalar.localOf(register));
    else if (edge !== undefined) {
      const [taken, differs] = [v.temporary('taken', 'i32'), v.temporary('lanes differ', 'i32')];
      pushEdgeCondition(v, edge.term, differs);
      f.set(taken).get(differs);
      this.part(this.current?.body.length ?? 0, edge.instructions);
      f.get(taken);
    } else {
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

  emitLeave(node: FlowNode, terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'sync' }>): void {
    emitRegionLeave(this, this.leaveLabel, node, terminator);
  }

  leaveAt(point: number): void {
    this.contexts.spill(point);
    this.f
      .i32(point + 1)
      .set(this.status)
      .br(this.leaveLabel);
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
    return pushSpecialRegister(this.f, name, this.threads.first, { fuel: this.fuel });
  }

  pushSymbol(name: string, offset: number, type: 'i32' | 'i64'): void {
    pushSymbolAddress(this.f, this.plan, name, offset, type);
  }

  // --- InstructionSurroundings ---

  beginLane(lane: number | undefined, instruction: IrInstruction): void {
    this.lane = lane;
    if (lane === undefined) return;
    if (readsLaneSpecials(instruction)) this.threads.setOne(lane);
    if (/^(?:local|generic)$/.test(spaceOf(instruction.modifiers))) this.threads.setOneLocalMemory(lane);
  }

  partIf(instruction: IrInstruction): void {
    this.part(this.current?.body.indexOf(instruction.index) ?? 0);
  }

  // --- what code around instructions needs ---

  private chunkSurroundings(): ChunkSurroundings {
    return {
      shapes: this.chunks.shapes.shapes,
      likely: this.chunks.shapes.likely,
      exact: this.plan.exact,
      firstLane: this.threads.first.lane,
      pushLaneSpecial: (name) => pushSpecialRegister(this.f, name, this.threads.one, { fuel: this.fuel }),
      pushSymbol: (name, offset, type) => {
        this.pushSymbol(name, offset, type);
      },
    };
  }

  private chunkMemory(): ChunkMemory {
    return {
      ...this.scalarMemory(1),
      localBase: () => this.threads.localMemory,
      joinsNeighbours: this.plan.form.without?.has('contiguous') !== true,
      bundlesLoads: this.plan.form.without?.has('accessBundles') !== true,
      leaveLaneWithFault: (instruction, lane) => {
        this.f.get(this.threads.first.lane).get(lane).op('i32Add').set(this.faultLane);
        this.f.i32(instruction.index).set(this.site).br(this.faultLabel);
      },
    };
  }

  /** @param times how many lanes an access that is written once stands for */
  private scalarMemory(times: number): MemorySurroundings {
    const { f, plan } = this;
    return {
      sharedLayout: plan.sharedLayout,
      localLayout: plan.localLayout,
      groupOf: (instruction) => this.caches.groupOf(instruction),
      byteGroupOf: (instruction) => this.caches.byteGroupOf(instruction),
      cacheLocals: (group) => this.caches.cacheLocals(group),
      sharedLimit: (log2Bytes) => this.caches.sharedLimit(log2Bytes),
      localBase: () => this.threads.oneLocalMemory,
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
        f.get(this.threads.first.lane);
        if (this.lane === undefined && this.v.isMasked) f.get(this.v.activeBits()).op('i32Ctz');
        else f.i32(this.lane ?? 0);
        f.op('i32Add').set(this.faultLane);
        f.i32(instruction.index).set(this.site).br(this.faultLabel);
      },
      recordAccess: () => undefined,
      noteWrite: () => undefined,
    };
  }

  emitFault(code: FaultCode, at: number): void {
    this.f.get(this.threads.first.lane).set(this.faultLane);
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

  /** Of a node whose lanes part at its branch, if at all. */
  private edgeConditionOf(node: FlowNode): EdgeCondition | undefined {
    const { masked, shapes } = this.chunks;
    if (this.plan.form.without?.has('edgeConditions') === true) return undefined;
    if (masked.isMasked(node) || masked.zoneAt.has(node.index)) return undefined;
    return findEdgeCondition(this.plan.fn, node, shapes, this.plan.liveness);
  }

  /**
   * Takes an i32 that tells whether the lanes have to part, at a place in the running node.
   * @param first what lanes need there that is not written yet
   */
  private part(at: number, first: readonly IrInstruction[] = []): void {
    const { f, chunks, current } = this;
    const { points } = chunks.resume;
    const index = points.findIndex((point) => point.node === current?.index && point.at === at);
    const point = points[index];
    if (point === undefined) throw new RangeError('lanes part where it was not foreseen');
    f.if();
    f.i32(index).set(this.point);
    for (const instruction of first) this.instructions.emit(instruction);
    this.parting.clearUnneeded(point);
    f.br(this.partLabel).end();
  }

  /** The chunk's registers go to memory, and its lanes on from there one by one. */
  private emitParted(): void {
    const { f } = this;
    this.parting.spill();
    this.counters.part(true, this.threads.first.lane);
    this.callParted(() => {
      const { width } = this;
      f.i32(width === WARP_SIZE ? -1 : (1 << width) - 1)
        .get(this.threads.first.lane)
        .op('i32Shl')
        .get(this.point)
        .call(this.parted.resume);
    });
  }

  private callParted(call: () => void): void {
    const { f } = this;
    f.area().get(this.fuel).memory('i64Store', RECORD.fuel);
    f.get(this.threads.first.warp);
    call();
    f.tee(this.status).i32(REGION_RESULT.fault).op('i32Eq').brIf(this.faultedLabel);
    f.area().memory('i64Load', RECORD.fuel).set(this.fuel);
  }

  // --- ChunkBody ---

  get width(): number {
    return this.v.width;
  }

  clearRegisters(): void {
    for (const register of this.registers.loaded()) this.parting.clear(register);
  }

  emitChunk(haveParted?: () => void): void {
    const { f, v } = this;
    const { graph, flow } = this.chunks.masked;
    const done = f.block();
    this.partLabel = f.block();
    this.leaveLabel = f.block();
    emitControlFlow(f, graph, flow, this);
    f.op('unreachable').end();
    if (this.shape === 'warp') this.keepStates();
    f.br(done).end();
    if (this.chunks.resume.points.length > 0) {
      this.emitParted();
      haveParted?.();
    }
    f.end();
    this.counters.endChunk();
    this.lane = undefined;
    v.setMask(undefined);
  }

  callLanes(lanes: number): void {
    this.counters.part(false, this.threads.first.lane);
    this.callParted(() => {
      this.f.get(lanes);
      if (this.parted.start !== undefined) this.f.i32(this.parted.start);
      this.f.call(this.parted.lanes);
    });
  }

  leaveWithFault(lane: number, at: number, code?: 'divergentBarrier'): void {
    this.f.get(lane).set(this.faultLane);
    if (code !== undefined) this.leaveFaulted(code, at);
    else this.f.i32(at).set(this.site).br(this.faultLabel);
  }

  /** The state that all lanes have come to, for the host. */
  private keepStates(): void {
    const { f, threads } = this;
    for (let group = 0; group < this.v.groups; group++) {
      f.get(threads.firstThread).get(threads.first.lane).op('i32Add').i32(2).op('i32Shl').area().op('i32Add');
      f.get(this.status)
        .simd('i32x4Splat')
        .simdMemory('v128Store', AREA.states + 16 * group);
    }
  }
}
