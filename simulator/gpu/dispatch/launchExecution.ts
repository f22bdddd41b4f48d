import {
  blocksTogether,
  clusterBlocks,
  CompileError,
  flipLastStored,
  storesOf,
  takeBackStores,
  type BlockRange,
  type ExecutionCounters,
  type Executor,
  type ExecutorLaunch,
  type RunResult,
} from '../../executor/index.js';
import type { DeviceProfile, TimingRule } from '../profiles/index.js';
import { scalarsOf, type CostRecorder } from '../costs/index.js';
import { rulesLeftOut, workWithoutWaves, type BlockWork, type L2State } from '../timing/index.js';
import type { BlockSource } from './blockSource.js';
import { BlockWorks } from './blockWorks.js';
import { addCounters, addPrinted, addTo, notPastFirstRun, type LaunchRecord } from './launchRecord.js';
import { doneOf } from './preemption.js';
import type { ProfileCache } from './profileCache.js';
import { blockAt, type ResidentGroup } from './residentGroup.js';
import { TrafficPlans } from './trafficPlans.js';

/** Turns a launch record back into something that runs: handles resolved, argument bytes in place. */
export interface LaunchSource {
  executorLaunch(record: LaunchRecord): ExecutorLaunch;
  /** Names what the module's code is, the same in every context that loads it. */
  moduleIdentity(record: LaunchRecord): string;
}

export interface ExecutionOptions {
  readonly executor: Executor;
  readonly source: LaunchSource;
  /** PTX thread-instructions that one block may spend. */
  readonly fuelPerBlock: number;
  /** Seconds of host time; without it executor seconds are 0. */
  readonly stopwatch?: () => number;
  /** Is told what launches cost. */
  readonly recorder?: CostRecorder;
}

/** Blocks executed in one call; they count as equal. */
const CHUNK_BLOCKS = 16;
/** The blocks that are run one by one, of large grids after the first chunk: do they differ? */
const TRIED_BLOCKS = 4;
const LARGE_GRID = 128;
/** From here on each block of the grid is run by itself, so that it keeps its unevenness. */
const UNEVEN = 1.25;

/**
 * Runs blocks functionally when they are dispatched and tells what work they are. Function never depends on timing:
 * blocks run in order of dispatch, to their end; those that may wait for one another run all together with the first.
 */
export class LaunchExecution implements BlockSource {
  private readonly plans: TrafficPlans;
  private readonly works: BlockWorks;
  private readonly left: ReadonlySet<TimingRule>;

  constructor(
    private readonly profile: DeviceProfile,
    private readonly options: ExecutionOptions,
    private readonly profiles: ProfileCache,
    l2: L2State,
  ) {
    this.plans = new TrafficPlans(profile, l2);
    this.works = new BlockWorks(profile);
    this.left = rulesLeftOut(profile.timing);
  }

  /** How many blocks the next call of `run` may take; a cooperative launch's all wait for one another, and those of a cluster. */
  chunk(record: LaunchRecord, wanted: number): number {
    const cluster = clusterBlocks(record.shape);
    const chunk = Math.max(cluster, CHUNK_BLOCKS - (CHUNK_BLOCKS % cluster));
    const most = record.cooperative === true ? Infinity : this.runsAlone(record) ? cluster : chunk;
    return Math.min(most, notPastFirstRun(record, wanted), record.hi - record.next);
  }

  run(
    record: LaunchRecord,
    sms: readonly number[],
    nowNs: number,
    clockHz: number,
    residentBlocks: number,
    otherFootprintBytes: number,
  ): BlockWork | undefined {
    const { module, kernel, shape, params, cooperative, gridWorkspace } =
      this.options.source.executorLaunch(record);
    const launch: ExecutorLaunch = {
      module,
      kernel,
      shape,
      params,
      cooperative,
      gridWorkspace,
      place: {
        startNs: nowNs,
        cyclesPerNs: clockHz / 1e9,
        sm: sms[0] ?? 0,
        smCount: this.profile.sms,
        sms,
        gridId: record.id,
      },
    };
    try {
      return this.runBlocks(record, launch, sms, residentBlocks, otherFootprintBytes);
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      // It is known of a module's kernels only when one is run; the model is at fault, not the node.
      record.fault = {
        code: 'unsupportedInstruction',
        kernel: record.kernel,
        message: error.message,
        block: [0, 0, 0],
        thread: [0, 0, 0],
        ptxFile: module.ir.file,
        ptxLine: error.ptxLine,
      };
      return undefined;
    }
  }

  private runBlocks(
    record: LaunchRecord,
    launch: ExecutorLaunch,
    sms: readonly number[],
    residentBlocks: number,
    otherFootprintBytes: number,
  ): BlockWork | undefined {
    const key = record.profile === undefined ? this.profiles.keyOf(record, launch, residentBlocks) : '';
    const prepared =
      record.profile === undefined ? this.profiles.prepare(key, record, launch, residentBlocks) : undefined;
    const isRerun = record.next < record.ranUntil;
    const counters = record.wholeGrid ?? this.execute(record, launch, sms.length);
    if (counters === undefined) return undefined;
    noteBlocks(record, counters);
    record.next += sms.length;
    record.profile ??= this.profiles.settle(key, record, launch, counters, residentBlocks, prepared);
    record.plan ??= this.plans.planOf(
      record,
      launch,
      record.profile,
      counters,
      residentBlocks,
      otherFootprintBytes,
    );
    if (sms.length === 1 && record.wholeGrid === undefined && isUneven(record)) {
      this.noteLength(record, launch, counters, residentBlocks);
    }
    const { recorder, source } = this.options;
    if (recorder?.isRecording === true && !isRerun) {
      recorder.onBlocks(
        this.profile.name,
        record,
        { identity: source.moduleIdentity(record), file: launch.module.ir.file },
        () => scalarsOf(launch),
        sms.length,
        counters,
        record.profile,
      );
    }
    const work = this.works.workOf(record.profile, record.plan, counters);
    return this.left.has('waves') ? workWithoutWaves(work, record.hi - record.lo, residentBlocks) : work;
  }

