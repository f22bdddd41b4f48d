import { emptyCounters, type ExecutionCounters, type ExecutorLaunch } from '../../executor/index.js';
import { runOf, type BlockCounts, type ProfiledCost } from '../costs/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import type { BlockWork, L2State } from '../timing/index.js';
import type { BlockSource } from './blockSource.js';
import { BlockWorks } from './blockWorks.js';
import { notPastFirstRun, type LaunchRecord } from './launchRecord.js';
import { TrafficPlans } from './trafficPlans.js';

/** What a launch without anything that executes it needs to know of its buffers. */
export interface CostedSource {
  executorLaunch(record: LaunchRecord): ExecutorLaunch;
}

/** Tells what work blocks are from their launch's cost: the same that running them told when the cost was recorded. */
export class CostedExecution implements BlockSource {
  /** What `blockWork` reads of counters. */
  private readonly counters: ExecutionCounters = { ...emptyCounters(), blocks: 1 };

  private readonly plans: TrafficPlans;
  private readonly works: BlockWorks;

  constructor(
    profile: DeviceProfile,
    private readonly source: CostedSource,
    l2: L2State,
  ) {
    this.plans = new TrafficPlans(profile, l2);
    this.works = new BlockWorks(profile);
  }

  chunk(record: LaunchRecord, wanted: number): number {
    const cost = costOf(record);
    const most = notPastFirstRun(record, wanted);
    return Math.min(most, cost.ends[runOf(cost, record.next)] - record.next, record.hi - record.next);
  }

  run(
    record: LaunchRecord,
    sms: readonly number[],
    _nowNs: number,
    _clockHz: number,
    residentBlocks: number,
    otherFootprintBytes: number,
  ): BlockWork {
    const cost = costOf(record);
    const counts = cost.counts[runOf(cost, record.next)];
    if (record.next >= record.ranUntil) count(record, counts, sms.length);
    record.next += sms.length;
    const { counters } = this;
    counters.warpInstructions = counts.warpInstructions;
    record.profile = cost.profile;
    record.plan ??= this.plans.planOf(
      record,
      this.source.executorLaunch(record),
      cost.profile,
      counters,
      residentBlocks,
      otherFootprintBytes,
    );
    return this.works.workOf(cost.profile, record.plan, counters);
  }
}

function costOf({ cost, kernel }: LaunchRecord): ProfiledCost {
  if (cost === undefined) throw new Error(`launch of '${kernel}' without a cost; the driver gives each one`);
  return cost;
}

function count(
  record: LaunchRecord,
  { warpInstructions, threadInstructions }: BlockCounts,
  blocks: number,
): void {
  if (record.counters.blocks === 0) record.counters = emptyCounters();
  const { counters } = record;
  counters.warpInstructions += warpInstructions * blocks;
  counters.threadInstructions += threadInstructions * blocks;
  counters.blocks += blocks;
}
