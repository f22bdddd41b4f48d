import { GpuError } from '../gpuError.js';
import type { DeviceView, SchedulingPolicy } from '../../scheduling/index.js';
import type { BlockFootprint } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import type { BlockEngine } from './blockEngine.js';
import { type PlacedBlocks, type ResidentGroup } from './blockEngine.js';
import { DEVICE_RESOURCES, rampedWork, type BlockWork } from '../timing/index.js';
import type { BlockSource } from './blockSource.js';
import { ContextTurns, type BlockStage, type TurnState } from './contextTurns.js';
import { knownFrom } from './knownWork.js';
import type { BlockReport, LaunchRecord } from './launchRecord.js';
import { allowedSms, emptySmUse, occupy, placeBlocks, room, roomOn, type SmUse } from './smPool.js';

const DRAM_BYTES = DEVICE_RESOURCES.indexOf('dramBytes');

/**
 * Owns the blocks that are not dispatched yet: asks the policy who is next, places blocks within occupancy and the
 * launch's TPCs, runs them functionally and hands them to the engine as resident work.
 */
export class Dispatcher implements BlockStage {
  private readonly contextTurns: ContextTurns | undefined;
  /** An SM that holds nothing. */
  private readonly nothing = emptySmUse(1);

  private readonly tpcs: number;

  constructor(
    private readonly profile: DeviceProfile,
    private readonly launches: Map<number, LaunchRecord>,
    private readonly use: SmUse,
    private readonly engine: BlockEngine,
    private readonly execution: BlockSource,
    private readonly policy: SchedulingPolicy,
    /** Of a card that runs one context at a time. */
    turns: TurnState | undefined,
  ) {
    this.tpcs = profile.sms / profile.smsPerTpc;
    this.contextTurns = turns === undefined ? undefined : new ContextTurns(profile, turns, launches, this);
  }

  /** Passes the card on to another context where it is time to. @returns when to look again */
  settleTurns(nowNs: number): number | undefined {
    return this.contextTurns?.settle(nowNs);
  }

  park(context: number): ResidentGroup[] {
    const groups = this.engine.park((group) => this.launches.get(group.launch)?.context === context);
    for (const group of groups) this.occupyAgain(group, -1);
    return groups;
  }

  putBack(groups: readonly ResidentGroup[]): void {
    for (const group of groups) this.occupyAgain(group, 1);
    this.engine.putBack(groups);
  }

  /**
   * Dispatches until the policy holds. @returns the launches that faulted meanwhile, and when the policy wants to be
   * asked again.
   */
  fill(nowNs: number): { faulted: LaunchRecord[]; wakeNs?: number } {
    const faulted: LaunchRecord[] = [];
    if (this.launches.size === 0) return { faulted };
    let view = this.view(nowNs);
    for (;;) {
      const decision = this.policy.decide(view);
      if (decision.kind === 'hold') {
        return decision.untilNs === undefined ? { faulted } : { faulted, wakeNs: decision.untilNs };
      }
      const record = this.launches.get(decision.launch);
      if (record === undefined) {
        throw new GpuError(
          'invalidLaunch',
          `policy '${this.policy.name}' chose launch ${decision.launch}, which is not there`,
        );
      }
      if (decision.kind === 'kill') {
        throw new GpuError(
          'unsupportedPreemption',
          `policy '${this.policy.name}' asks to kill launch ${record.id} ('${record.kernel}'): this device runs blocks to their end`,
        );
      }
      const dispatched = this.dispatch(record, decision.blocks, decision.tpcMask);
      if (record.fault !== undefined) {
        record.phase = 'faulted';
        record.endNs = nowNs;
        this.drop(record);
        faulted.push(record);
        view = this.view(nowNs);
      } else if (dispatched === 0) {
        return { faulted };
      }
    }
  }

  /** Gives back what a group's blocks held and counts them. */
  retire(group: ResidentGroup, nowNs: number, reports: BlockReport[]): void {
    const record = this.release(group);
    if (record === undefined) return;
    record.doneBlocks += group.blocks.length;
    record.dramBytes += group.work.device[DRAM_BYTES] * group.blocks.length;
    if (!record.reportBlocks) return;
    group.blocks.forEach((block, index) => {
      const sm = group.sms[Math.floor(index / group.perSm)];
      reports.push({ launch: record.id, block, sm, startNs: group.startNs, endNs: nowNs });
    });
  }

  /** Takes a launch off the device, resident blocks and all. */
  drop(record: LaunchRecord): void {
    for (const group of this.engine.takeLaunch(record.id)) this.release(group);
    this.engine.leaveParked(this.contextTurns?.drop(record.id, this.engine.state.asOfNs) ?? []);
    this.launches.delete(record.id);
  }

