import type { IrInstruction } from '../../../ptx/index.js';
import type { FaultCode } from '../../types.js';
import { FunctionBuilder, type Label } from '../../../wasm/index.js';
import type { AccessGroup, FlowNode, Terminator, RegionFlow, ContextLocals } from '../analysis/index.js';
import {
  AccessCaches,
  journalWhat,
  type JournalKind,
  type CacheLocals,
  type MemorySurroundings,
  MemoryEmitter,
} from '../accesses/index.js';
import { emitControlFlow } from './controlFlowEmitter.js';
import { AREA, faultNumber, RECORD, WARP_SIZE, REGION_RESULT } from '../area/index.js';
import { emitInstruction } from './instructionEmitter.js';
import { type KernelPlan, pushSymbolAddress } from '../plan/index.js';
import { storingAtOnce } from '../../lanePaths/index.js';
import type { DynamicBytes } from '../instructions/index.js';
import { OperandEmitter } from '../scalar/index.js';
import { RegionRegisters } from './regionRegisters.js';
import { LaneSummary } from './laneSummary.js';
import { emitRegionLeave } from './regionLeave.js';
import { PassCounters } from '../counters/index.js';
import { emitResumed, loadParted, type PartedLanes, type PartEmitter } from './partedLanes.js';
import { advanceTid, pushSpecialRegister, startTid, type ThreadLocals } from './specialRegisters.js';

/**
 * Compiles one region to a function.
 *
 * `warp` shape: (warp, lane mask) → the state that every lane reached, `mixed` or `fault`.
 * `blocks` shape, for kernels whose threads never meet: (lo, hi) → 0 or `fault`; loops over blocks, warps and lanes.
 * Lanes that run apart from a chunk: as in the `warp` shape, with a third parameter, the place where they go on, when
 * they do not start at the region's beginning.
 */
export class RegionCompiler implements PartEmitter, MemorySurroundings {
  readonly f: FunctionBuilder;
  private readonly emit: OperandEmitter;
  private readonly memory: MemoryEmitter;
  private readonly registers: RegionRegisters;
  private readonly caches: AccessCaches;
  private readonly thread: ThreadLocals;
  private readonly needsTid: boolean;
  private readonly mask: number;
  private readonly firstThread: number;
  private readonly lanes: number;
  private readonly context: ContextLocals;
  private readonly localMemory: number;
  private readonly fuel: number;
  /** Of observed code: thread-instructions of the run up to the end of the running node. */
  private readonly position: number;
  /** The node whose instructions are being written. */
  private current: FlowNode | undefined;
  private readonly site: number;
  readonly status: number;
  private readonly counters: PassCounters;
  private readonly summary: LaneSummary;
  /** Whether the function runs lanes of one warp only. */
  private readonly isOneWarp: boolean;
  /** Of a region that begins with a store in which lanes may overwrite one another: its bytes a lane. */
  private readonly storing: number | undefined;
  private readonly storingThread: number;
  private faultLabel: Label = 0;
  private leaveLabel: Label = 0;

