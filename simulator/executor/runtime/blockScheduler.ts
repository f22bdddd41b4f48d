import { ENTRY_STATE, REGION_RESULT, WARP_SIZE, type SyncPoint } from '../compiler/index.js';
import type { ExecutorLaunch, KernelFault } from '../types.js';
import { makeFault, readFault } from './faults.js';
import type { ReadyKernel } from './kernelCache.js';
import type { LaunchArea } from './launchArea.js';

/**
 * Runs the warps of one block of a kernel whose threads wait for one another. A warp runs until all its lanes wait at a
 * block barrier or have ended; then the barrier opens when every living thread of the block waits at the same one.
 *
 * Most warps stay together: then one call runs all lanes from one wait to the next. Lanes that part are met again by
 * the member masks of their instructions.
 */
export class BlockScheduler {
  /** Lanes of each warp that have not ended. */
  private readonly alive: Int32Array;
  /** The state that all living lanes of each warp share. */
  private readonly state: Int32Array;
  private readonly warps: number;
  private readonly threads: number;
  private fault: KernelFault | undefined;

  constructor(
    private readonly area: LaunchArea,
    private readonly launch: ExecutorLaunch,
    private readonly kernel: ReadyKernel,
  ) {
    const [x, y, z] = launch.shape.block;
    this.threads = x * y * z;
    this.warps = Math.ceil(this.threads / WARP_SIZE);
    this.alive = new Int32Array(this.warps);
    this.state = new Int32Array(this.warps);
  }

  /** @returns the fault that ended the block, or undefined when every thread has ended. */
  run(): KernelFault | undefined {
    this.fault = undefined;
    for (let warp = 0; warp < this.warps; warp++) {
      const lanes = Math.min(WARP_SIZE, this.threads - warp * WARP_SIZE);
      this.alive[warp] = lanes === WARP_SIZE ? -1 : (1 << lanes) - 1;
      this.state[warp] = ENTRY_STATE;
    }
    for (;;) {
      for (let warp = 0; warp < this.warps; warp++) {
        if (this.alive[warp] !== 0 && !this.advance(warp)) return this.fault;
      }
      if (this.alive.every((lanes) => lanes === 0)) return undefined;
      if (!this.barrierOpens()) return this.fault;
    }
  }

  /** Runs a warp to its next block barrier or its end. @returns false after a fault. */
  private advance(warp: number): boolean {
    const alive = this.alive[warp] ?? 0;
    let state = this.state[warp] ?? 0;
    for (;;) {
      const next = this.kernel.regions[state]?.(warp, alive) ?? REGION_RESULT.fault;
      if (next === REGION_RESULT.fault) return this.fail(readFault(this.area, this.launch));
      if (next === REGION_RESULT.mixed) return this.advanceMixed(warp);
      if (next < 0) {
        this.alive[warp] = 0;
        return true;
      }
      state = next;
      if (this.point(state)?.scope === 'block') {
        this.state[warp] = state;
        return true;
      }
    }
  }

  /** Lanes have parted: runs whichever group has all its members, until none is left to run. */
  private advanceMixed(warp: number): boolean {
    for (;;) {
      const waiting = this.waitingLanes(warp);
      this.alive[warp] = waiting.reduce((mask, { lane }) => mask | (1 << lane), 0);
      if (waiting.length === 0) return true;
      const group = this.readyGroup(warp, waiting);
      if (group === undefined) return this.settle(warp, waiting);
      const next = this.kernel.regions[group.state]?.(warp, group.mask) ?? REGION_RESULT.fault;
      if (next === REGION_RESULT.fault) return this.fail(readFault(this.area, this.launch));
    }
  }

  private waitingLanes(warp: number): { lane: number; state: number }[] {
    const waiting: { lane: number; state: number }[] = [];
    const alive = this.alive[warp] ?? 0;
    for (let lane = 0; lane < WARP_SIZE; lane++) {
      if (((alive >>> lane) & 1) === 0) continue;
      const state = this.area.state(warp * WARP_SIZE + lane);
      if (state >= 0) waiting.push({ lane, state });
    }
    return waiting;
  }

