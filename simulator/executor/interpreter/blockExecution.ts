import type { Dim3, ExecutionCounters } from '../types.js';
import { LaneFault } from './faults.js';
import type { AccessKind, MemoryContext } from './laneInstructions.js';
import type { GlobalMemory, Location, ResolvedSpace } from './memorySpaces.js';
import { OffsetMemory } from './memorySpaces.js';
import type { InterpreterObserver } from './observer.js';
import type { BlockIdentity } from './operands.js';
import type { Program, ProgramStep } from './program.js';
import { lanesPerWarp } from './registerFile.js';
import { forEachLane, lowestLane, Warp } from './warp.js';
import { laneCount } from './warpOperations.js';

/** Where a fault happened, beside what it is. */
export interface FaultPlace {
  readonly warp: number;
  readonly pc: number;
}

export interface BlockResources {
  readonly program: Program;
  readonly global: GlobalMemory;
  readonly params: Uint8Array;
  readonly counters: ExecutionCounters;
  readonly observer: InterpreterObserver;
  /** Thread-instructions that the block may execute. */
  readonly fuel: number;
}

class WarpContext implements MemoryContext {
  active = 0;
  pc = 0;

  constructor(
    private readonly execution: BlockExecution,
    readonly state: Warp,
  ) {}

  get registers() {
    return this.state.registers;
  }

  get warp(): number {
    return this.state.index;
  }

  get identity(): BlockIdentity {
    return this.execution.identity;
  }

  locate(lane: number, space: ResolvedSpace, address: number, bytes: number, kind: AccessKind): Location {
    return this.execution.locate(this, lane, space, address, bytes, kind);
  }
}

/**
 * One thread block in execution. `step` executes one instruction for lanes of a warp that stand at it; which lanes step
 * when is the caller's choice.
 */
export class BlockExecution {
  readonly warps: readonly Warp[];
  private readonly contexts: readonly WarpContext[];
  private readonly shared: OffsetMemory;
  private readonly params: OffsetMemory;
  private readonly locals: (OffsetMemory | undefined)[];
  /** Barrier that each waiting lane of each warp waits at. */
  private readonly barrierOf: readonly Int32Array[];
  private executed = 0;
  private place: FaultPlace = { warp: 0, pc: 0 };

  constructor(
    private readonly resources: BlockResources,
    readonly identity: BlockIdentity,
  ) {
    const threads = identity.block[0] * identity.block[1] * identity.block[2];
    const registers = resources.program.fn.registers.length;
    this.warps = Array.from(
      { length: identity.warps },
      (_, index) => new Warp(index, Math.min(lanesPerWarp, threads - index * lanesPerWarp), registers),
    );
    this.contexts = this.warps.map((warp) => new WarpContext(this, warp));
    this.barrierOf = this.warps.map(() => new Int32Array(lanesPerWarp));
    this.shared = new OffsetMemory('shared', new Uint8Array(resources.program.sharedBytes));
    this.params = new OffsetMemory('param', resources.params);
    this.locals = new Array<OffsetMemory | undefined>(identity.warps * lanesPerWarp);
  }

  /** Where the last step was, for the report of a fault. */
  get lastPlace(): FaultPlace {
    return this.place;
  }

  get isDone(): boolean {
    return this.warps.every((warp) => warp.live === 0);
  }

  /**
   * Executes instruction `pc` for lanes that stand at it and are ready, and moves each lane's pc.
   * @throws LaneFault
   */
  step(warp: Warp, lanes: number, pc: number): void {
    const step = this.resources.program.steps[pc];
    const context = this.contexts[warp.index];
    if (step === undefined || context === undefined) throw new RangeError(`no instruction ${pc}`);
    this.place = { warp: warp.index, pc };
    const active = step.guard === undefined ? lanes : this.guarded(step, warp, lanes);
    this.count(step, lanes);
    context.active = active;
    context.pc = pc;
    this.resources.observer.onStep?.(warp, pc, lanes, active);
    const passing = lanes & ~active;
    forEachLane(passing, (lane) => (warp.pcs[lane] = pc + 1));
    if (active !== 0) this.act(step, context, active, pc, passing);
  }