  constructor(
    readonly plan: KernelPlan,
    readonly region: number,
    readonly flow: RegionFlow,
    counterBase: number,
    readonly shape: 'warp' | 'blocks',
    private readonly parted?: PartedLanes,
  ) {
    this.f = new FunctionBuilder(parted?.resume === undefined ? ['i32', 'i32'] : ['i32', 'i32', 'i32'], [
      'i32',
    ]);
    const f = this.f;
    this.isOneWarp = shape === 'warp' || parted !== undefined;
    this.storing = plan.graph.syncPoints[region - 1]?.stores;
    this.registers = RegionRegisters.of(plan, region, flow);
    const i32 = (): number => f.local('i32');
    this.thread = {
      warp: this.isOneWarp ? 0 : i32(),
      lane: i32(),
      tid: [i32(), i32(), i32()],
    };
    this.mask = this.isOneWarp ? 1 : i32();
    this.firstThread = i32();
    this.lanes = i32();
    const narrow = i32();
    this.context = { narrow, wide: plan.context.hasWide ? i32() : narrow };
    this.localMemory = i32();
    this.storingThread = this.storing === undefined ? this.firstThread : i32();
    this.site = i32();
    this.status = i32();
    this.fuel = f.local('i64');
    this.position = f.local('i64');
    this.needsTid = this.reads(/^tid/);
    this.emit = new OperandEmitter(f, plan.fn, plan.library, plan.exact, this, (register) =>
      this.registers.uses(register),
    );
    this.memory = new MemoryEmitter(this.emit, this);
    this.caches = new AccessCaches(f, plan.groups, this.registers.instructions);
    this.counters = new PassCounters(
      f,
      flow,
      counterBase,
      parted === undefined ? undefined : { lane: this.thread.lane, slots: parted.passSlots },
    );
    this.summary = new LaneSummary(f);
  }

  compile(): FunctionBuilder {
    const f = this.f;
    this.caches.load();
    this.faultLabel = f.block();
    if (this.isObserved) f.area().memory('i64Load', RECORD.position).set(this.position);
    if (this.isOneWarp) {
      f.area().memory('i64Load', RECORD.fuel).set(this.fuel);
      this.emitWarp();
      f.area().get(this.fuel).memory('i64Store', RECORD.fuel);
      this.storePosition();
      if (this.shape === 'warp') this.summary.push();
      else f.i32(0);
      f.op('return');
    } else {
      this.emitBlocks();
      this.storePosition();
      f.i32(0).op('return');
    }
    f.end();
    this.storePosition();
    f.area().get(this.site).memory('i32Store', RECORD.faultInstruction);
    f.area().get(this.firstThread).get(this.thread.lane).op('i32Add').memory('i32Store', RECORD.faultThread);
    this.counters.endLane();
    this.counters.endWarp();
    f.i32(REGION_RESULT.fault);
    return f;
  }

  // --- NodeEmitter ---

  emitBody(node: FlowNode, position: number): void {
    this.emitPart(node, position, 0, Infinity);
  }

  // --- PartEmitter ---

  emitPart(node: FlowNode, position: number, from: number, to: number): void {
    if (from === 0) this.counters.pass(position);
    this.current = node;
    if (this.isObserved && node.counted.length > 0)
      this.f.get(this.position).i64(node.counted.length).op('i64Add').set(this.position);
    for (const index of node.body.slice(from, to)) {
      const instruction = this.plan.fn.instructions[index];
      if (instruction !== undefined) emitInstruction(instruction, this.emit, this.memory, this.plan.imported);
    }
    if (to === Infinity && this.plan.exits.before.has(node.index))
      this.f.i32(-1 - node.index).set(this.status);
  }

  emitCondition(register: number, negated: boolean): void {
    this.f.get(this.emit.localOf(register));
    if (negated) this.f.op('i32Eqz');
  }

  emitLeave(node: FlowNode, terminator: Extract<Terminator, { kind: 'exit' | 'trap' | 'sync' }>): void {
    emitRegionLeave(this, this.leaveLabel, node, terminator);
  }

  emitBackEdge(node: FlowNode, cost: number, header?: number): void {
    const f = this.f;
    f.get(this.fuel).i64(cost).op('i64Sub');
    const point = header === undefined ? undefined : this.plan.pointOf(node.index, header);
    if (point?.scope === 'spin') {
      f.set(this.fuel);
      this.leaveAt(point.index);
      return;
    }
    if (point === undefined && this.plan.form.resumable === true) {
      f.set(this.fuel);
      return;
    }
    f.tee(this.fuel).i64(0).op('i64LtS').if();
    if (point !== undefined) this.leaveAt(point.index);
    else this.emitFault('fuelExhausted', node.counted.at(-1) ?? node.body.at(-1) ?? 0);
    f.end();
  }

  emitIndex(register: number): void {
    this.f.get(this.emit.localOf(register));
  }

