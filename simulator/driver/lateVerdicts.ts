import type { GpuDevice } from '../gpu/index.js';
import type { ContextTable } from './contextTable.js';
import type { DriverState } from './driverState.js';
import type { LaunchJudge } from './launchJudge.js';

/**
 * An analysis has arrived: launches that were submitted before it are judged by it, those that run among them. One may be killed from
 * now on if nothing that touches memory of its context was under way beside it: as long as nothing was known, it might have touched
 * any byte, so that all of that was noted as an overlap. Its stores have been kept from its first block on. What faults strike stays
 * as it was planned.
 */
export function judgeAgain(
  state: DriverState,
  contexts: ContextTable,
  devices: readonly GpuDevice[],
  judge: LaunchJudge,
): void {
  for (const pending of state.pending.values()) {
    const { command, judged, phase, sequence } = pending;
    if (command.op !== 'launch' || judged?.verdict.cause !== 'pending') continue;
    if (pending.saves !== undefined || pending.recovery !== undefined) continue;
    const context = contexts.find(pending.context);
    const found = context === undefined ? undefined : judge.judge(command, context);
    if (context === undefined || found === undefined || found.verdict.cause === 'pending') continue;
    const { verdict, footprint } = found;
    pending.judged = { verdict, footprint };
    if (phase !== 'running') continue;
    state.underWay.set(sequence, [footprint]);
    if (pending.overlaps === true) {
      pending.judged = { verdict: { idempotent: false, of: verdict.of, cause: 'overlap' }, footprint };
    }
    devices[context.gpu].giveVerdict(sequence, pending.judged.verdict);
  }
}
