import { isBarrier, isa } from '../../ptx/index.js';
import type { DeviceRuntime } from '../deviceRuntime/index.js';
import type { TextureUnits } from '../textures/index.js';
import { BlockBarriers } from './barriers.js';
import { areTogether, type BlockCluster, type ClusterMember } from './blockCluster.js';
import { BlockMemory, type BlockMemoryResources } from './blockMemory.js';
import { LaneFault } from './faults.js';
import type { BlockIdentity } from './operands.js';
import type { BarrierAction, ProgramStep } from './program.js';
import { lanesPerWarp } from './registerFile.js';
import type { OffsetMemory } from './memorySpaces.js';
import { forEachLane, lowestLane, Warp, type BarrierPlace } from './warp.js';
import { WarpContext, type WarpHost } from './warpContext.js';
import { laneCount } from './warpOperations.js';

/** Where a fault happened, beside what it is. */
export interface FaultPlace {
  readonly warp: number;
  readonly pc: number;
}

export interface BlockResources extends BlockMemoryResources {
  readonly runtime: DeviceRuntime;
  readonly textures: TextureUnits;
  /** Thread-instructions that the block may execute. */
  readonly fuel: number;
  readonly steer?: BranchSteer | undefined;
}

/** @returns the lanes that branch, of `lanes` that stand at a branch of which `active` pass the guard */
export type BranchSteer = (warp: Warp, pc: number, lanes: number, active: number) => number;

/**
 * One thread block in execution. `step` executes one instruction for lanes of a warp that stand at it; which lanes step
 * when is the caller's choice.
 */
export class BlockExecution implements WarpHost, ClusterMember {
  readonly warps: readonly Warp[];
  private readonly contexts: readonly WarpContext[];
  readonly memory: BlockMemory;
  private readonly barriers: BlockBarriers;
  /** Barrier that each waiting lane of each warp waits at. */
  private readonly barrierOf: Int32Array[] = [];
  private executed = 0;
  private clockReads = 0;
  private sleptNs = 0;
  private readonly place = { warp: 0, pc: 0 };

  /** @param block linear index in the grid */
  constructor(
    private readonly resources: BlockResources,
    readonly identity: BlockIdentity,
    readonly block = 0,
    /** Where blocks meet in clusters: its own. */
    private readonly cluster?: BlockCluster,
  ) {
    const threads = identity.block[0] * identity.block[1] * identity.block[2];
    const registers = resources.program.fn.registers.length;
    this.warps = Array.from(
      { length: identity.warps },
      (_, index) => new Warp(index, block, Math.min(lanesPerWarp, threads - index * lanesPerWarp), registers),
    );
    this.contexts = this.warps.map((warp) => new WarpContext(this, warp));
    this.barriers = new BlockBarriers(this.warps);
    this.memory = new BlockMemory(
      resources,
      cluster === undefined ? undefined : { rank: identity.clusterRank, blocks: cluster },
    );
    cluster?.join(this);
  }

  get shared(): OffsetMemory {
    return this.memory.shared;
  }

  /** Where the last step was, for the report of a fault. */
  get lastPlace(): FaultPlace {
    return this.place;
  }

  get isDone(): boolean {
    return this.warps.every((warp) => warp.live === 0);
  }

  /** Cycles since the launch began: one a thread-instruction of the block, and one a reading, so that two differ. */
  readClock(): number {
    const { startNs, cyclesPerNs } = this.identity.place;
    return Math.floor((startNs + this.sleptNs) * cyclesPerNs) + this.executed + this.clockReads++;
  }

  /** Time passes for the block without an instruction. */
  sleep(ns: number): void {
    this.sleptNs += ns;
  }