  emitNoTarget(at: number): void {
    this.emitFault('illegalInstruction', at);
  }

  // --- SurroundingValues ---

  pushSpecial(name: string): 'i32' | 'i64' {
    return pushSpecialRegister(this.f, name, this.thread, { fuel: this.fuel });
  }

  pushSymbol(name: string, offset: number, type: 'i32' | 'i64'): void {
    pushSymbolAddress(this.f, this.plan, name, offset, type);
  }

  // --- MemorySurroundings ---

  get sharedLayout(): KernelPlan['sharedLayout'] {
    return this.plan.sharedLayout;
  }

  get localLayout(): KernelPlan['localLayout'] {
    return this.plan.localLayout;
  }

  groupOf(instruction: IrInstruction): AccessGroup {
    return this.caches.groupOf(instruction);
  }

  cacheLocals(group: AccessGroup): CacheLocals {
    return this.caches.cacheLocals(group);
  }

  sharedLimit(log2Bytes: number): number {
    return this.caches.sharedLimit(log2Bytes);
  }

  localBase(): number {
    return this.localMemory;
  }

  byteGroupOf(instruction: IrInstruction): AccessGroup {
    return this.caches.byteGroupOf(instruction);
  }

  countBytes(what: DynamicBytes, bytes: number | (() => void)): void {
    this.counters.countBytes(what, bytes);
  }

  leaveWithFault(instruction: IrInstruction): void {
    const f = this.f;
    if (this.isObserved) {
      this.pushPositionOf(instruction);
      f.set(this.position);
    }
    f.i32(instruction.index).set(this.site).br(this.faultLabel);
  }

  recordAccess(instruction: IrInstruction, kind: JournalKind, bytes: number, pushAddress: () => void): void {
    if (!this.isObserved) return;
    const f = this.f;
    const place = this.emit.temporary('place', 'i32');
    f.set(place);
    this.pushPositionOf(instruction);
    pushAddress();
    f.get(place)
      .i32(journalWhat(instruction.index, kind, bytes))
      .call(this.plan.journal)
      .if();
    this.leaveWithFault(instruction);
    f.end().get(place);
  }

  noteWrite(pushChanged?: () => void): void {
    if (!this.plan.takesTurns) return;
    const f = this.f;
    f.area();
    if (pushChanged === undefined) f.i32(1);
    else {
      pushChanged();
      f.area().memory('i32Load', RECORD.wrote).op('i32Or');
    }
    f.memory('i32Store', RECORD.wrote);
  }

  // --- frame of the function ---

  private get isObserved(): boolean {
    return this.plan.form.observed === true;
  }

  private storePosition(): void {
    if (this.isObserved) this.f.area().get(this.position).memory('i64Store', RECORD.position);
  }

  /** Pushes how many thread-instructions came before this one. */
  private pushPositionOf(instruction: IrInstruction): void {
    const counted = this.current?.counted ?? [];
    const place = counted.indexOf(instruction.index);
    const behind = place < 0 ? 0 : counted.length - place;
    this.f.get(this.position).i64(behind).op('i64Sub');
  }

  emitFault(code: FaultCode, at: number): void {
    const f = this.f;
    f.area().i32(faultNumber(code)).memory('i32Store', RECORD.faultCode);
    f.i32(at).set(this.site).br(this.faultLabel);
  }

  /** Ends the thread's turn at a point from which it goes on later. */
  leaveAt(point: number): void {
    this.registers.spill(this.f, this.emit, this.context, point);
    this.f
      .i32(point + 1)
      .set(this.status)
      .br(this.leaveLabel);
  }

  private reads(pattern: RegExp): boolean {
    return this.registers.instructions.some((instruction) =>
      instruction.sources.some((source) => source.kind === 'special' && pattern.test(source.name)),
    );
  }

