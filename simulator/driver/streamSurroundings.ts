import type { NodeMemory } from '../executor/index.js';
import type { Agenda, CostLibrary, DeviceProfile, GpuDevice } from '../gpu/index.js';
import type { FaultRecovery } from './faultRecovery.js';
import type { Hazards } from './hazards.js';
import type { LaunchJudge } from './launchJudge.js';
import type { SharedLinks } from './sharedLinks.js';

/** What streams work with; `name` is told of what comes due. */
export interface StreamSurroundings {
  readonly name: string;
  readonly agenda: Agenda;
  readonly links: SharedLinks;
  readonly memory: NodeMemory;
  readonly profiles: readonly DeviceProfile[];
  readonly devices: readonly GpuDevice[];
  readonly costs?: CostLibrary;
  /** There where launches are killed: whether they may be, and what keeps their memory. */
  readonly judge?: LaunchJudge | undefined;
  readonly hazards?: Hazards | undefined;
  /** There where faults strike or are recovered from. */
  readonly recovery?: FaultRecovery | undefined;
}
