import { FunctionBuilder } from '../../../wasm/index.js';
import { storingAtOnce } from '../../lanePaths/index.js';
import type { FaultCode } from '../../types.js';
import { AccessCaches, MemoryEmitter } from '../accesses/index.js';
import { AREA, RECORD, REGION_RESULT, WARP_SIZE } from '../area/index.js';
import { PassCounters } from '../counters/index.js';
import { OperandEmitter } from '../scalar/index.js';
import { emitControlFlow } from './controlFlowEmitter.js';
import { FaultExit } from './faultExit.js';
import { laneMemory } from './laneMemory.js';
import { LaneNodes } from './laneNodes.js';
import { LaneSummary } from './laneSummary.js';
import { ObservedRun } from './observedRun.js';
import { emitResumed, loadParted, type PartedLanes } from './partedLanes.js';
import { RegionExit, type WrittenRegion } from './regionExit.js';
import { RegionRegisters } from './regionRegisters.js';
import { RunningLane } from './runningLane.js';
import { surroundingValues } from './surroundingValues.js';

/**
 * Compiles one region to a function: the loops over blocks, warps and lanes around its nodes.
 *
 * `warp` shape: (warp, lane mask) → the state that every lane reached, `mixed` or `fault`.
 * `blocks` shape, for kernels whose threads never meet: (lo, hi) → 0 or `fault`; loops over blocks, warps and lanes.
 * Lanes that run apart from a chunk: as in the `warp` shape, with a third parameter, the place where they go on, when
 * they do not start at the region's beginning.
 */
export class RegionCompiler {
  private readonly f: FunctionBuilder;
  private readonly registers: RegionRegisters;
  private readonly lane: RunningLane;
  private readonly emit: OperandEmitter;
  private readonly caches: AccessCaches;
  private readonly counters: PassCounters;
  private readonly observed: ObservedRun;
  private readonly faults: FaultExit;
  private readonly exit: RegionExit;
  private readonly nodes: LaneNodes;
  private readonly summary: LaneSummary;
  /** i64 local: what the block may still spend. */
  private readonly fuel: number;
  /** Whether the function runs lanes of one warp only. */
  private readonly isOneWarp: boolean;
  /** Of a region that begins with a store in which lanes may overwrite one another: its bytes a lane. */
  private readonly storing: number | undefined;

  constructor(
    private readonly of: WrittenRegion,
    counterBase: number,
    private readonly parted?: PartedLanes,
  ) {
    const { plan, region, flow, shape } = of;
    this.f = new FunctionBuilder(parted?.resume === undefined ? ['i32', 'i32'] : ['i32', 'i32', 'i32'], [
      'i32',
    ]);
    const { f } = this;
    this.isOneWarp = shape === 'warp' || parted !== undefined;
    this.storing = plan.graph.syncPoints[region - 1]?.stores;
    this.registers = RegionRegisters.of(plan, region, flow);
    this.lane = new RunningLane(f, plan, {
      isOneWarp: this.isOneWarp,
      readsTid: this.registers.readsSpecial(/^tid/),
      isReordered: this.storing !== undefined,
    });
    const { thread, context } = this.lane;
    const site = f.local('i32');
    const status = f.local('i32');
    this.fuel = f.local('i64');
    const position = f.local('i64');
    this.emit = new OperandEmitter(
      f,
      plan.fn,
      plan.library,
      plan.exact,
      surroundingValues(f, plan, thread, this.fuel),
      (register) => this.registers.uses(register),
    );
    this.faults = new FaultExit(f, site, thread.lane);
    this.exit = new RegionExit(f, of, status, this.faults, (point) => {
      this.registers.spill(f, this.emit, context, point);
    });
    this.observed = new ObservedRun(this.emit, plan, position, this.faults);
    this.caches = new AccessCaches(f, plan.groups, this.registers.instructions);
    this.counters = new PassCounters(
      f,
      flow,
      counterBase,
      parted === undefined ? undefined : { lane: thread.lane, slots: parted.passSlots },
    );
    this.nodes = new LaneNodes({
      plan,
      emit: this.emit,
      memory: new MemoryEmitter(
        this.emit,
        laneMemory(f, plan, this.lane, this.caches, this.counters, this.observed),
      ),
      counters: this.counters,
      observed: this.observed,
      exit: this.exit,
      faults: this.faults,
      fuel: this.fuel,
    });
    this.summary = new LaneSummary(f);
  }

  compile(): FunctionBuilder {
    const { f, fuel } = this;
    this.caches.load();
    this.faults.open();
    this.observed.load();
    if (this.isOneWarp) {
      f.area().memory('i64Load', RECORD.fuel).set(fuel);
      this.emitWarp();
      f.area().get(fuel).memory('i64Store', RECORD.fuel);
      this.observed.store();
      if (this.of.shape === 'warp') this.summary.push();
      else f.i32(0);
      f.op('return');
    } else {
      this.emitBlocks();
      this.observed.store();
      f.i32(0).op('return');
    }
    this.faults.close(this.lane.firstThread, () => {
      this.observed.store();
    });
    this.counters.endLane();
    this.counters.endWarp();
    f.i32(REGION_RESULT.fault);
    return f;
  }