  private emitBlocks(): void {
    const f = this.f;
    const [block, end] = [0, 1];
    const again = f.loop();
    f.get(block).get(end).op('i32LtU').if();
    const rest = this.status;
    f.area()
      .get(block)
      .area()
      .memory('i32Load', RECORD.nctaid)
      .op('i32RemU')
      .memory('i32Store', RECORD.ctaid);
    f.get(block).area().memory('i32Load', RECORD.nctaid).op('i32DivU').set(rest);
    f.area()
      .get(rest)
      .area()
      .memory('i32Load', RECORD.nctaid + 4)
      .op('i32RemU')
      .memory('i32Store', RECORD.ctaid + 4);
    f.area()
      .get(rest)
      .area()
      .memory('i32Load', RECORD.nctaid + 4)
      .op('i32DivU')
      .memory('i32Store', RECORD.ctaid + 8);
    f.area().memory('i64Load', RECORD.fuelPerBlock).set(this.fuel);
    if (this.plan.usesShared)
      f.area().i32(AREA.shared).op('i32Add').i32(0).area().memory('i32Load', RECORD.sharedBytes).memoryFill();
    f.i32(0).set(this.thread.warp);
    const warps = f.loop();
    this.emitWarp();
    f.get(this.thread.warp).i32(1).op('i32Add').tee(this.thread.warp).i32(WARP_SIZE).op('i32Mul');
    f.area().memory('i32Load', RECORD.threads).op('i32LtU').brIf(warps).end();
    f.get(block).i32(1).op('i32Add').set(block).br(again).end().end();
  }

  /** Runs the lanes of one warp one after another. */
  private emitWarp(): void {
    const f = this.f;
    const { warp, lane } = this.thread;
    f.get(warp).i32(WARP_SIZE).op('i32Mul').set(this.firstThread);
    const left = this.lanes;
    f.area().memory('i32Load', RECORD.threads).get(this.firstThread).op('i32Sub').tee(left);
    f.i32(WARP_SIZE).get(left).i32(WARP_SIZE).op('i32LtU').op('select').set(this.lanes);
    this.counters.reset();
    if (this.needsTid) startTid(f, this.thread, this.firstThread);
    if (this.plan.graph.syncPoints.length > 0) this.pointAtContexts();
    this.pointAtThread(this.localMemory, RECORD.locals, this.plan.localLayout.bytes);
    const leaveStray = (stray: number, at: number): void => {
      f.get(stray).set(this.thread.lane);
      this.emitFault('divergentBarrier', at);
    };
    // Whoever calls for parted lanes has made the exchange for the whole warp.
    if (this.parted === undefined)
      this.registers.emitExchange(f, this.context.narrow, this.mask, leaveStray, {
        pushThread: (caller) => f.get(this.firstThread).get(caller).op('i32Add'),
        leaveFaulted: (caller, at) =>
          f.get(caller).set(this.thread.lane).i32(at).set(this.site).br(this.faultLabel),
      });
    if (this.shape === 'warp') this.summary.start();
    if (this.storing !== undefined) {
      this.emitStoring(this.storing);
      return;
    }
    f.i32(0).set(lane);
    const lanes = f.loop();
    if (this.isOneWarp) {
      f.get(this.mask).get(lane).op('i32ShrU').i32(1).op('i32And').if();
      this.emitThread();
      f.end();
    } else {
      this.emitThread();
    }
    this.advance();
    f.get(lane).get(this.lanes).op('i32LtU').brIf(lanes).end();
    this.counters.endWarp();
  }

