import type { IrFunction, IrInstruction } from '../../ptx/index.js';
import { FunctionBuilder, type Label } from '../../wasm/index.js';
import { AREA, DRIVER, RECORD, WARP_SIZE, REGION_RESULT } from './area/index.js';
import type { FlowGraph } from './analysis/index.js';
import type { KernelPlan } from './plan/index.js';

/**
 * How the driver comes back when no thread has faulted: every block has ended; lanes of a warp have parted; the barrier
 * at which the block's threads wait is not one that the driver opens.
 */
export const DRIVER_RESULT = { done: 0, parted: 1, barrier: 2 } as const;

/** A barrier of all threads of the block that gives them nothing. */
export function isPlainBarrier({ modifiers, sources }: IrInstruction): boolean {
  return !modifiers.includes('red') && sources.length === 1 && sources[0]?.kind === 'integer';
}

/** Whether the driver can run a kernel's blocks: barriers that count threads are more than it knows. */
export function canDrive({ fn, graph, takesTurns, form }: KernelPlan): boolean {
  if (takesTurns || graph.syncPoints.length === 0 || form.without?.has('blockDriver') === true) return false;
  return barriers(fn, graph).every(
    ({ modifiers, sources }) => sources.length === 1 || (modifiers.includes('red') && sources.length === 2),
  );
}

/**
 * Writes `drive(lo, hi, resumed)`: runs the warps of blocks from wait to wait, opens barriers and goes on to the next
 * block, as the block scheduler does for warps whose lanes stay together. When anything else happens it leaves the
 * block as it stands in the area, at `DRIVER`; a resumed call takes the first block from there, with nobody waiting.
 *
 * @param regions index of each region's function
 * @param phases of regions that have one, index of the function `phase(from, to, lanes)`: it runs one warp after another
 * until a warp comes to another state than the first one, and returns the last state; that warp, and the state of those
 * before it, are in the area
 */
export function driverFunction(
  plan: KernelPlan,
  regions: readonly number[],
  phases: ReadonlyMap<number, number> = new Map(),
): FunctionBuilder {
  return new DriverEmitter(plan, regions, phases).emit();
}

class DriverEmitter {
  private readonly f = new FunctionBuilder(['i32', 'i32', 'i32'], ['i32']);
  private readonly block = 0;
  private readonly end = 1;
  private readonly resumed = 2;
  private readonly warp: number;
  private readonly warps: number;
  /** Living lanes of the last warp when none has ended. */
  private readonly tail: number;
  private readonly alive: number;
  private readonly next: number;
  /** One bit for each warp that waits at a barrier. */
  private readonly waiting: number;
  /** Whether some warp waits where the driver cannot open. */
  private readonly isOdd: number;
  /** Address of the running warp's words in the area. */
  private readonly words: number;
  private readonly state: number;
  /** The state of all warps while all are whole and in one; otherwise -1. */
  private readonly common: number;
  private readonly result: number;

  constructor(
    private readonly plan: Pick<KernelPlan, 'fn' | 'graph'>,
    private readonly regions: readonly number[],
    private readonly phases: ReadonlyMap<number, number>,
  ) {
    const i32 = (): number => this.f.local('i32');
    this.warp = i32();
    this.warps = i32();
    this.tail = i32();
    this.alive = i32();
    this.next = i32();
    this.waiting = i32();
    this.isOdd = i32();
    this.words = i32();
    this.state = i32();
    this.common = i32();
    this.result = i32();
  }

  emit(): FunctionBuilder {
    const f = this.f;
    f.area().memory('i32Load', RECORD.threads).tee(this.next);
    f.i32(WARP_SIZE - 1)
      .op('i32Add')
      .i32(5)
      .op('i32ShrU')
      .set(this.warps);
    f.i32(-1).i32(0).get(this.next).op('i32Sub').i32(31).op('i32And').op('i32ShrU').set(this.tail);
    const blocks = f.loop();
    f.get(this.block).get(this.end).op('i32GeU').if();
    f.i32(DRIVER_RESULT.done).op('return').end();
    f.get(this.resumed).op('i32Eqz').if();
    this.beginBlock();
    f.else();
    this.findCommon();
    f.end().i32(0).set(this.resumed);
    const phase = f.loop();
    f.i32(0).set(this.waiting).i32(0).set(this.isOdd);
    const ended = f.block();
    if (this.phases.size > 0) this.runTogether(phase, ended);
    this.forEachWarp(() => this.runWarp());
    f.get(this.waiting).op('i32Eqz').brIf(ended);
    this.openBarrier();
    this.findCommon();
    f.br(phase).end().end();
    f.get(this.block).i32(1).op('i32Add').set(this.block).br(blocks).end();
    f.op('unreachable');
    return f;
  }

