import {
  bitCount4,
  SECTOR_BYTES,
  sharedAtomicCycles,
  type RequestShape,
  type TraceSink,
} from '../../executor/index.js';
import type { IrFunction } from '../../ptx/index.js';
import type { DeviceProfile, TimingRule } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES } from './blockWork.js';
import { instructionPlans, type InstructionPlan } from './instructionPlan.js';
import { L1Cache } from './l1Cache.js';
import { requestRule, type RequestRule } from './requestRule.js';
import { WarpTimeline } from './warpTimeline.js';
import { plansWithout, rulesLeftOut, sideBySide } from './withoutRules.js';

/** What one traced block did. */
export interface TracedBlock {
  readonly block: number;
  readonly warps: number;
  warpInstructions: number;
  readonly sm: number[];
  /** L2 traffic in bytes at `l2Bytes`, atomic operations at `atomics`; DRAM traffic is decided at launch. */
  readonly device: number[];
  /** Longest dependent chain when every L1 miss hits L2, and when every one goes to DRAM. */
  chainL2Cycles: number;
  chainDramCycles: number;
  /** See `BlockWork.isLoose`. */
  isLoose: boolean;
  /** Of its first warp. */
  barriers: number;
  /** See `BlockWork.rounds`. */
  rounds: number;
  /** Sectors asked of L2. */
  l2Sectors: number;
  /** Atomic operations by address. */
  readonly atomics: Map<number, number>;
  /** Loads and stores as distinct granules of 64 bytes, by the address of the segment that they fall in. */
  readonly loaded: Map<number, Set<number>>;
  readonly stored: Map<number, Set<number>>;
  /** What it asks of L2, by segment. */
  readonly asked: Map<number, Asked>;
  /** Requests that store to one word, by its address. */
  readonly storedWords: Map<number, number>;
  /** Tries of loops of compare and swap on global memory, by address. */
  readonly retried: Map<number, number>;
}

/** Bytes asked of L2, in sectors and in what DRAM moves for them at least, if none of them is in L2. */
export interface Asked {
  sectorBytes: number;
  dramBytes: number;
}

const ISSUE = SM_RESOURCES.indexOf('issue');
const DATA = SM_RESOURCES.indexOf('data');
const CONSTANT = SM_RESOURCES.indexOf('constant');
const CONSTANT_LINE_BYTES = 64;
/** Bytes that one slice of L2 serves in a row: atomics on them wait for each other. */
const SLICE_BYTES = 512;
const WARP_LANES = 32;
const WORD_BYTES = 4;
/** Above all addresses that a program can have. */
const LOCAL_BASE = 2 ** 49;
const LOCAL_WARP_BYTES = 2 ** 26;
/** DRAM answers L2 in pieces of two sectors. */
const GRANULE_BYTES = 64;
const L2_PORT = SM_RESOURCES.indexOf('l2Port');
const L2_BYTES = DEVICE_RESOURCES.indexOf('l2Bytes');
const ATOMICS = DEVICE_RESOURCES.indexOf('atomics');

/**
 * Watches blocks execute and keeps what the timing model needs: machine instructions by pipe, wavefronts, what missed
 * a block's share of L1, distinct sectors, and each warp's chain of dependent latencies.
 */
export class BlockTracer implements TraceSink {
  readonly blocks: TracedBlock[] = [];
  full = false;
  private readonly plans: readonly InstructionPlan[];
  private readonly left: ReadonlySet<TimingRule>;
  private readonly requests: RequestRule;
  private readonly cache: L1Cache;
  private timelines = new Map<number, WarpTimeline>();
  private current: TracedBlock | undefined;
  private seen = 0;
  private readonly executed: Uint8Array;
  /** Lines of the block traced first: what blocks that run together have in common. */
  private readonly commonLines = new Set<number>();
  private budget = Infinity;
  private readonly local = new Float64Array(WARP_LANES);
  /** Words of shared memory that loops of compare and swap work on. */
  private readonly swapped = new Set<number>();

  constructor(
    private readonly kernel: IrFunction,
    private readonly profile: DeviceProfile,
    private readonly warps: number,
    l1Bytes: number,
    /** Start address of the segment that holds an address, or -1. */
    private readonly segmentOf: (address: number) => number,
    /** Blocks that share an SM with the traced ones, themselves included. */
    private readonly residents: number,
  ) {
    const { latency } = profile.timing;
    this.left = rulesLeftOut(profile.timing);
    this.plans = plansWithout(this.left, instructionPlans(kernel, latency, this.left), latency);
    this.executed = new Uint8Array(this.plans.length);
    this.requests = requestRule(profile);
    const isCached = profile.memory.l1Bytes > 0;
    this.cache = new L1Cache(isCached ? Math.max(16, Math.floor(l1Bytes / profile.memory.lineBytes)) : 0);
  }