  /** Runs lanes in the order in which their stores take effect; of those that fault the lowest is told. @param bytes a lane */
  private emitStoring(bytes: number): void {
    const f = this.f;
    const { lane } = this.thread;
    const [place, faulted, site] = [this.lanes, f.local('i32'), f.local('i32')];
    f.i32(-1).set(faulted).i32(0).set(place);
    const lanes = f.loop();
    f.get(place)
      .i32(storingAtOnce(bytes) - 1)
      .op('i32Xor')
      .set(lane);
    f.get(this.mask).get(lane).op('i32ShrU').i32(1).op('i32And').if();
    this.goToLane();
    const [outer, passed] = [this.faultLabel, f.block()];
    this.faultLabel = f.block();
    this.emitThread();
    f.br(passed).end();
    this.faultLabel = outer;
    f.get(lane).set(faulted).get(this.site).set(site);
    f.get(this.mask).i32(1).get(lane).op('i32Shl').i32(1).op('i32Sub').op('i32And').set(this.mask);
    f.end().end();
    f.get(place).i32(1).op('i32Add').tee(place).i32(WARP_SIZE).op('i32LtU').brIf(lanes).end();
    f.get(faulted).i32(0).op('i32GeS').if();
    f.get(faulted).set(lane).get(site).set(this.site).br(this.faultLabel).end();
    this.counters.endWarp();
  }

  /** Where the running lane's registers and memory are, and who it is. */
  private goToLane(): void {
    const f = this.f;
    const { lane } = this.thread;
    const { narrow, wide } = this.context;
    this.pointAtContexts();
    f.get(narrow).get(lane).i32(4).op('i32Mul').op('i32Add').set(narrow);
    if (wide !== narrow) f.get(wide).get(lane).i32(8).op('i32Mul').op('i32Add').set(wide);
    const thread = this.storingThread;
    f.get(this.firstThread).get(lane).op('i32Add').set(thread);
    if (this.needsTid) startTid(f, this.thread, thread);
    this.pointAtThread(this.localMemory, RECORD.locals, this.plan.localLayout.bytes, thread);
  }

  private emitThread(): void {
    const f = this.f;
    const resume = this.parted?.resume;
    const mayStart = this.parted?.mayStart === true;
    if (mayStart) f.get(2).i32(0).op('i32LtS').if();
    if (resume === undefined || mayStart) this.registers.load(f, this.emit, this.context);
    if (mayStart) f.else();
    if (resume !== undefined) loadParted(this.emit, resume, this.thread.lane);
    if (mayStart) f.end();
    this.leaveLabel = f.block();
    if (resume === undefined) emitControlFlow(f, this.plan.graph, this.flow, this);
    else emitResumed(f, this.plan.graph, this.flow, this, resume.points, 2);
    // Every way through the control flow branches out.
    f.op('unreachable').end();
    this.counters.endLane();
    if (this.shape !== 'warp') return;
    f.get(this.firstThread).get(this.thread.lane).op('i32Add').i32(2).op('i32Shl').area().op('i32Add');
    f.get(this.status).memory('i32Store', AREA.states);
    this.summary.add(this.status);
  }

  private pointAtContexts(): void {
    const { narrow, wide } = this.context;
    this.f
      .area()
      .memory('i32Load', RECORD.contexts)
      .get(this.thread.warp)
      .i32(this.plan.context.warpBytes)
      .op('i32Mul')
      .op('i32Add')
      .set(narrow);
    if (wide !== narrow) this.f.get(narrow).set(wide);
  }

  private pointAtThread(local: number, record: number, stride: number, thread = this.firstThread): void {
    if (stride === 0) return;
    this.f.area().memory('i32Load', record).get(thread).i32(stride).op('i32Mul').op('i32Add').set(local);
  }

  /** Goes on to the next lane. */
  private advance(): void {
    const f = this.f;
    if (this.needsTid) advanceTid(f, this.thread);
    if (this.plan.graph.syncPoints.length > 0) {
      const { narrow, wide } = this.context;
      f.get(narrow).i32(4).op('i32Add').set(narrow);
      if (wide !== narrow) f.get(wide).i32(8).op('i32Add').set(wide);
    }
    const localBytes = this.plan.localLayout.bytes;
    if (localBytes > 0) f.get(this.localMemory).i32(localBytes).op('i32Add').set(this.localMemory);
    f.get(this.thread.lane).i32(1).op('i32Add').set(this.thread.lane);
  }
}