  /**
   * Executes instruction `pc` for lanes that stand at it and are ready, and moves each lane's pc.
   * @throws LaneFault
   */
  step(warp: Warp, lanes: number, pc: number): void {
    const step = this.resources.program.steps[pc];
    const context = this.contexts[warp.index];
    if (step === undefined || context === undefined) throw new RangeError(`no instruction ${pc}`);
    this.setPlace(warp.index, pc);
    let active = step.guard === undefined ? lanes : this.guarded(step, warp, lanes);
    if (this.resources.steer !== undefined && step.action.kind === 'branch')
      active = this.resources.steer(warp, pc, lanes, active);
    this.count(step, lanes);
    context.pc = pc;
    this.resources.observer.onStep?.(warp, pc, lanes, active);
    const passing = lanes & ~active;
    if (passing !== 0) warp.moveTo(passing, pc + 1);
    if (active !== 0) this.act(step, context, active, pc, passing);
  }

  private setPlace(warp: number, pc: number): void {
    this.place.warp = warp;
    this.place.pc = pc;
  }

  private guarded(step: ProgramStep, warp: Warp, lanes: number): number {
    const { guard } = step;
    if (guard === undefined) return lanes;
    const { words } = warp.registers;
    const base = 2 * guard.register * lanesPerWarp;
    let holds = 0;
    for (let rest = lanes; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest;
      if (words[base + 2 * (31 - Math.clz32(bit))] === 1) holds |= bit;
    }
    return guard.negated ? lanes & ~holds : holds;
  }

  private count(step: ProgramStep, lanes: number): void {
    const { counters, fuel } = this.resources;
    const threads = laneCount(lanes);
    this.executed += threads;
    if (this.executed > fuel) {
      throw new LaneFault('fuelExhausted', `the block used up its fuel of ${fuel} thread-instructions`);
    }
    this.memory.beginStep(counters.threadInstructions, lanes);
    counters.threadInstructions += threads;
    counters.warpInstructions++;
    counters.byClass[step.class]++;
  }

  private act(step: ProgramStep, context: WarpContext, active: number, pc: number, passing: number): void {
    const warp = context.state;
    const { action } = step;
    switch (action.kind) {
      case 'lanes':
        this.compute(action, context, active);
        warp.moveTo(active, pc + 1);
        break;
      case 'nothing':
        warp.moveTo(active, pc + 1);
        break;
      case 'branch':
        warp.moveTo(active, action.target);
        if (passing !== 0 && action.target !== pc + 1) this.resources.observer.onDivergence?.(warp, pc);
        break;
      case 'branchTable':
        this.branchByTable(action.index, action.targets, context, active);
        break;
      case 'exit':
        warp.live &= ~active;
        this.releaseWarpSync(context);
        this.releaseBarriers();
        this.cluster?.settle();
        break;
      case 'clusterArrive':
      case 'clusterWait':
        this.meetCluster(action.kind === 'clusterArrive' ? 'arrive' : 'wait', warp, active, pc);
        break;
      case 'stop':
        throw laneFault(new LaneFault(action.code, action.message), active);
      case 'barrier':
        this.arriveAtBarrier(action, context, active, pc);
        break;
      case 'warp':
        this.waitForWarp(action.operation.members, context, active);
        break;
    }
  }

  private compute(
    { effect, together }: Extract<ProgramStep['action'], { kind: 'lanes' }>,
    context: WarpContext,
    active: number,
  ): void {
    try {
      if (together !== undefined) {
        together(context, active);
        return;
      }
      for (let rest = active; rest !== 0; rest &= rest - 1) {
        const lane = 31 - Math.clz32(rest & -rest);
        context.lane = lane;
        effect(context, lane);
      }
    } catch (error) {
      if (error instanceof LaneFault) error.lane = context.lane;
      throw error;
    }
  }

  private branchByTable(
    index: (context: WarpContext, lane: number) => number | bigint,
    targets: readonly number[],
    context: WarpContext,
    active: number,
  ): void {
    const warp = context.state;
    const first = lowestLane(active);
    this.forEach(active, (lane) => {
      const chosen = Number(index(context, lane));
      const target = targets[chosen];
      if (target === undefined) {
        throw new LaneFault(
          'illegalInstruction',
          `brx.idx with index ${chosen}: it has ${targets.length} targets`,
        );
      }
      warp.pcs[lane] = target;
    });
    let isUniform = true;
    forEachLane(active, (lane) => (isUniform &&= warp.pcs[lane] === warp.pcs[first]));
    if (!isUniform) this.resources.observer.onDivergence?.(warp, context.pc);
  }