  /** Lets the tracer see so many more warp instructions. */
  allow(instructions: number): void {
    this.budget = this.seen + instructions;
    this.full = false;
  }

  onBlock(block: number): void {
    this.finish();
    this.cache.clear();
    this.timelines = new Map();
    this.swapped.clear();
    this.current = {
      block,
      warps: this.warps,
      warpInstructions: 0,
      sm: SM_RESOURCES.map((_, resource) =>
        resource === ISSUE ? this.warps * this.profile.timing.prologueSlots : 0,
      ),
      device: DEVICE_RESOURCES.map(() => 0),
      chainL2Cycles: 0,
      chainDramCycles: 0,
      isLoose: false,
      barriers: 0,
      rounds: 0,
      l2Sectors: 0,
      atomics: new Map(),
      loaded: new Map(),
      stored: new Map(),
      asked: new Map(),
      storedWords: new Map(),
      retried: new Map(),
    };
    this.blocks.push(this.current);
  }

  onInstruction(warp: number, index: number, activeMask: number): void {
    const traced = this.current;
    if (traced === undefined) return;
    const plan = this.plans[index];
    traced.warpInstructions += 1;
    this.executed[index] = 1;
    const part = this.left.has('divergence') ? bitCount32(activeMask) / 32 : 1;
    traced.sm[ISSUE] += plan.cost.slots * part;
    if (plan.pipeIndex >= 0) traced.sm[plan.pipeIndex] += plan.cost.pipeOps * part;
    const timeline = this.timeline(warp);
    if (timeline.atBarrier) this.releaseBarrier();
    if (plan.isBarrier && warp === 0) traced.barriers += 1;
    timeline.execute(plan, index);
    this.seen += 1;
    if (this.seen >= this.budget) this.full = true;
  }

  onAccess(
    warp: number,
    index: number,
    space: 'global' | 'shared',
    kind: 'load' | 'store' | 'atomic',
    bytesPerLane: number,
    activeMask: number,
    told: Float64Array,
  ): void {
    const traced = this.current;
    if (traced === undefined || activeMask === 0) return;
    const isSpread = !this.left.has(space === 'shared' ? 'bankConflicts' : 'coalescing') || kind === 'atomic';
    const addresses = isSpread ? told : sideBySide(activeMask, bytesPerLane, told);
    const { timing } = this.profile;
    const timeline = this.timeline(warp);
    const plan = this.plans[index];
    if (plan.isConstant) {
      this.constant(traced, plan, timeline, activeMask, addresses);
      return;
    }
    if (plan.isSwapLoop && space === 'shared') {
      this.swap(traced, plan, timeline, activeMask, addresses);
      return;
    }
    const shape = this.requests.take(space, kind, bytesPerLane, activeMask, addresses);
    if (space === 'shared') {
      if (plan.isMerged) {
        timeline.resolve(plan, timing.latency.shared, timing.latency.shared);
        return;
      }
      const wavefronts = kind === 'atomic' ? sharedAtomicCycles(activeMask, addresses) : shape.wavefronts;
      traced.sm[DATA] += wavefronts;
      const base = kind === 'atomic' ? timing.latency.sharedAtomic : timing.latency.shared;
      const extra = (wavefronts - 1) / timing.wavefrontsPerCycle;
      timeline.resolve(plan, base + extra, base + extra);
      return;
    }
    const cycles = Math.max(shape.wavefronts / timing.wavefrontsPerCycle, shape.lines / timing.tagsPerCycle);
    traced.sm[DATA] += cycles * timing.wavefrontsPerCycle;
    this.remember(traced, kind, shape);
    if (kind === 'atomic') this.atomic(traced, shape, plan, timeline, activeMask, addresses);
    else {
      const before = traced.l2Sectors;
      const askedBytes = bitCount32(activeMask) * bytesPerLane;
      const missed = this.exchange(traced, kind, shape, askedBytes);
      const isPartial = kind === 'store' && askedBytes < shape.sectors * SECTOR_BYTES;
      this.ask(traced, shape, traced.l2Sectors - before, isPartial ? timing.partialStoreWeightInDram : 1);
      if (kind === 'store') {
        if (shape.sectors === 1) this.word(traced, activeMask, addresses);
        return;
      }
      const { l1, l2, dram } = timing.latency;
      const extra = cycles - 1;
      timeline.resolve(plan, (missed > 0 ? l2 : l1) + extra, (missed > 0 ? dram : l1) + extra);
    }
  }

