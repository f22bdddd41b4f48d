import { GpuError } from '../gpuError.js';
import type { LaunchRecord } from './launchRecord.js';

/**
 * Nothing is due any more: launches that wait do so because the policy holds, and would forever.
 * @throws GpuError `invalidDecision`, naming the policy and the oldest of them
 */
export function refuseHeld(policy: string, launches: Iterable<LaunchRecord>): void {
  for (const { id, kernel, context, phase, residentBlocks, next, lo, hi, savedBlocks } of launches) {
    if (phase !== 'running' || residentBlocks > 0) continue;
    const [what, ask] =
      savedBlocks > 0
        ? [`has ${savedBlocks} blocks saved`, `restore it once view.canRestore(${id})`]
        : [
            `was given ${next - lo} of its ${hi - lo} blocks`,
            `dispatch blocks of it while view.fits(${id}) > 0`,
          ];
    throw new GpuError(
      'invalidDecision',
      `policy '${policy}' holds, and nothing is due after which it would be asked again: launch ${id} ('${kernel}', context ${context}) ` +
        `${what}, and waits; ${ask}, or hold with an untilNs`,
    );
  }
}