  private arriveAtBarrier(action: BarrierAction, context: WarpContext, active: number, pc: number): void {
    const warp = context.state;
    const { form, reduction } = action;
    this.forEach(active, (lane) => {
      const id = Number(action.id(context, lane));
      const count = action.count === undefined ? undefined : Number(action.count(context, lane));
      this.resources.observer.onBarrierArrive?.(warp, pc, lane, id, count, form.waits);
      this.barriers.arrive(warp, lane, id, count, form);
      if (reduction !== undefined) this.barriers.vote(id, reduction.predicate(context, lane) === 1);
      (this.barrierOf[warp.index] ??= new Int32Array(lanesPerWarp))[lane] = id;
      if (form.waits) warp.atBarrier |= 1 << lane;
      else warp.pcs[lane] = pc + 1;
    });
    this.releaseBarriers();
  }

  private meetCluster(what: 'arrive' | 'wait', warp: Warp, active: number, pc: number): void {
    this.resources.observer.onClusterBarrier?.(warp, pc, active, what);
    try {
      if (what === 'arrive') warp.moveTo(active, pc + 1);
      this.cluster?.[what](warp, active);
    } catch (error) {
      throw error instanceof LaneFault && error.at === undefined ? laneFault(error, active) : error;
    }
  }

  /** The barrier of the cluster has opened for lanes that wait there. @throws LaneFault */
  passCluster(warp: Warp, lanes: number): void {
    const { steps } = this.resources.program;
    const isAligned = (lane: number): boolean => {
      const action = steps[warp.pcs[lane] ?? 0]?.action;
      return action?.kind === 'clusterWait' && action.isAligned;
    };
    if (!areTogether(warp, lanes)) {
      forEachLane(lanes, (lane) => {
        if (isAligned(lane)) throw this.apartInCluster(warp, lane);
      });
    }
    this.resources.observer.onClusterPass?.(warp, lanes);
    forEachLane(lanes, (lane) => (warp.pcs[lane] = (warp.pcs[lane] ?? 0) + 1));
  }

  private apartInCluster(warp: Warp, lane: number): LaneFault {
    const fault = new LaneFault(
      'divergentBarrier',
      'lanes of one warp wait for the aligned barrier of the cluster at different instructions',
    );
    fault.lane = lane;
    fault.at = { block: this.block, warp: warp.index, pc: warp.pcs[lane] ?? 0 };
    return fault;
  }

  private waitForWarp(
    members: ((context: WarpContext, lane: number) => number | bigint) | undefined,
    context: WarpContext,
    active: number,
  ): void {
    const warp = context.state;
    if (members === undefined) {
      warp.atGathering |= active;
      return;
    }
    this.forEach(active, (lane) => {
      const mask = Number(members(context, lane)) | 0;
      if (((mask >>> lane) & 1) === 0) {
        throw new LaneFault(
          'divergentBarrier',
          `a lane executes a warp-level operation whose member mask 0x${(mask >>> 0).toString(16)} leaves it out`,
        );
      }
      warp.members[lane] = mask;
      warp.atWarpSync |= 1 << lane;
    });
    this.releaseWarpSync(context);
  }

  /** Runs something for each lane; a fault in it carries the lane. */
  private forEach(lanes: number, visit: (lane: number) => void): void {
    let current = 0;
    try {
      forEachLane(lanes, (lane) => {
        current = lane;
        visit(lane);
      });
    } catch (error) {
      if (error instanceof LaneFault) error.lane = current;
      throw error;
    }
  }

