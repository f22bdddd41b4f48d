import { checkSlice, giveShare, withinShare, type TurnState } from './dispatch/index.js';
import type { DeviceState } from './deviceState.js';
import type { DeviceProfile } from './profiles/index.js';

/** What each context may have of a device: a share of its SMs, and how long its turns are. */
export class DeviceContexts {
  constructor(
    private readonly profile: DeviceProfile,
    private readonly state: Pick<DeviceState, 'shares' | 'turns'>,
  ) {}

  /**
   * Leaves a context's later launches but a share of the SMs, as MPS does by its percentage of active threads.
   * @throws GpuError `invalidShare`
   */
  giveShare(context: number, percentage: number): void {
    giveShare(this.profile, this.state.shares, context, percentage);
  }

  /** The TPCs that a launch may use, one bit each, of those that it asks for. */
  withinShare(context: number, tpcMask: bigint): bigint {
    return withinShare(this.state.shares, context, tpcMask);
  }

  /** Where contexts take turns: how long this one's are from now on. @throws GpuError `invalidShare` */
  giveSlice(context: number, sliceNs: number): void {
    this.checkSlice(sliceNs).slices.set(context, sliceNs);
  }

  /** @throws GpuError `invalidShare` when a context of this device cannot have such turns */
  checkSlice(sliceNs: number): TurnState {
    return checkSlice(this.state.turns, sliceNs);
  }

  /** A context is gone, and its share and its time slice with it. */
  forget(context: number): void {
    this.state.turns?.slices.delete(context);
    this.state.shares.delete(context);
  }
}
