import type { GpuDevice } from '../gpu/index.js';
import type { ContextState, DriverState, PendingCommand } from './driverState.js';
import { conflict, footprintsOf, type Footprint } from './footprint.js';
import { queuedCommand } from './streamCommands.js';
import { waitFor } from './streamOrder.js';

/**
 * Keeps memory of killed launches as it was until they have completed: a launch that is killed reads its inputs again later
 * and leaves its outputs half written, so nothing that touches them may start in between (PICKER, several kernels in flight).
 * Commands that were under way beside a launch before it could be killed keep it from being killed.
 */
export class Hazards {
  constructor(
    private readonly state: DriverState,
    private readonly devices: readonly GpuDevice[],
    /** False: nothing is held, to see what the hold is for. */
    private readonly holdsKilled = true,
  ) {}

  /** A command is about to start. @returns whether it has to wait for a killed launch, which it then does */
  holds(pending: PendingCommand, context: ContextState): boolean {
    const { killed, underWay } = this.state;
    if (!this.holdsKilled || killed.size === 0) return false;
    const own = this.footprints(pending, context);
    let isHeld = false;
    for (const sequence of killed) {
      const victim = underWay.get(sequence);
      if (victim === undefined || !conflict(own, victim)) continue;
      waitFor(this.state, pending, sequence);
      isHeld = true;
    }
    return isHeld;
  }

  /** A command starts. */
  starts(pending: PendingCommand, context: ContextState): void {
    const own = this.footprints(pending, context);
    if (own.length === 0) return;
    const { underWay, killed } = this.state;
    for (const [sequence, other] of underWay) {
      if (killed.has(sequence) || !conflict(own, other)) continue;
      this.keepFromKills(sequence);
      pending.overlaps = true;
      if (pending.judged?.verdict.idempotent === true) {
        const { of } = pending.judged.verdict;
        pending.judged = { ...pending.judged, verdict: { idempotent: false, of, cause: 'overlap' } };
      }
    }
    underWay.set(pending.sequence, own);
  }

  onKilled(sequence: number): void {
    this.state.killed.add(sequence);
  }

  onOver(sequence: number): void {
    this.state.underWay.delete(sequence);
    this.state.killed.delete(sequence);
  }

  private keepFromKills(sequence: number): void {
    const other = this.state.pending.get(sequence);
    if (other !== undefined) other.overlaps = true;
    if (other?.judged?.verdict.idempotent !== true) return;
    const gpu = this.state.contexts.get(other.context)?.gpu;
    if (gpu !== undefined) this.devices[gpu].keepFromKills(sequence);
  }

  private footprints({ command, judged }: PendingCommand, context: ContextState): readonly Footprint[] {
    if (judged !== undefined) return [judged.footprint];
    const freed = command.op === 'freeAsync' ? context.allocations.get(command.args.address) : undefined;
    return footprintsOf(queuedCommand(command), freed);
  }
}
