import { clusterBlocks } from '../../executor/index.js';
import type { BlockFootprint } from '../occupancy/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import type { BlockWork } from '../timing/index.js';
import type { BlockEngine } from './blockEngine.js';
import type { BlockSource } from './blockSource.js';
import { clusterRoom, placeClusters } from './clusterPlaces.js';
import { alikeBlocks, knownFrom, runAt } from './knownWork.js';
import type { LaunchRecord } from './launchRecord.js';
import type { PlacedBlocks } from './placing.js';
import { RampedWorks } from './rampedWorks.js';
import { roundRobin } from './residentGroup.js';
import { allowedSms, emptySmUse, fillRanks, occupy, room, type SmUse } from './smPool.js';
import { VacatedPlaces, type Places } from './vacatedPlaces.js';

/**
 * Finds room for blocks within occupancy and the launch's TPCs, runs them functionally and hands them to the engine as resident work;
 * where the device is full, the next blocks take over the places of those that have just ended.
 */
export class BlockPlacer {
  readonly ramped: RampedWorks;
  readonly vacated: VacatedPlaces;
  /** An SM that holds nothing. */
  private readonly nothing = emptySmUse(1);

  constructor(
    private readonly profile: DeviceProfile,
    private readonly launches: ReadonlyMap<number, LaunchRecord>,
    private readonly use: SmUse,
    private readonly engine: BlockEngine,
    private readonly execution: BlockSource,
  ) {
    this.ramped = new RampedWorks(profile.timing.blocksPerCycle);
    this.vacated = new VacatedPlaces(fillRanks(profile));
  }

  /** What blocks held is free. */
  giveBack({ sms, perSm }: Places, block: BlockFootprint): void {
    this.vacated.fullFor = undefined;
    for (let index = 0; index < sms.length; index++) occupy(this.use, sms[index], block, -perSm);
  }

  /** Places that nobody has taken over are free as any others. */
  giveUpVacated(): void {
    const { footprint } = this.vacated;
    if (footprint === undefined) return;
    for (let places = this.vacated.pop(); places !== undefined; places = this.vacated.pop()) {
      this.engine.leave(places.sms);
      this.giveBack(places, footprint);
    }
  }

  /** Starts the next blocks of a launch where there is room. @returns how many; 0 on a fault, too, which is then in the record */
  dispatch(record: LaunchRecord, wanted: number, narrower: bigint | undefined): number {
    if (this.vacated.blocks > 0) {
      const taken = this.canTakeOver(record, narrower) ? this.takeOver(record, wanted) : 0;
      if (taken > 0 || record.fault !== undefined) return taken;
      this.giveUpVacated();
    }
    return this.place(record, wanted, narrower);
  }

  /** Whether all the room that there is for the launch is what blocks have just left. */
  canTakeOver(record: LaunchRecord, narrower: bigint | undefined): boolean {
    return (
      narrower === undefined &&
      record.cooperative !== true &&
      clusterBlocks(record.shape) === 1 &&
      this.vacated.holdsAllRoom(record.block) &&
      record.tpcMask < 0n
    );
  }

  /** The next blocks take the places of others that have just ended. @returns how many; 0 where it is not so simple */
  takeOver(record: LaunchRecord, wanted: number): number {
    const { next: first } = record;
    const count = Math.min(wanted, record.hi - first, this.vacated.blocks);
    const { known } = record;
    const isAlike =
      known === undefined
        ? this.execution.chunk(record, count) === count
        : alikeBlocks(known, runAt(known, first), first, count) === count;
    const places = isAlike ? this.vacated.take(count) : undefined;
    if (places === undefined) return 0;
    const { sms, perSm } = places;
    let work: BlockWork | undefined;
    if (known === undefined) {
      const capacity = Math.max(1, this.capacityOf(record.block, this.profile.sms));
      work = this.execute(record, inOrder(places), 0, capacity)?.work;
      if (work === undefined) {
        this.engine.leave(sms);
        this.giveBack(places, record.block);
        return 0;
      }
    } else {
      ({ work } = known[runAt(known, first)]);
      record.next += count;
    }
    record.residentBlocks += count;
    const started = first === record.lo ? this.ramped.of(work, count) : work;
    this.engine.refill(
      record.id,
      started,
      sms,
      perSm,
      first,
      perSm > 1 ? roundRobin(sms, perSm, first) : undefined,
    );
    return count;
  }

  private place(record: LaunchRecord, wanted: number, narrower: bigint | undefined): number {
    const sms = this.smsOf(record, narrower);
    // A cooperative launch starts whole or not at all, and a cluster; `fits` has told the policy so.
    const cluster = clusterBlocks(record.shape);
    const left = record.hi - record.next;
    const count = record.cooperative === true ? left : Math.min(Math.ceil(wanted / cluster) * cluster, left);
    const first = record.next;
    const chosen = placeClusters(this.profile, this.use, sms, record.block, cluster, count);
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
      const started = first === record.lo ? this.ramped.of(work, chosen.length) : work;
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

  /** Blocks of a launch that there is room for. */
  fits(record: LaunchRecord | undefined, tpcMask: bigint | undefined): number {
    if (record === undefined || record.phase !== 'running' || record.isMoving) return 0;
    const waiting = record.hi - record.next;
    if (this.canTakeOver(record, tpcMask)) return Math.min(this.vacated.blocks, waiting);
    this.giveUpVacated();
    const cluster = clusterBlocks(record.shape);
    const sms = this.smsOf(record, tpcMask);
    const free = clusterRoom(this.profile, this.use, sms, record.block, cluster, waiting);
    if (free <= 0 && waiting > 0 && cluster === 1 && tpcMask === undefined && record.tpcMask < 0n) {
      this.vacated.fullFor = record.block;
    }
    return record.cooperative === true && free < waiting ? 0 : Math.min(free, waiting);
  }

  private smsOf(record: LaunchRecord, narrower: bigint | undefined): readonly number[] {
    const mask =
      narrower === undefined ? record.tpcMask : record.tpcMask < 0n ? narrower : record.tpcMask & narrower;
    return allowedSms(this.profile, mask);
  }

  /** Blocks of this kind that SMs of these TPCs hold when nothing else is there, in whole clusters of `size`. */
  capacity(block: BlockFootprint, tpcMask: bigint, size: number): number {
    const sms = allowedSms(this.profile, tpcMask);
    return size === 1
      ? this.capacityOf(block, sms.length)
      : clusterRoom(this.profile, emptySmUse(this.profile.sms), sms, block, size, Infinity);
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

/** SM of each block in the order in which blocks are placed: one on each SM, then the next round. */
function inOrder({ sms, perSm }: Places): readonly number[] {
  if (perSm === 1) return sms;
  return Array.from({ length: perSm }, () => sms).flat();
}