  /** What a load or store moves between L1 and L2; returns the sectors that a load waits for. */
  private exchange(
    traced: TracedBlock,
    kind: 'load' | 'store',
    shape: RequestShape,
    askedBytes: number,
  ): number {
    const { timing } = this.profile;
    const { missed, missedLines, touched } = this.touch(shape);
    if (kind === 'store') {
      const isPartial = askedBytes < shape.sectors * SECTOR_BYTES;
      this.traffic(traced, touched, isPartial ? timing.partialStoreWeightInL2 : timing.storeWeightInL2);
      return 0;
    }
    this.traffic(traced, missed, 1);
    traced.sm[DATA] += missedLines * timing.fillCyclesPerLine * timing.wavefrontsPerCycle;
    return missed;
  }

  /**
   * Local memory is global memory that lies so that the same word of a warp's threads is one line, and in which the next
   * block that has the place finds the last one's lines.
   */
  onLocalAccess(
    warp: number,
    index: number,
    kind: 'load' | 'store',
    bytesPerLane: number,
    activeMask: number,
    offsets: Float64Array,
  ): void {
    const traced = this.current;
    if (traced === undefined || activeMask === 0 || this.left.has('localMemory')) return;
    const { timing } = this.profile;
    const { l1, l2, dram } = timing.latency;
    const words = Math.max(1, bytesPerLane / WORD_BYTES);
    let extra = 0;
    let isMiss = false;
    for (let word = 0; word < words; word++) {
      for (let lane = 0; lane < WARP_LANES; lane++) {
        const offset = offsets[lane] + word * WORD_BYTES;
        const within = offset % WORD_BYTES;
        this.local[lane] =
          LOCAL_BASE +
          warp * LOCAL_WARP_BYTES +
          ((offset - within) / WORD_BYTES) * WARP_LANES * WORD_BYTES +
          lane * WORD_BYTES +
          within;
      }
      const bytes = Math.min(bytesPerLane, WORD_BYTES);
      const shape = this.requests.take('global', kind, bytes, activeMask, this.local);
      const cycles = Math.max(
        shape.wavefronts / timing.wavefrontsPerCycle,
        shape.lines / timing.tagsPerCycle,
      );
      traced.sm[DATA] += cycles * timing.wavefrontsPerCycle;
      extra += cycles;
      const missed = this.exchange(traced, kind, shape, bitCount32(activeMask) * bytes);
      isMiss ||= missed > 0;
    }
    this.timeline(warp).resolve(
      this.plans[index],
      (isMiss ? l2 : l1) + extra - 1,
      (isMiss ? dram : l1) + extra - 1,
    );
  }

  /** Part of the kernel's instructions that some traced block executed. */
  get coverage(): number {
    let executed = 0;
    for (const each of this.executed) executed += each;
    return executed / Math.max(1, this.executed.length);
  }

  /** Closes the last block; call once when the trace has ended. */
  finish(): void {
    const traced = this.current;
    if (traced === undefined) return;
    const start = this.profile.timing.blockStartCycles;
    let longestWay = 0;
    for (const timeline of this.timelines.values()) {
      traced.chainL2Cycles = Math.max(traced.chainL2Cycles, start + timeline.endL2);
      traced.chainDramCycles = Math.max(traced.chainDramCycles, start + timeline.endDram);
      longestWay = Math.max(longestWay, timeline.longestWay);
    }
    const { l2, dram } = this.profile.timing.latency;
    const waits = ((traced.chainDramCycles - traced.chainL2Cycles) / Math.max(1, dram - l2)) * l2;
    traced.rounds = longestWay / Math.max(1, dram - l2);
    traced.isLoose =
      !this.left.has('looseBlocks') &&
      traced.barriers * this.profile.timing.looseBarrierCycles < traced.chainL2Cycles &&
      waits < LOOSE_WAITS * traced.chainL2Cycles;
    this.current = undefined;
  }