  /** Lets groups of lanes go on whose live members have all come to the same warp-level operation. */
  private releaseWarpSync(context: WarpContext): void {
    const warp = context.state;
    const complete: { readonly lanes: number; readonly pc: number }[] = [];
    for (let rest = warp.atWarpSync; rest !== 0;) {
      const lane = lowestLane(rest);
      const pc = warp.pcs[lane] ?? 0;
      const members = warp.members[lane] ?? 0;
      let waiting = 0;
      forEachLane(warp.atWarpSync, (other) => {
        if (warp.members[other] === members && this.meets(warp.pcs[other] ?? 0, pc)) waiting |= 1 << other;
      });
      rest &= ~waiting;
      if ((members & warp.live & ~waiting) === 0) complete.push({ lanes: waiting, pc });
    }
    for (const { lanes, pc } of complete) {
      if ((warp.atWarpSync & lanes) === 0) continue;
      let group = 0;
      const isOne = this.exchangesAtOnce(pc);
      for (const other of complete) {
        if (other.lanes !== lanes && !(isOne && other.pc === pc)) continue;
        this.resources.observer.onWarpSync?.(warp, pc, other.lanes);
        group |= other.lanes;
      }
      warp.atWarpSync &= ~group;
      this.executeTogether(context, group, pc);
    }
  }

  /** A shuffle is one instruction for all lanes that come to it together, whichever members each of them names. */
  private exchangesAtOnce(pc: number): boolean {
    return isa(this.resources.program.fn.instructions[pc]?.opcode ?? '').watch === 'shuffle';
  }

  /**
   * No lane of the warp can step. Of those that wait at an operation of whichever lanes are there, the ones that are
   * furthest behind in the text go on together, so that lanes from a branch catch up with those that passed it by.
   * @returns whether any did
   */
  gather(warp: Warp): boolean {
    const context = this.contexts[warp.index];
    if (warp.atGathering === 0 || context === undefined) return false;
    let least = Infinity;
    forEachLane(warp.atGathering, (lane) => (least = Math.min(least, warp.pcs[lane] ?? 0)));
    let group = 0;
    forEachLane(warp.atGathering, (lane) => {
      if (warp.pcs[lane] === least) group |= 1 << lane;
    });
    warp.atGathering &= ~group;
    this.executeTogether(context, group, least);
    return true;
  }

  private executeTogether(context: WarpContext, group: number, pc: number): void {
    const action = this.resources.program.steps[pc]?.action;
    this.setPlace(context.warp, pc);
    context.pc = pc;
    if (action?.kind === 'warp') action.operation.execute(context, group);
    const { pcs } = context.state;
    forEachLane(group, (lane) => (pcs[lane] = (pcs[lane] ?? 0) + 1));
  }

  /** Lanes meet at the same instruction; at any two `bar.warp.sync`, since those exchange nothing. */
  private meets(a: number, b: number): boolean {
    const { steps } = this.resources.program;
    const isBarrierAt = (pc: number): boolean => isBarrier(steps[pc]?.instruction.opcode ?? '');
    return a === b || (isBarrierAt(a) && isBarrierAt(b));
  }

  private releaseBarriers(): void {
    for (;;) {
      const id = this.barriers.complete();
      if (id === undefined) return;
      this.open(id);
    }
  }

  private open(id: number): void {
    const isWhole = this.barriers.countOf(id) === undefined;
    const { waiting, result } = this.barriers.open(id);
    this.resources.observer.onBarrierOpen?.(this.block, id, isWhole);
    for (const [index, warp] of this.warps.entries()) {
      const lanes = waiting[index] ?? 0;
      const context = this.contexts[index];
      if (lanes === 0 || context === undefined) continue;
      this.checkAligned(id, warp, lanes);
      forEachLane(lanes, (lane) => {
        const pc = warp.pcs[lane] ?? 0;
        const action = this.resources.program.steps[pc]?.action;
        if (action?.kind === 'barrier' && action.reduction !== undefined) {
          action.reduction.write(context, lane, result(action.form.reduction));
        }
        warp.pcs[lane] = pc + 1;
      });
      warp.atBarrier &= ~lanes;
    }
  }