  /** The first group of lanes at one warp operation that lacks no living member. */
  private readyGroup(
    warp: number,
    waiting: readonly { lane: number; state: number }[],
  ): { state: number; mask: number } | undefined {
    const alive = this.alive[warp] ?? 0;
    let opportunistic: { state: number; mask: number } | undefined;
    for (const { lane, state } of waiting) {
      const point = this.point(state);
      if (point?.scope !== 'warp') continue;
      const here = waiting.reduce(
        (mask, other) => (other.state === state ? mask | (1 << other.lane) : mask),
        0,
      );
      const members = this.memberMask(point, warp * WARP_SIZE + lane);
      if (members === undefined) {
        opportunistic ??= { state, mask: here };
        continue;
      }
      const needed = (members | (1 << lane)) & alive;
      if ((needed & ~here) === 0) return { state, mask: needed };
    }
    return opportunistic;
  }

  /** Nothing can run inside the warp: all its lanes must wait at one block barrier. */
  private settle(warp: number, waiting: readonly { lane: number; state: number }[]): boolean {
    const first = waiting[0];
    if (first === undefined) return true;
    const stray = waiting.find(({ state }) => state !== first.state);
    if (stray === undefined && this.point(first.state)?.scope === 'block') {
      this.state[warp] = first.state;
      return true;
    }
    const at = this.point(first.state)?.instruction ?? 0;
    const other = this.launch.kernel.instructions[this.point(stray?.state ?? first.state)?.instruction ?? 0];
    const detail = `lane ${first.lane} waits here, lane ${stray?.lane ?? first.lane} at line ${other?.line ?? 0}`;
    return this.fail(this.divergence(at, warp * WARP_SIZE + first.lane, detail));
  }

  /** Whether all living threads wait at barriers of the same number. @returns false after a fault. */
  private barrierOpens(): boolean {
    let number: number | undefined;
    for (let warp = 0; warp < this.warps; warp++) {
      const alive = this.alive[warp] ?? 0;
      if (alive === 0) continue;
      const point = this.point(this.state[warp] ?? 0);
      if (point === undefined) continue;
      const skipped = this.skippedLane(warp, point);
      const lane = 31 - Math.clz32(alive & -alive);
      if (skipped !== undefined) {
        const detail = `lane ${lane} waits here, lane ${skipped} went on without it and ended`;
        return this.fail(this.divergence(point.instruction, warp * WARP_SIZE + lane, detail));
      }
      const mine = this.barrierNumber(point, warp * WARP_SIZE + lane);
      number ??= mine;
      if (mine !== number) {
        const detail = `warp ${warp} waits at barrier ${mine}, others at barrier ${number}`;
        return this.fail(this.divergence(point.instruction, warp * WARP_SIZE + lane, detail));
      }
    }
    return true;
  }

  /**
   * A lane that ended in code behind the barrier which its warp waits at has skipped it. One that only returned (an early
   * exit) leaves the barrier to the others, as the hardware has it.
   */
  private skippedLane(warp: number, point: SyncPoint): number | undefined {
    const alive = this.alive[warp] ?? 0;
    if (alive === -1) return undefined;
    const lanes = Math.min(WARP_SIZE, this.threads - warp * WARP_SIZE);
    for (let lane = 0; lane < lanes; lane++) {
      if (((alive >>> lane) & 1) === 1) continue;
      const end = -1 - this.area.state(warp * WARP_SIZE + lane);
      if (this.kernel.compiled.skips(point.index, end)) return lane;
    }
    return undefined;
  }

  private divergence(instruction: number, thread: number, detail: string): KernelFault {
    return makeFault(this.area, this.launch, 'divergentBarrier', instruction, thread, undefined, detail);
  }

  private fail(fault: KernelFault): false {
    this.fault = fault;
    return false;
  }

  private point(state: number): SyncPoint | undefined {
    return this.kernel.compiled.syncPoints[state - 1];
  }

  /** Lanes that must meet at a warp operation; undefined for `activemask`, which takes whoever is there. */
  private memberMask(point: SyncPoint, thread: number): number | undefined {
    const instruction = this.launch.kernel.instructions[point.instruction];
    if (instruction === undefined || instruction.opcode === 'activemask') return undefined;
    return this.operandValue(instruction.sources.at(-1), thread);
  }

  private barrierNumber(point: SyncPoint, thread: number): number {
    return this.operandValue(this.launch.kernel.instructions[point.instruction]?.sources[0], thread);
  }

  private operandValue(
    operand: { kind: string; low?: number; register?: number } | undefined,
    thread: number,
  ): number {
    if (operand?.kind === 'integer') return operand.low ?? 0;
    const slot = this.kernel.compiled.slotOf.get(operand?.register ?? -1);
    return slot === undefined ? 0 : this.area.keptRegister(this.kernel.compiled, thread, slot);
  }
}