  private atomic(
    traced: TracedBlock,
    shape: RequestShape,
    plan: InstructionPlan,
    timeline: WarpTimeline,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const { atomic, l2, dram } = this.profile.timing.latency;
    if (plan.isAggregated) {
      this.traffic(traced, 1, 1);
      this.addAtomics(traced, addresses[31 - Math.clz32(activeMask)], 1, plan.atomicWeight);
    } else {
      this.traffic(traced, shape.sectors, 1);
      for (let lane = 0; lane < 32; lane++) {
        if (((activeMask >>> lane) & 1) === 0) continue;
        if (plan.isRetried)
          traced.retried.set(addresses[lane], (traced.retried.get(addresses[lane]) ?? 0) + 1);
        this.addLane(traced, plan, lane, activeMask, addresses);
      }
    }
    timeline.resolve(plan, atomic, atomic + dram - l2);
  }

  /** Lanes on one sector go together; those on one address one after the other. */
  private addLane(
    traced: TracedBlock,
    plan: InstructionPlan,
    lane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const address = addresses[lane];
    const sector = Math.floor(address / SECTOR_BYTES);
    const turn = turnOf(lane, activeMask, addresses);
    for (let other = 0; other < lane; other++) {
      const isBeside =
        ((activeMask >>> other) & 1) !== 0 &&
        addresses[other] !== address &&
        Math.floor(addresses[other] / SECTOR_BYTES) === sector;
      if (isBeside && turnOf(other, activeMask, addresses) === turn) return;
    }
    const { floatAtomicTurns } = this.profile.timing;
    this.addAtomics(
      traced,
      address,
      plan.isFloatAtomic && turn > 0 ? floatAtomicTurns : 1,
      plan.atomicWeight,
    );
  }

  private addAtomics(traced: TracedBlock, address: number, operations: number, weight: number): void {
    traced.device[ATOMICS] += weight;
    const slice = Math.floor(address / SLICE_BYTES);
    traced.atomics.set(slice, (traced.atomics.get(slice) ?? 0) + operations);
  }

  /** Lanes that store to one address are one request; those of other warps come behind it. */
  private word(traced: TracedBlock, activeMask: number, addresses: Float64Array): void {
    const address = addresses[31 - Math.clz32(activeMask)];
    for (let lane = 0; lane < WARP_LANES; lane++) {
      if (((activeMask >>> lane) & 1) !== 0 && addresses[lane] !== address) return;
    }
    traced.storedWords.set(address, (traced.storedWords.get(address) ?? 0) + 1);
  }

  /** The constant cache gives one line at a time. */
  private constant(
    traced: TracedBlock,
    plan: InstructionPlan,
    timeline: WarpTimeline,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const { timing } = this.profile;
    const lines = new Set<number>();
    for (let lane = 0; lane < 32; lane++) {
      if (((activeMask >>> lane) & 1) !== 0) lines.add(Math.floor(addresses[lane] / CONSTANT_LINE_BYTES));
    }
    const more = lines.size - 1;
    traced.sm[CONSTANT] += more > 0 ? lines.size * timing.constantCyclesPerLine : timing.constantCycles;
    const cycles = timing.latency.constant + more * timing.latency.constantLine;
    timeline.resolve(plan, cycles, cycles);
  }

  /**
   * A loop of compare and swap: once more for every lane that wants the same word, and the more often in vain the fewer
   * words all warps share.
   */
  private swap(
    traced: TracedBlock,
    plan: InstructionPlan,
    timeline: WarpTimeline,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const { timing } = this.profile;
    const lanes = new Map<number, number>();
    let turns = 0;
    for (let lane = 0; lane < 32; lane++) {
      if (((activeMask >>> lane) & 1) === 0) continue;
      const already = (lanes.get(addresses[lane]) ?? 0) + 1;
      lanes.set(addresses[lane], already);
      turns = Math.max(turns, already);
      this.swapped.add(addresses[lane]);
    }
    const contention = Math.min(1, 32 / this.swapped.size);
    traced.sm[ISSUE] += turns * SWAP_SLOTS;
    traced.sm[DATA] += turns * (timing.swapCycles + timing.swapContentionCycles * contention);
    const cycles = timing.latency.sharedAtomic + turns * timing.latency.swap;
    timeline.resolve(plan, cycles, cycles);
  }

  private traffic(traced: TracedBlock, sectors: number, weight: number): void {
    traced.sm[L2_PORT] += sectors * SECTOR_BYTES;
    traced.device[L2_BYTES] += sectors * SECTOR_BYTES * weight;
    traced.l2Sectors += sectors;
  }