  private checkAligned(id: number, warp: Warp, lanes: number): void {
    const pc = warp.pcs[lowestLane(lanes)] ?? 0;
    const { steps } = this.resources.program;
    const action = steps[pc]?.action;
    if (action?.kind !== 'barrier' || !action.form.isAligned) return;
    forEachLane(lanes, (lane) => {
      const other = warp.pcs[lane] ?? 0;
      if (other === pc) return;
      this.setPlace(warp.index, pc);
      const message =
        `lanes of one warp wait for barrier ${id} at different instructions, ` +
        `here and at line ${steps[other]?.instruction.line ?? 0}`;
      throw laneFault(new LaneFault('divergentBarrier', message), lanes);
    });
  }

  /** No lane can step, yet some have not exited: they wait for threads that will never come. */
  stuck(): LaneFault {
    const inVain = this.cluster?.waitsInVain();
    if (inVain !== undefined) return this.stuckInCluster(inVain);
    const stray = this.warps.find((warp) => warp.live !== 0 && !this.isTogether(warp));
    const warp = stray ?? this.warps.find(({ live }) => live !== 0);
    if (warp === undefined) return new LaneFault('deadlock', 'no thread can go on');
    const lane = lowestLane(warp.live);
    this.setPlace(warp.index, warp.pcs[lane] ?? 0);
    if (((warp.atBarrier >>> lane) & 1) === 0) {
      return laneFault(
        new LaneFault(
          stray === undefined ? 'deadlock' : 'divergentBarrier',
          'threads wait at a warp-level operation for others that wait elsewhere and will never come',
        ),
        warp.live,
      );
    }
    const id = this.barrierOf[warp.index]?.[lane] ?? 0;
    const count = this.barriers.countOf(id);
    const isDivergent = stray !== undefined || this.warps.every((each) => this.countAt(each) === undefined);
    const whom =
      count === undefined ? 'others that wait elsewhere' : `${count} threads, more than are left to come,`;
    return laneFault(
      new LaneFault(
        isDivergent ? 'divergentBarrier' : 'deadlock',
        `threads wait at barrier ${id} for ${whom} and will never come`.replace(/, and will never come$/, ''),
      ),
      warp.live,
    );
  }

  private stuckInCluster({
    missing,
    ...place
  }: BarrierPlace & { readonly missing: BarrierPlace | undefined }): LaneFault {
    const { steps } = this.resources.program;
    const whom =
      missing === undefined
        ? 'others'
        : `thread ${missing.warp * lanesPerWarp + missing.lane} of block ${missing.block}, which waits at line ` +
          `${steps[missing.pc]?.instruction.line ?? 0} and has not arrived`;
    const fault = new LaneFault('deadlock', `threads wait at the barrier of their cluster for ${whom}`);
    fault.lane = place.lane;
    fault.at = place;
    return fault;
  }

  private isTogether(warp: Warp): boolean {
    return areTogether(warp, warp.live);
  }

  /** Count of the barrier at which a warp waits, when it waits at one that has a count. */
  private countAt(warp: Warp): number | undefined {
    const waiting = warp.atBarrier & warp.live;
    return waiting === 0
      ? undefined
      : this.barriers.countOf(this.barrierOf[warp.index]?.[lowestLane(waiting)] ?? 0);
  }

  get textures(): TextureUnits {
    return this.resources.textures;
  }

  get runtime(): DeviceRuntime {
    return this.resources.runtime;
  }

  tellHeap(
    context: WarpContext,
    lane: number,
    what: 'malloc' | 'free',
    address: number,
    bytes: number,
  ): void {
    this.resources.observer.onHeap?.(context.state, context.pc, lane, what, address, bytes);
  }
}

function laneFault(fault: LaneFault, lanes: number): LaneFault {
  fault.lane = lowestLane(lanes);
  return fault;
}