  private guarded(step: ProgramStep, warp: Warp, lanes: number): number {
    const { guard } = step;
    if (guard === undefined) return lanes;
    let active = 0;
    forEachLane(lanes, (lane) => {
      if (warp.registers.predicate(guard.register, lane) !== guard.negated) active |= 1 << lane;
    });
    return active;
  }

  private count(step: ProgramStep, lanes: number): void {
    const { counters, fuel } = this.resources;
    const threads = laneCount(lanes);
    this.executed += threads;
    if (this.executed > fuel) {
      throw new LaneFault('fuelExhausted', `the block used up its fuel of ${fuel} thread-instructions`);
    }
    counters.threadInstructions += threads;
    counters.warpInstructions++;
    counters.byClass[step.class]++;
  }

  private act(step: ProgramStep, context: WarpContext, active: number, pc: number, passing: number): void {
    const warp = context.state;
    const { action } = step;
    switch (action.kind) {
      case 'lanes':
      case 'activeMask':
        this.forEach(active, (lane) => {
          action.effect(context, lane);
          warp.pcs[lane] = pc + 1;
        });
        break;
      case 'nothing':
        forEachLane(active, (lane) => (warp.pcs[lane] = pc + 1));
        break;
      case 'branch':
        forEachLane(active, (lane) => (warp.pcs[lane] = action.target));
        if (passing !== 0 && action.target !== pc + 1) this.resources.observer.onDivergence?.(warp, pc);
        break;
      case 'exit':
        warp.live &= ~active;
        this.releaseWarpSync(context);
        this.releaseBarriers();
        break;
      case 'trap':
        throw laneFault(new LaneFault('trap', 'the kernel executed trap'), active);
      case 'unsupported':
        throw laneFault(new LaneFault('unsupportedInstruction', action.reason), active);
      case 'barrier':
        this.forEach(active, (lane) => {
          warp.atBarrier |= 1 << lane;
          const ids = this.barrierOf[warp.index];
          if (ids !== undefined) ids[lane] = Number(action.id(context, lane));
        });
        this.releaseBarriers();
        break;
      case 'warp':
        this.forEach(active, (lane) => {
          const members = Number(action.operation.members(context, lane));
          if (((members >>> lane) & 1) === 0) {
            throw new LaneFault(
              'divergentBarrier',
              `a lane executes a warp-level operation whose member mask 0x${(members >>> 0).toString(16)} leaves it out`,
            );
          }
          warp.members[lane] = members;
          warp.atWarpSync |= 1 << lane;
        });
        this.releaseWarpSync(context);
        break;
    }
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
    for (let rest = warp.atWarpSync; rest !== 0;) {
      const lane = lowestLane(rest);
      const pc = warp.pcs[lane] ?? 0;
      const members = warp.members[lane] ?? 0;
      let waiting = 0;
      forEachLane(warp.atWarpSync, (other) => {
        if (warp.members[other] === members && this.meets(warp.pcs[other] ?? 0, pc)) waiting |= 1 << other;
      });
      rest &= ~waiting;
      if ((members & warp.live & ~waiting) !== 0) continue;
      const action = this.resources.program.steps[pc]?.action;
      if (action?.kind === 'warp') action.operation.execute(context, waiting);
      warp.atWarpSync &= ~waiting;
      forEachLane(waiting, (each) => (warp.pcs[each] = (warp.pcs[each] ?? 0) + 1));
    }
  }

  /** Lanes meet at the same instruction; at any two `bar.warp.sync`, since those exchange nothing. */
  private meets(a: number, b: number): boolean {
    const { steps } = this.resources.program;
    return a === b || (steps[a]?.instruction.opcode === 'bar' && steps[b]?.instruction.opcode === 'bar');
  }