  /** What was missed and touched; of a line that all residents of an SM use, only one in so many fetches it. */
  private touch(shape: RequestShape): { missed: number; missedLines: number; touched: number } {
    const first = this.blocks.length === 1;
    let missed = 0;
    let missedLines = 0;
    let touched = 0;
    for (let index = 0; index < shape.lines; index++) {
      const line = shape.lineNumbers[index];
      if (first) this.commonLines.add(line);
      const share =
        this.cache.isThere && this.commonLines.has(line) && !first && !this.left.has('sharedLines')
          ? 1 / this.residents
          : 1;
      const sectors = bitCount4(this.cache.touch(line, shape.sectorMasks[index], share));
      missed += sectors * share;
      if (sectors > 0) missedLines += share;
      touched += bitCount4(shape.sectorMasks[index]);
    }
    return { missed, missedLines, touched };
  }

  private remember(traced: TracedBlock, kind: 'load' | 'store' | 'atomic', shape: RequestShape): void {
    for (let index = 0; index < shape.lines; index++) {
      const line = shape.lineNumbers[index];
      const mask = shape.sectorMasks[index];
      const segment = this.segmentOf(addressOf(shape, index));
      const stored = granulesOf(traced.stored, segment);
      const granules = kind === 'load' ? granulesOf(traced.loaded, segment) : stored;
      // Two granules of 64 bytes a line. What the block wrote itself it does not fetch.
      for (let half = 0; half < 2; half++) {
        const granule = line * 2 + half;
        if ((mask & (3 << (2 * half))) === 0) continue;
        if (kind !== 'load' || !stored.has(granule)) granules.add(granule);
      }
    }
  }

  /** @param sectors that L1 does not have */
  private ask(traced: TracedBlock, shape: RequestShape, sectors: number, weight: number): void {
    if (sectors === 0 || shape.sectors === 0) return;
    const segment = this.segmentOf(addressOf(shape, 0));
    let asked = traced.asked.get(segment);
    if (asked === undefined) traced.asked.set(segment, (asked = { sectorBytes: 0, dramBytes: 0 }));
    let granules = 0;
    for (let index = 0; index < shape.lines; index++) {
      const mask = shape.sectorMasks[index];
      granules += ((mask & 3) === 0 ? 0 : 1) + ((mask & 12) === 0 ? 0 : 1);
    }
    asked.sectorBytes += sectors * SECTOR_BYTES;
    asked.dramBytes += granules * (sectors / shape.sectors) * GRANULE_BYTES * weight;
  }

  private timeline(warp: number): WarpTimeline {
    let timeline = this.timelines.get(warp);
    if (timeline === undefined) {
      timeline = new WarpTimeline(this.kernel.registers.length, this.profile.timing);
      this.timelines.set(warp, timeline);
    }
    return timeline;
  }

  /** The first warp to go on after a barrier shows that all have arrived: they leave together. */
  private releaseBarrier(): void {
    let l2 = 0;
    let dram = 0;
    for (const timeline of this.timelines.values()) {
      if (!timeline.atBarrier) continue;
      l2 = Math.max(l2, timeline.endL2);
      dram = Math.max(dram, timeline.endDram);
    }
    for (const timeline of this.timelines.values())
      if (timeline.atBarrier) timeline.leaveBarrier(l2, dram, this.warps);
  }
}

/** Of the first sector of one of its lines. */
function addressOf({ lineNumbers, sectorMasks }: RequestShape, index: number): number {
  const mask = sectorMasks[index];
  return lineNumbers[index] * 128 + (31 - Math.clz32(mask & -mask)) * SECTOR_BYTES;
}

/** Lanes before this one that want the same address. */
function turnOf(lane: number, activeMask: number, addresses: Float64Array): number {
  let turn = 0;
  for (let other = 0; other < lane; other++) {
    if (((activeMask >>> other) & 1) !== 0 && addresses[other] === addresses[lane]) turn += 1;
  }
  return turn;
}

/** Part of the chain that may be waits for L2 when other warps fill the gaps. */
const LOOSE_WAITS = 0.1;

/** Of a turn of such a loop: load, add, compare and swap, test, branch. */
const SWAP_SLOTS = 6;

function bitCount32(mask: number): number {
  let count = 0;
  for (let left = mask; left !== 0; left &= left - 1) count += 1;
  return count;
}

function granulesOf(bySegment: Map<number, Set<number>>, segment: number): Set<number> {
  let granules = bySegment.get(segment);
  if (granules === undefined) bySegment.set(segment, (granules = new Set()));
  return granules;
}