  private beginBlock(): void {
    const f = this.f;
    this.placeBlock();
    f.area().i32(AREA.shared).op('i32Add').i32(0).area().memory('i32Load', RECORD.sharedBytes).memoryFill();
    f.area().area().memory('i64Load', RECORD.fuelPerBlock).memory('i64Store', RECORD.fuel);
    this.forEachWarp(() => {
      f.get(this.words);
      this.pushAllLanes();
      f.memory('i32Store', DRIVER.alive);
      f.get(this.words).i32(0).memory('i32Store', DRIVER.state);
    });
    f.i32(0).i32(-1).get(this.tail).i32(-1).op('i32Eq').op('select').set(this.common);
  }

  /** Sets `common`; nobody waits. */
  private findCommon(): void {
    if (this.phases.size === 0) return;
    const f = this.f;
    f.area().memory('i32Load', DRIVER.state).set(this.common);
    this.forEachWarp(() => {
      f.get(this.common).i32(-1);
      f.get(this.words).memory('i32Load', DRIVER.alive).i32(-1).op('i32Eq');
      f.get(this.words).memory('i32Load', DRIVER.state).get(this.common).op('i32Eq').op('i32And');
      f.op('select').set(this.common);
    });
  }

  /**
   * While all warps are whole and in one state, a phase takes all of them to the next. What it leaves when they are not
   * any more is for the warps one by one. @param ended label of the block's end
   */
  private runTogether(phase: Label, ended: Label): void {
    const f = this.f;
    const last = this.state;
    const apart = f.block();
    const spreads = f.block();
    const lone = f.block();
    this.callPhase(lone, apart);
    f.get(this.result).i32(REGION_RESULT.mixed).op('i32LtS');
    f.area().memory('i32Load', DRIVER.phaseState).get(this.result).op('i32Eq').op('i32And');
    f.if();
    f.get(this.result).i32(0).op('i32LtS').brIf(ended);
    const odd = f.block();
    const goesOn = f.block();
    this.bySync(this.result, goesOn, goesOn, odd);
    f.end().get(this.result).set(this.common).br(phase).end().end();
    f.area().memory('i32Load', DRIVER.phaseWarp).set(last).br(spreads).end();
    f.i32(-1).set(last).end();
    this.spread(last);
    f.end();
  }

  /**
   * result = the phase of state `common`, called for all warps.
   * @param lone label for states without one. @param apart label for when there is no such state
   */
  private callPhase(lone: Label, apart: Label): void {
    const f = this.f;
    const called = f.block();
    const ordered = [...this.phases].sort(([a], [b]) => a - b);
    const labels = new Map(ordered.map(([region]) => [region, f.block()]));
    f.get(this.common).brTable([...this.regions.map((_, region) => labels.get(region) ?? lone), apart]);
    for (const [, index] of ordered.reverse()) {
      f.end().i32(0).get(this.warps).i32(-1).call(index).set(this.result).br(called);
    }
    f.end();
  }

  /**
   * The warps have come to different states: writes each one's, and who waits.
   * @param last local with the last warp that has run, or -1
   */
  private spread(last: number): void {
    const f = this.f;
    this.forEachWarp(() => {
      f.get(this.words).i32(-1).memory('i32Store', DRIVER.alive);
      f.get(this.words).get(this.common).memory('i32Store', DRIVER.state);
    });
    this.forEachWarp(() => {
      const written = f.block();
      f.get(this.warp).get(last).op('i32GtS').brIf(written);
      f.area().memory('i32Load', DRIVER.phaseState).get(this.result);
      f.get(this.warp).get(last).op('i32LtU').op('select').set(this.next);
      this.takeResult(written, written);
      f.end();
    });
    f.i32(-1).set(this.common);
  }

  private placeBlock(): void {
    const f = this.f;
    const rest = this.next;
    const extent = (axis: number): FunctionBuilder => f.area().memory('i32Load', RECORD.nctaid + 4 * axis);
    f.area().get(this.block);
    extent(0).op('i32RemU').memory('i32Store', RECORD.ctaid);
    f.get(this.block);
    extent(0).op('i32DivU').set(rest).area().get(rest);
    extent(1)
      .op('i32RemU')
      .memory('i32Store', RECORD.ctaid + 4);
    f.area().get(rest);
    extent(1)
      .op('i32DivU')
      .memory('i32Store', RECORD.ctaid + 8);
  }

  /** Runs a warp until all its lanes wait at a barrier of the block or have ended. */
  private runWarp(): void {
    const f = this.f;
    const rests = f.block();
    f.get(this.words).memory('i32Load', DRIVER.alive).tee(this.alive).op('i32Eqz').brIf(rests);
    f.get(this.waiting).get(this.warp).op('i32ShrU').i32(1).op('i32And').brIf(rests);
    f.get(this.words).memory('i32Load', DRIVER.state).set(this.next);
    const again = f.loop();
    this.callRegion();
    this.takeResult(again, rests);
    f.end().end();
  }