  /** Opens every barrier at which all live threads of the block wait. */
  private releaseBarriers(): void {
    let live = 0;
    const arrived = new Map<number, number>();
    for (const warp of this.warps) {
      live += laneCount(warp.live);
      forEachLane(warp.atBarrier & warp.live, (lane) => {
        const id = this.barrierOf[warp.index]?.[lane] ?? 0;
        arrived.set(id, (arrived.get(id) ?? 0) + 1);
      });
    }
    for (const [id, count] of arrived) if (count === live) this.open(id);
  }

  private open(id: number): void {
    for (const warp of this.warps) {
      const waiting = warp.atBarrier;
      if (waiting === 0) continue;
      const pc = warp.pcs[lowestLane(waiting)] ?? 0;
      forEachLane(waiting, (lane) => {
        if (warp.pcs[lane] !== pc && this.isAligned(pc)) {
          this.place = { warp: warp.index, pc };
          const line = this.resources.program.steps[warp.pcs[lane] ?? 0]?.instruction.line;
          throw laneFault(
            new LaneFault(
              'divergentBarrier',
              `lanes of one warp wait for barrier ${id} at different instructions, here and at line ${line}`,
            ),
            waiting,
          );
        }
      });
      forEachLane(waiting, (lane) => (warp.pcs[lane] = (warp.pcs[lane] ?? 0) + 1));
      warp.atBarrier = 0;
    }
  }

  private isAligned(pc: number): boolean {
    const action = this.resources.program.steps[pc]?.action;
    return action?.kind === 'barrier' && action.isAligned;
  }

  /** No lane can step, yet some have not exited: they wait for threads that will never come. */
  stuck(): LaneFault {
    for (const warp of this.warps) {
      const waiting = (warp.atBarrier | warp.atWarpSync) & warp.live;
      if (waiting === 0) continue;
      const lane = lowestLane(waiting);
      this.place = { warp: warp.index, pc: warp.pcs[lane] ?? 0 };
      const what = (warp.atBarrier & waiting) === 0 ? 'a warp-level operation' : 'a barrier';
      return laneFault(
        new LaneFault(
          'divergentBarrier',
          `threads wait at ${what} for others that wait elsewhere and will never come`,
        ),
        waiting,
      );
    }
    return new LaneFault('divergentBarrier', 'no thread can go on');
  }

  /** Checks one lane's access and finds its bytes. */
  locate(
    context: WarpContext,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
  ): Location {
    const { counters, observer } = this.resources;
    const location = this.memoryOf(context, lane, space, address, bytes, kind);
    observer.onAccess?.(context.state, context.pc, lane, space, address, bytes, kind);
    if (space === 'shared') counters.sharedBytes += bytes;
    else if (space === 'global') {
      if (kind !== 'store') counters.globalLoadBytes += bytes;
      if (kind !== 'load') counters.globalStoreBytes += bytes;
    }
    return location;
  }

  private memoryOf(
    context: WarpContext,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
  ): Location {
    switch (space) {
      case 'global':
        return this.resources.global.locate(address, bytes, kind !== 'load');
      case 'shared':
        return this.shared.locate(address, bytes);
      case 'param':
        return this.params.locate(address, bytes);
      case 'local': {
        const thread = context.warp * lanesPerWarp + lane;
        const memory =
          this.locals[thread] ?? new OffsetMemory('local', new Uint8Array(this.resources.program.localBytes));
        this.locals[thread] = memory;
        return memory.locate(address, bytes);
      }
    }
  }
}

function laneFault(fault: LaneFault, lanes: number): LaneFault {
  fault.lane = lowestLane(lanes);
  return fault;
}

export function blockIndexOf(grid: Dim3, linear: number): Dim3 {
  return [linear % grid[0], Math.floor(linear / grid[0]) % grid[1], Math.floor(linear / (grid[0] * grid[1]))];
}