  /** Has a block traced that is longer or shorter than all that were. */
  private noteLength(
    record: LaunchRecord,
    launch: ExecutorLaunch,
    { warpInstructions }: ExecutionCounters,
    residentBlocks: number,
  ): void {
    const { profile } = record;
    if (profile === undefined || this.left.has('unevenBlocks')) return;
    const block = record.next - 1;
    record.profile = this.profiles.withBlock(
      record,
      launch,
      profile,
      block,
      warpInstructions,
      residentBlocks,
    );
  }

  private runsAlone(record: LaunchRecord): boolean {
    return !this.left.has('unevenBlocks') && runsAlone(record);
  }

  /** @returns what was executed, by the next blocks or by the whole grid, or undefined on a fault. */
  private execute(
    record: LaunchRecord,
    launch: ExecutorLaunch,
    blocks: number,
  ): ExecutionCounters | undefined {
    const { executor, stopwatch, fuelPerBlock } = this.options;
    const isWhole = executor.needsWholeGrid?.(launch) === true;
    const startSeconds = stopwatch?.() ?? 0;
    const range = { lo: record.next, hi: isWhole ? record.hi : record.next + blocks };
    if (isWhole) record.isObserved = undefined;
    const result =
      record.isObserved === true
        ? this.observe(record, launch, range)
        : executor.run(launch, range, 'fast', fuelPerBlock);
    record.executorSeconds += (stopwatch?.() ?? 0) - startSeconds;
    if (record.next >= record.ranUntil) addCounters(record, result.counters);
    addPrinted(record, result.printed);
    if (result.status === 'fault') {
      record.fault = result.fault;
      return undefined;
    }
    if (result.status === 'yield') {
      throw new Error(`the fast variant of '${record.kernel}' yielded; only resumable ones may`);
    }
    if (isWhole) record.wholeGrid = result.counters;
    return result.counters;
  }

  /** Runs blocks, or clusters, one by one and keeps what each has stored until it comes to its end in simulated time. */
  private observe(record: LaunchRecord, launch: ExecutorLaunch, { lo, hi }: BlockRange): RunResult {
    const { executor, fuelPerBlock } = this.options;
    record.stores ??= new Map();
    let counters: ExecutionCounters | undefined;
    const together = blocksTogether(launch);
    for (let block = lo; ; block += together) {
      const result = executor.run(launch, { lo: block, hi: block + together }, 'undoable', fuelPerBlock);
      if (result.journal === undefined)
        throw new Error(`an undoable run of '${record.kernel}' has no journal`);
      record.stores.set(block, storesOf(result.journal));
      if (counters === undefined) counters = result.counters;
      else addTo(counters, result.counters);
      if (block + together >= hi || result.status !== 'done') return { ...result, counters };
    }
  }

  /** Last block first, as they ran one after the other. */
  takeBack(record: LaunchRecord, groups: readonly ResidentGroup[]): void {
    const { stores } = record;
    if (stores === undefined) return;
    const { space } = this.options.source.executorLaunch(record).module;
    const done = new Map<number, number>();
    for (const group of groups) {
      for (let place = 0; place < group.count; place++) done.set(blockAt(group, place), doneOf(group));
    }
    for (const [block, log] of [...stores].reverse()) {
      takeBackStores(space, log, Math.floor(log.positions * (done.get(block) ?? 0)));
    }
    const { block, flippedBit } = record.faultPoint ?? {};
    const struck = block === undefined ? undefined : stores.get(block);
    if (block !== undefined && struck !== undefined && flippedBit !== undefined) {
      flipLastStored(space, struck, Math.floor(struck.positions * (done.get(block) ?? 0)), flippedBit);
    }
    record.stores = new Map();
  }

  settle({ stores }: LaunchRecord, group: ResidentGroup): void {
    if (stores === undefined) return;
    for (let place = 0; place < group.count; place++) stores.delete(blockAt(group, place));
  }
}

/** Whether the next block is to be run by itself: to learn whether blocks differ, or because they do. */
function runsAlone(record: LaunchRecord): boolean {
  const { lo, hi, next } = record;
  // Of few blocks the first count as much as any.
  const behind = next - lo - (hi - lo < LARGE_GRID ? 0 : CHUNK_BLOCKS);
  return behind >= 0 && (behind < TRIED_BLOCKS || isUneven(record));
}

function isUneven({ shortestBlock, longestBlock }: LaunchRecord): boolean {
  return longestBlock > UNEVEN * shortestBlock;
}

/** Of a chunk's blocks the mean is known: one that differs from others tells that blocks do. */
function noteBlocks(record: LaunchRecord, { warpInstructions, blocks }: ExecutionCounters): void {
  const mean = warpInstructions / Math.max(1, blocks);
  record.shortestBlock = Math.min(record.shortestBlock, mean);
  record.longestBlock = Math.max(record.longestBlock, mean);
}