  private release(group: ResidentGroup): LaunchRecord | undefined {
    const record = this.launches.get(group.launch);
    if (record === undefined) return undefined;
    for (const sm of group.sms) occupy(this.use, sm, record.block, -group.perSm);
    record.residentBlocks -= group.blocks.length;
    return record;
  }

  private occupyAgain(group: ResidentGroup, sign: 1 | -1): void {
    const record = this.launches.get(group.launch);
    if (record === undefined) return;
    for (const sm of group.sms) occupy(this.use, sm, record.block, sign * group.perSm);
  }

  private dispatch(record: LaunchRecord, wanted: number, narrower: bigint | undefined): number {
    const sms = this.smsOf(record, narrower);
    // A cooperative launch starts whole or not at all; `fits` has told the policy so.
    const count =
      record.cooperative === true ? record.hi - record.next : Math.min(wanted, record.hi - record.next);
    const first = record.next;
    const chosen = placeBlocks(this.profile, this.use, sms, record.block, count);
    if (record.cooperative === true && chosen.length < count) {
      for (const sm of chosen) occupy(this.use, sm, record.block, -1);
      return 0;
    }
    const capacity = Math.max(1, this.capacityOf(record.block, sms.length));
    const placed: PlacedBlocks[] = [];
    let done = 0;
    while (done < chosen.length) {
      const next =
        record.known === undefined
          ? this.execute(record, chosen, done, capacity)
          : knownFrom(record.known, record.next, chosen.length - done);
      if (next === undefined) break;
      const { work, blocks } = next;
      if (record.known !== undefined) record.next += blocks;
      const started =
        first === record.lo ? rampedWork(work, chosen.length, this.profile.timing.blocksPerCycle) : work;
      placed.push({ work: started, firstBlock: first + done, sms: chosen.slice(done, done + blocks) });
      done += blocks;
    }
    for (const sm of chosen.slice(done)) occupy(this.use, sm, record.block, -1);
    record.residentBlocks += done;
    this.engine.add(record.id, placed);
    return done;
  }

  /** Runs the next blocks that were given SMs, from the one at `done` on. @returns undefined on a fault */
  private execute(
    record: LaunchRecord,
    chosen: readonly number[],
    done: number,
    capacity: number,
  ): { readonly work: BlockWork; readonly blocks: number } | undefined {
    const blocks = this.execution.chunk(record, chosen.length - done);
    const { asOfNs, clockHz } = this.engine.state;
    const work = this.execution.run(
      record,
      chosen.slice(done, done + blocks),
      asOfNs,
      clockHz,
      capacity,
      this.otherFootprint(record),
    );
    return work === undefined ? undefined : { work, blocks };
  }

  /** One for all decisions of a moment: it shows launches as they are when it is asked. */
  private view(nowNs: number): DeviceView {
    const running: LaunchRecord[] = [];
    for (const record of this.launches.values()) {
      if (record.phase === 'running' && this.contextTurns?.hasTurn(record, nowNs) !== false)
        running.push(record);
    }
    return { nowNs, tpcs: this.tpcs, launches: running, fits: this.fits };
  }

  private readonly fits = (launch: number, tpcMask?: bigint): number => {
    const record = this.launches.get(launch);
    if (record === undefined || record.phase !== 'running') return 0;
    const waiting = record.hi - record.next;
    const free = roomOn(this.profile, this.use, this.smsOf(record, tpcMask), record.block, waiting);
    return record.cooperative === true && free < waiting ? 0 : Math.min(free, waiting);
  };

  private smsOf(record: LaunchRecord, narrower: bigint | undefined): readonly number[] {
    const mask =
      narrower === undefined ? record.tpcMask : record.tpcMask < 0n ? narrower : record.tpcMask & narrower;
    return allowedSms(this.profile, mask);
  }

  /** Blocks of this kind that SMs of these TPCs hold when nothing else is there. */
  capacity(block: BlockFootprint, tpcMask: bigint): number {
    return this.capacityOf(block, allowedSms(this.profile, tpcMask).length);
  }

  private capacityOf(block: BlockFootprint, sms: number): number {
    return sms * room(this.profile, this.nothing, 0, block);
  }

  private otherFootprint(record: LaunchRecord): number {
    let bytes = 0;
    for (const other of this.launches.values()) {
      if (other === record || other.phase !== 'running' || other.plan === undefined) continue;
      bytes += other.plan.touched.reduce((sum, segment) => sum + segment.bytes, 0);
    }
    return bytes;
  }
}
