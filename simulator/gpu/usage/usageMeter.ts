import type { EngineState, LaunchRecord, ResidentGroup } from '../dispatch/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES } from '../timing/index.js';
import type { ContextUsage, DeviceUsage } from './deviceUsage.js';

/**
 * Adds up what a device does. Time is counted between the moments at which the device settles, since residency changes at
 * those alone; work is counted when its blocks leave, and that of resident ones when somebody asks. Launches pay little
 * for it, and nothing that is simulated depends on it: it is no part of the device's state.
 */
export class UsageMeter {
  private smCycles = 0;
  private busyNs = 0;
  private smBusyNs = 0;
  private warpNs = 0;
  private blocks = 0;
  private readonly sm = SM_RESOURCES.map(() => 0);
  private readonly device = DEVICE_RESOURCES.map(() => 0);
  private readonly contexts = new Map<number, number>();

  constructor(
    private readonly launches: ReadonlyMap<number, LaunchRecord>,
    private asOfNs: number,
  ) {}

  /** @param engine as it was since the last call; @param smBlocks its blocks on each SM */
  advance(nowNs: number, { clockHz, groups }: EngineState, smBlocks: Int32Array): void {
    const elapsedNs = nowNs - this.asOfNs;
    if (elapsedNs <= 0) return;
    this.asOfNs = nowNs;
    this.smCycles += (elapsedNs * clockHz) / 1e9;
    if (groups.length === 0) return;
    this.busyNs += elapsedNs;
    this.smBusyNs += elapsedNs * (groups.length === 1 ? groups[0].sms.length : busySms(smBlocks));
    for (const { launch, work, blocks } of groups) {
      const warpNs = elapsedNs * work.warps * blocks.length;
      this.warpNs += warpNs;
      const context = this.launches.get(launch)?.context;
      if (context !== undefined) this.contexts.set(context, (this.contexts.get(context) ?? 0) + warpNs);
    }
  }

  /** Blocks leave the device, `done` of each; 1 when they have come to their end. */
  leave({ work, blocks }: ResidentGroup, done: number): void {
    addWork(this.sm, work.sm, blocks.length * done);
    addWork(this.device, work.device, blocks.length * done);
    if (done === 1) this.blocks += blocks.length;
  }

  /** The sums up to the last `advance`. Contexts that `isAlive` denies are left out from here on. */
  usage(engine: EngineState, isAlive: (context: number) => boolean): DeviceUsage {
    const sm = [...this.sm];
    const device = [...this.device];
    const aheadNs = Math.max(0, this.asOfNs - engine.asOfNs);
    for (const { work, blocks, remaining, ratePerNs } of engine.groups) {
      const done = Math.min(1, Math.max(0, 1 - remaining + ratePerNs * aheadNs)) * blocks.length;
      addWork(sm, work.sm, done);
      addWork(device, work.device, done);
    }
    const contexts: ContextUsage[] = [];
    for (const [context, warpNs] of this.contexts) {
      if (isAlive(context)) contexts.push({ context, warpNs });
      else this.contexts.delete(context);
    }
    const { asOfNs, smCycles, busyNs, smBusyNs, warpNs, blocks } = this;
    return { asOfNs, smCycles, busyNs, smBusyNs, warpNs, blocks, sm, device, contexts };
  }
}

function addWork(into: number[], amounts: readonly number[], times: number): void {
  for (let index = 0; index < into.length; index++) into[index] += amounts[index] * times;
}

function busySms(smBlocks: Int32Array): number {
  let busy = 0;
  for (const blocks of smBlocks) if (blocks > 0) busy += 1;
  return busy;
}