  /** The warp has come to state `next`, has ended, or is to be left. */
  private takeResult(again: Label, rests: Label): void {
    const f = this.f;
    f.get(this.next).i32(0).op('i32LtS').if();
    f.get(this.words).i32(0).memory('i32Store', DRIVER.alive).br(rests).end();
    f.get(this.next).i32(REGION_RESULT.mixed).op('i32GeS').if();
    this.leave(() => {
      f.get(this.next)
        .i32(DRIVER_RESULT.parted)
        .get(this.next)
        .i32(REGION_RESULT.fault)
        .op('i32Eq')
        .op('select');
    });
    f.end();
    f.get(this.words).get(this.next).memory('i32Store', DRIVER.state);
    const odd = f.block();
    const plain = f.block();
    this.bySync(this.next, again, plain, odd);
    f.end();
    this.addWaiting();
    f.br(rests).end();
    this.addWaiting();
    f.i32(1).set(this.isOdd).br(rests);
  }

  /** next = the function of region `next`, called. */
  private callRegion(): void {
    const f = this.f;
    const called = f.block();
    const none = f.block();
    const labels = this.regions.map(() => f.block()).reverse();
    f.get(this.next).brTable([...labels, none]);
    for (const index of this.regions) {
      f.end();
      f.get(this.warp).get(this.alive).call(index).set(this.next).br(called);
    }
    f.end().op('unreachable').end();
  }

  /** By where a state waits: for nobody, at a plain barrier, or at another one. */
  private bySync(state: number, again: Label, plain: Label, odd: Label): void {
    const { graph, fn } = this.plan;
    const labels = graph.syncPoints.map(({ scope, instruction }) => {
      if (scope !== 'block') return again;
      const waits = fn.instructions[instruction];
      return waits !== undefined && isPlainBarrier(waits) ? plain : odd;
    });
    this.f.get(state).brTable([again, ...labels, again]);
  }

  private addWaiting(): void {
    this.f.get(this.waiting).i32(1).get(this.warp).op('i32Shl').op('i32Or').set(this.waiting);
  }

  /** Lets all warps go on if they wait at one plain barrier with all their lanes; leaves otherwise. */
  private openBarrier(): void {
    const f = this.f;
    const opens = f.block();
    const stays = f.block();
    f.get(this.isOdd).brIf(stays);
    const compares = !this.haveOneNumber();
    f.i32(-1).set(this.state);
    this.forEachWarp(() => {
      const skipped = f.block();
      f.get(this.words).memory('i32Load', DRIVER.alive).tee(this.alive).op('i32Eqz').brIf(skipped);
      f.get(this.alive);
      this.pushAllLanes();
      f.op('i32Ne').brIf(stays);
      if (compares) {
        f.get(this.words).memory('i32Load', DRIVER.state).set(this.next);
        f.get(this.state)
          .i32(0)
          .op('i32GeS')
          .get(this.state)
          .get(this.next)
          .op('i32Ne')
          .op('i32And')
          .brIf(stays);
        f.get(this.next).set(this.state);
      }
      f.end();
    });
    f.br(opens).end();
    this.leave(() => f.i32(DRIVER_RESULT.barrier));
    f.end();
  }

  /** Whether all plain barriers are the same one, so that warps may wait at different instructions. */
  private haveOneNumber(): boolean {
    const numbers = barriers(this.plan.fn, this.plan.graph)
      .filter(isPlainBarrier)
      .map(({ sources: [number] }) => (number?.kind === 'integer' ? number.low : -1));
    return numbers.every((number) => number === numbers[0] && number >= 0 && number < BARRIERS);
  }

  private leave(pushResult: () => void): void {
    const f = this.f;
    f.area().get(this.block).memory('i32Store', DRIVER.block);
    f.area().get(this.waiting).memory('i32Store', DRIVER.waiting);
    f.area().get(this.warp).memory('i32Store', DRIVER.warp);
    pushResult();
    f.op('return');
  }

  private pushAllLanes(): void {
    const f = this.f;
    f.get(this.tail).i32(-1).get(this.warp).i32(1).op('i32Add').get(this.warps).op('i32Eq').op('select');
  }

  private forEachWarp(body: () => void): void {
    const f = this.f;
    f.i32(0).set(this.warp).area().set(this.words);
    const again = f.loop();
    body();
    f.get(this.words).i32(4).op('i32Add').set(this.words);
    f.get(this.warp).i32(1).op('i32Add').tee(this.warp).get(this.warps).op('i32LtU').brIf(again).end();
  }
}

/** Barriers that a block has. */
const BARRIERS = 16;

function barriers(fn: IrFunction, graph: FlowGraph): IrInstruction[] {
  return graph.syncPoints
    .filter(({ scope }) => scope === 'block')
    .flatMap(({ instruction }) => fn.instructions[instruction] ?? []);
}
