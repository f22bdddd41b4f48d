import {
  emptyEngine,
  emptyPreemption,
  emptySmUse,
  emptyTurns,
  type ContextShares,
  type EngineState,
  type KeptProfiles,
  type LaunchRecord,
  type PreemptionState,
  type SmUse,
  type TurnState,
} from './dispatch/index.js';
import { emptyPower, type PowerState } from './power/index.js';
import type { DeviceProfile } from './profiles/index.js';
import type { L2State } from './timing/index.js';

/** Contexts side by side, as of one process or under MPS, or one at a time, as of several processes without it. */
export type ContextSharing = 'shared' | 'timeSliced';

/** All of a device's state; plain data. */
export interface DeviceState {
  readonly launches: Map<number, LaunchRecord>;
  readonly use: SmUse;
  readonly engine: EngineState;
  readonly l2: L2State;
  readonly profiles: KeptProfiles;
  readonly power: PowerState;
  nextLaunch: number;
  /** There when the card runs one context at a time. */
  readonly turns: TurnState | undefined;
  readonly preemption: PreemptionState;
  readonly shares: ContextShares;
  /** See `warmNextLaunch`. */
  warmNext: boolean;
  /** Agenda entry of the tentative next completion. */
  armed: number | undefined;
  policy: unknown;
}

export function emptyDevice(
  profile: DeviceProfile,
  nowNs: number,
  sharing: ContextSharing = 'shared',
): DeviceState {
  return {
    launches: new Map(),
    use: emptySmUse(profile.sms),
    engine: emptyEngine(profile, nowNs),
    l2: { entries: [] },
    profiles: new Map(),
    power: emptyPower(profile, nowNs),
    nextLaunch: 1,
    turns: sharing === 'timeSliced' ? emptyTurns() : undefined,
    preemption: emptyPreemption(),
    shares: new Map(),
    warmNext: false,
    armed: undefined,
    policy: undefined,
  };
}