  private emitBlocks(): void {
    const { f, exit } = this;
    const { warp } = this.lane.thread;
    const [block, end] = [0, 1];
    const again = f.loop();
    f.get(block).get(end).op('i32LtU').if();
    const rest = exit.status;
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
    if (this.of.plan.usesShared)
      f.area().i32(AREA.shared).op('i32Add').i32(0).area().memory('i32Load', RECORD.sharedBytes).memoryFill();
    f.i32(0).set(warp);
    const warps = f.loop();
    this.emitWarp();
    f.get(warp).i32(1).op('i32Add').tee(warp).i32(WARP_SIZE).op('i32Mul');
    f.area().memory('i32Load', RECORD.threads).op('i32LtU').brIf(warps).end();
    f.get(block).i32(1).op('i32Add').set(block).br(again).end().end();
  }

  /** Runs the lanes of one warp one after another. */
  private emitWarp(): void {
    const { f } = this;
    const { lane } = this.lane.thread;
    this.lane.countLanes();
    this.counters.reset();
    this.lane.goToFirst();
    // Whoever calls for parted lanes has made the exchange for the whole warp.
    if (this.parted === undefined) this.emitExchange();
    if (this.of.shape === 'warp') this.summary.start();
    if (this.storing !== undefined) {
      this.emitStoring(this.storing);
      return;
    }
    f.i32(0).set(lane);
    const lanes = f.loop();
    if (this.isOneWarp) {
      this.lane.pushRuns();
      f.if();
      this.emitThread();
      f.end();
    } else {
      this.emitThread();
    }
    this.lane.advance();
    f.get(lane).get(this.lane.count).op('i32LtU').brIf(lanes).end();
    this.counters.endWarp();
  }

  private emitExchange(): void {
    const { f, faults, lane } = this;
    const fail = (failing: number, code: FaultCode, at: number): void => {
      f.get(failing).set(faults.lane);
      faults.raise(code, at);
    };
    this.registers.emitExchange(f, lane.context.narrow, lane.mask, fail, {
      pushThread: (caller) => f.get(lane.firstThread).get(caller).op('i32Add'),
      leaveFaulted: (caller, at) => {
        f.get(caller).set(faults.lane);
        faults.leave(at);
      },
    });
  }

  /** Runs lanes in the order in which their stores take effect; of those that fault the lowest is told. @param bytes a lane */
  private emitStoring(bytes: number): void {
    const { f, faults } = this;
    const { lane } = this.lane.thread;
    const [place, faulted, site] = [this.lane.count, f.local('i32'), f.local('i32')];
    f.i32(-1).set(faulted).i32(0).set(place);
    const lanes = f.loop();
    f.get(place)
      .i32(storingAtOnce(bytes) - 1)
      .op('i32Xor')
      .set(lane);
    this.lane.pushRuns();
    f.if();
    this.lane.goTo();
    const passed = f.block();
    faults.caught(() => {
      this.emitThread();
      f.br(passed);
    });
    faults.keep(faulted, site);
    this.lane.keepBelow();
    f.end().end();
    f.get(place).i32(1).op('i32Add').tee(place).i32(WARP_SIZE).op('i32LtU').brIf(lanes).end();
    f.get(faulted).i32(0).op('i32GeS').if();
    faults.leaveKept(faulted, site);
    f.end();
    this.counters.endWarp();
  }

  private emitThread(): void {
    const { f, nodes, exit } = this;
    const { plan, flow, shape } = this.of;
    const { thread, context, firstThread } = this.lane;
    const resume = this.parted?.resume;
    const mayStart = this.parted?.mayStart === true;
    if (mayStart) f.get(2).i32(0).op('i32LtS').if();
    if (resume === undefined || mayStart) this.registers.load(f, this.emit, context);
    if (mayStart) f.else();
    if (resume !== undefined) loadParted(this.emit, resume, thread.lane);
    if (mayStart) f.end();
    exit.open();
    if (resume === undefined) emitControlFlow(f, plan.graph, flow, nodes);
    else emitResumed(f, plan.graph, flow, nodes, resume.points, 2);
    // Every way through the control flow branches out.
    f.op('unreachable').end();
    this.counters.endLane();
    if (shape !== 'warp') return;
    f.get(firstThread).get(thread.lane).op('i32Add').i32(2).op('i32Shl').area().op('i32Add');
    f.get(exit.status).memory('i32Store', AREA.states);
    this.summary.add(exit.status);
  }
}
