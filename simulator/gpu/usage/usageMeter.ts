import type { EngineState, LaunchRecord, ParkedBlocks, ResidentGroup } from '../dispatch/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES } from '../timing/index.js';
import type { DeviceUsage } from './deviceUsage.js';

/** Stands for all contexts that are gone: handles begin at 1. */
const GONE = 0;

/**
 * Adds up what a device does. That SMs are busy is counted between the moments at which the device settles, since
 * residency changes at those alone; what blocks are is counted when they leave, and of resident ones when somebody asks.
 * Launches pay little for it, and nothing that is simulated depends on it: it is no part of the device's state.
 */
export class UsageMeter {
  private asOfNs: number;
  private smCycles = 0;
  private busyNs = 0;
  private smBusyNs = 0;
  private blocks = 0;
  private readonly sm = SM_RESOURCES.map(() => 0);
  private readonly device = DEVICE_RESOURCES.map(() => 0);
  /** By context, of blocks that have left; contexts that are not known any more among them. */
  private readonly warpNs = new Map<number, number>();
  /** Of blocks of the launch of which some left last, not in `warpNs` yet: mostly more of it follow. */
  private latest = { launch: 0, context: GONE, warpNs: 0 };

  constructor(
    private readonly launches: ReadonlyMap<number, LaunchRecord>,
    private readonly fromNs: number,
  ) {
    this.asOfNs = fromNs;
  }

  /** @param engine as it was since the last call; @param busySms SMs that held a block */
  advance(nowNs: number, { clockHz, groups }: EngineState, busySms: number): void {
    const elapsedNs = nowNs - this.asOfNs;
    if (elapsedNs <= 0) return;
    this.asOfNs = nowNs;
    this.smCycles += (elapsedNs * clockHz) / 1e9;
    if (groups.length === 0) return;
    this.busyNs += elapsedNs;
    this.smBusyNs += elapsedNs * busySms;
  }

  /** Blocks leave the device at `nowNs`, `done` of each; 1 when they have come to their end. */
  leave(group: ResidentGroup, done: number, nowNs: number): void {
    const { work, count } = group;
    addWork(this.sm, work.sm, count * done);
    addWork(this.device, work.device, count * done);
    if (done === 1) this.blocks += count;
    const { latest } = this;
    if (group.launch !== latest.launch) {
      this.settleLatest();
      latest.launch = group.launch;
      latest.context = this.contextOf(group);
    }
    latest.warpNs += this.warpNsOf(group, nowNs);
  }

  /**
   * The sums up to the last `advance`. @param parked what has begun and is off the SMs; @param isAlive contexts that it
   * denies are no more told of by themselves
   */
  usage(
    engine: EngineState,
    parked: Iterable<ParkedBlocks>,
    isAlive: (context: number) => boolean,
  ): DeviceUsage {
    const { asOfNs, smCycles, busyNs, smBusyNs, blocks } = this;
    const sm = [...this.sm];
    const device = [...this.device];
    const aheadNs = Math.max(0, asOfNs - engine.asOfNs);
    this.settleLatest();
    this.forgetContexts(isAlive);
    const warps = new Map(this.warpNs);
    const addBegun = (group: ResidentGroup, sinceNs: number, untilNs: number): void => {
      const { work, remaining, ratePerNs } = group;
      const done = Math.min(1, Math.max(0, 1 - remaining + ratePerNs * sinceNs)) * group.count;
      addWork(sm, work.sm, done);
      addWork(device, work.device, done);
      const context = this.contextOf(group);
      warps.set(context, (warps.get(context) ?? 0) + this.warpNsOf(group, untilNs));
    };
    for (const group of engine.groups) addBegun(group, aheadNs, asOfNs);
    for (const { groups, sinceNs } of parked) for (const group of groups) addBegun(group, 0, sinceNs);
    let warpNs = 0;
    for (const each of warps.values()) warpNs += each;
    const contexts = [...warps]
      .filter(([context]) => context !== GONE)
      .map(([context, each]) => ({ context, warpNs: each }));
    return { asOfNs, smCycles, busyNs, smBusyNs, warpNs, blocks, sm, device, contexts };
  }

  private warpNsOf({ startNs, parkedNs, work, count }: ResidentGroup, nowNs: number): number {
    return Math.max(0, nowNs - Math.max(startNs, this.fromNs) - parkedNs) * work.warps * count;
  }

  private contextOf({ launch }: ResidentGroup): number {
    return this.launches.get(launch)?.context ?? GONE;
  }

  private settleLatest(): void {
    const { context, warpNs } = this.latest;
    if (warpNs > 0) this.warpNs.set(context, (this.warpNs.get(context) ?? 0) + warpNs);
    this.latest.warpNs = 0;
  }

  private forgetContexts(isAlive: (context: number) => boolean): void {
    for (const [context, warpNs] of this.warpNs) {
      if (context === GONE || isAlive(context)) continue;
      this.warpNs.delete(context);
      this.warpNs.set(GONE, (this.warpNs.get(GONE) ?? 0) + warpNs);
    }
  }
}

function addWork(into: number[], amounts: readonly number[], times: number): void {
  for (let index = 0; index < into.length; index++) into[index] += amounts[index] * times;
}
