import type { ReplicaRange } from '../../registry/index.js';

export interface AutoscalingSettings {
  /** Share of what its replicas can do that a version's load is to be. */
  readonly targetUtilisation: number;
  /** A load above its target by less than this share changes nothing. */
  readonly tolerance: number;
  /** Time between two looks. */
  readonly intervalNs: number;
  /** Time from any change to more replicas. */
  readonly upCoolDownNs: number;
  /** Time from any change to fewer replicas, and for how long fewer must have been enough. */
  readonly downCoolDownNs: number;
}

export const DEFAULT_AUTOSCALING: AutoscalingSettings = {
  targetUtilisation: 0.7,
  tolerance: 0.1,
  intervalNs: 5e9,
  upCoolDownNs: 15e9,
  downCoolDownNs: 120e9,
};

/**
 * How many replicas a version should have, by its load in replicas' worth of work. More at once when they are short; fewer
 * only once fewer have been enough for a whole cool-down, so that a load that comes and goes changes nothing.
 */
export class ScaleDecision {
  /** What was left by the last decision; another number now is somebody else's change. */
  private replicas: number;
  private changedNs: number;
  /** Numbers that would have been enough, of the last cool-down. */
  private readonly enough: { readonly timeNs: number; readonly replicas: number }[] = [];

  constructor(
    private readonly settings: AutoscalingSettings,
    replicas: number,
    nowNs: number,
  ) {
    this.replicas = replicas;
    this.changedNs = nowNs;
  }

  /** @param replicas that are to run now, starting ones included. @returns that are to run from now on. */
  decide(load: number, replicas: number, range: ReplicaRange, nowNs: number): number {
    const { targetUtilisation, tolerance, upCoolDownNs, downCoolDownNs } = this.settings;
    if (replicas !== this.replicas) this.note(replicas, nowNs);
    const needed = within(range, Math.ceil(load / targetUtilisation));
    this.remember(needed, nowNs);
    const sinceNs = nowNs - this.changedNs;
    if (replicas < range.minimum || replicas > range.maximum)
      return this.note(within(range, replicas), nowNs);
    const isShort = load > replicas * targetUtilisation * (1 + tolerance);
    if (needed > replicas && isShort && sinceNs >= upCoolDownNs) return this.note(needed, nowNs);
    const enough = this.enough.reduce((most, one) => Math.max(most, one.replicas), range.minimum);
    if (enough < replicas && sinceNs >= downCoolDownNs) return this.note(enough, nowNs);
    return replicas;
  }

  private note(replicas: number, nowNs: number): number {
    this.replicas = replicas;
    this.changedNs = nowNs;
    return replicas;
  }

  private remember(replicas: number, nowNs: number): void {
    const { enough } = this;
    enough.push({ timeNs: nowNs, replicas });
    while (enough[0].timeNs <= nowNs - this.settings.downCoolDownNs) enough.shift();
  }
}

function within({ minimum, maximum }: ReplicaRange, replicas: number): number {
  return Math.min(Math.max(replicas, minimum), maximum);
}
