import { sharedAtomicCycles, type RequestShape, type TraceSink } from '../../executor/index.js';
import type { IrFunction } from '../../ptx/index.js';
import type { DeviceProfile, TimingRule } from '../profiles/index.js';
import { countAtomics, countLook, countStoredWord } from './atomicTraffic.js';
import { BlockTimelines } from './blockTimelines.js';
import { SM_RESOURCES } from './blockWork.js';
import { GlobalTraffic } from './globalTraffic.js';
import { instructionPlans, type InstructionPlan } from './instructionPlan.js';
import { localAddresses } from './localMemory.js';
import { requestRule, type RequestRule } from './requestRule.js';
import { newTracedBlock, type TracedBlock } from './tracedBlock.js';
import { EngineRequests } from './engineRequests.js';
import type { Arrival, WarpTimeline } from './warpTimeline.js';
import { plansWithout, rulesLeftOut, sideBySide } from './withoutRules.js';

const ISSUE = SM_RESOURCES.indexOf('issue');
const DATA = SM_RESOURCES.indexOf('data');
const CONSTANT = SM_RESOURCES.indexOf('constant');
const CONSTANT_LINE_BYTES = 64;
const WARP_LANES = 32;
const WORD_BYTES = 4;
/** An atomic operation fills no sector. */
const PART_OF_SECTOR = 1;

/**
 * Watches blocks execute and keeps what the timing model needs: machine instructions by pipe, wavefronts, what missed
 * a block's share of L1, distinct sectors, and each warp's chain of dependent latencies.
 */
export class BlockTracer implements TraceSink {
  readonly blocks: TracedBlock[] = [];
  full = false;
  private readonly plans: readonly InstructionPlan[];
  private readonly left: ReadonlySet<TimingRule>;
  private readonly countsLanes: boolean;
  private readonly requests: RequestRule;
  private readonly traffic: GlobalTraffic;
  private timelines: BlockTimelines;
  private current: TracedBlock | undefined;
  private seen = 0;
  private readonly executed: Uint8Array;
  /** Blocks of the kernel wait for one another. */
  private readonly waits: boolean;
  private budget = Infinity;
  private readonly local = new Float64Array(WARP_LANES);
  /** By the address of an mbarrier. */
  private readonly arrivals = new Map<number, Arrival>();
  /** What the copy engine asks for, piece after piece, joined to requests of a whole warp. */
  private readonly engine = new EngineRequests((space, ...request) => this.request(space, ...request));
  /** Words of shared memory that loops of compare and swap work on. */
  private readonly swapped = new Set<number>();

  constructor(
    private readonly kernel: IrFunction,
    private readonly profile: DeviceProfile,
    private readonly warps: number,
    l1Bytes: number,
    /** Start address of the segment that holds an address, or -1. */
    segmentOf: (address: number) => number,
    /** Blocks that share an SM with the traced ones, themselves included. */
    residents: number,
  ) {
    const { latency } = profile.timing;
    this.left = rulesLeftOut(profile.timing);
    this.countsLanes = this.left.has('divergence');
    this.plans = plansWithout(this.left, instructionPlans(kernel, latency, this.left), latency);
    this.executed = new Uint8Array(this.plans.length);
    this.waits = this.plans.some(({ isInWait }) => isInWait);
    this.requests = requestRule(profile);
    this.traffic = new GlobalTraffic(profile, l1Bytes, segmentOf, residents);
    this.timelines = this.newTimelines();
  }

  /** Lets the tracer see so many more warp instructions. */
  allow(instructions: number): void {
    this.budget = this.seen + instructions;
    this.full = false;
  }

  onBlock(block: number): void {
    this.finish();
    this.traffic.beginBlock(this.blocks.at(0));
    this.timelines = this.newTimelines();
    this.swapped.clear();
    this.arrivals.clear();
    this.current = newTracedBlock(block, this.warps, this.warps * this.profile.timing.prologueSlots);
    this.blocks.push(this.current);
  }

  onInstruction(warp: number, index: number, activeMask: number): void {
    const traced = this.current;
    if (traced === undefined) return;
    const plan = this.plans[index];
    // Counters have them all.
    traced.warpInstructions += 1;
    this.executed[index] = 1;
    if (plan.isEngine && !plan.isArrival) {
      this.count(traced);
      return;
    }
    this.engine.flush();
    const part = this.countsLanes ? bitCount32(activeMask) / WARP_LANES : 1;
    traced.sm[ISSUE] += plan.cost.slots * part;
    if (plan.pipeIndex >= 0) traced.sm[plan.pipeIndex] += plan.cost.pipeOps * part;
    const timeline = this.timelines.of(warp);
    if (timeline.atBarrier) this.timelines.releaseBarrier();
    if (plan.isBarrier && warp === 0) traced.barriers += 1;
    timeline.execute(plan, index);
    if (plan.clearsL1) this.traffic.clear();
    if (plan.isLook) traced.waits = true;
    if (plan.isInRetry) traced.waits = true;
    else traced.swapLoops.leave(warp);
    this.count(traced);
  }

  private count(traced: TracedBlock): void {
    this.seen += 1;
    if (this.seen < this.budget) return;
    traced.isCut = this.full = true;
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
    const isSpread =
      this.left.size === 0 ||
      !this.left.has(space === 'shared' ? 'bankConflicts' : 'coalescing') ||
      kind === 'atomic';
    const addresses = isSpread ? told : sideBySide(activeMask, bytesPerLane, told);
    if (this.plans[index].isEngine && !this.plans[index].isArrival)
      this.engine.add(space, warp, index, kind, bytesPerLane, activeMask, addresses);
    else this.request(space, warp, index, kind, bytesPerLane, activeMask, addresses);
  }

  private request(
    space: 'global' | 'shared',
    warp: number,
    index: number,
    kind: 'load' | 'store' | 'atomic',
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const traced = this.current;
    if (traced === undefined) return;
    const timeline = this.timelines.of(warp);
    const plan = this.plans[index];
    if (plan.isConstant) {
      this.constant(traced, plan, timeline, activeMask, addresses);
    } else if (space === 'shared' && plan.isSwapLoop) {
      this.swap(traced, plan, timeline, bytesPerLane, activeMask, addresses);
    } else {
      const shape = this.requests.take(space, kind, bytesPerLane, activeMask, addresses);
      if (space === 'shared') this.shared(traced, shape, kind, plan, timeline, activeMask, addresses);
      else {
        this.global(traced, shape, kind, plan, warp, activeMask, addresses, bytesPerLane);
      }
    }
  }

  /** Through the network between the SMs of a GPC. */
  onRemoteAccess(
    warp: number,
    index: number,
    kind: 'load' | 'store' | 'atomic',
    bytesPerLane: number,
    activeMask: number,
    offsets: Float64Array,
  ): void {
    const traced = this.current;
    if (traced === undefined || activeMask === 0) return;
    const { latency, clusterWavefronts, wavefrontsPerCycle } = this.profile.timing;
    const shape = this.requests.take('shared', kind, bytesPerLane, activeMask, offsets);
    const turns = kind === 'atomic' ? sharedAtomicCycles(activeMask, offsets) : shape.wavefronts;
    const wavefronts = turns * clusterWavefronts;
    traced.sm[DATA] += wavefronts;
    const there = kind === 'atomic' ? latency.sharedAtomic - latency.shared : 0;
    const cycles = latency.clusterShared + there + (wavefronts - clusterWavefronts) / wavefrontsPerCycle;
    this.timelines.of(warp).resolve(this.plans[index], cycles, cycles);
  }

  private shared(
    traced: TracedBlock,
    shape: RequestShape,
    kind: 'load' | 'store' | 'atomic',
    plan: InstructionPlan,
    timeline: WarpTimeline,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const { latency, wavefrontsPerCycle } = this.profile.timing;
    if (plan.isMerged) {
      timeline.resolve(plan, latency.shared, latency.shared);
      return;
    }
    const wavefronts = kind === 'atomic' ? sharedAtomicCycles(activeMask, addresses) : shape.wavefronts;
    traced.sm[DATA] += wavefronts;
    const isOfOne = plan.isArrival || (plan.isLoad && this.arrivals.size > 0);
    const address = isOfOne ? addresses[31 - Math.clz32(activeMask)] : -1;
    const arrival = this.arrivals.get(address);
    if (plan.isArrival) {
      if (arrival === undefined) this.arrivals.set(address, newArrival(timeline, plan));
      else timeline.arrive(plan, arrival);
    } else if (arrival !== undefined) {
      timeline.await(plan, arrival, latency.shared);
      return;
    }
    const base = kind === 'atomic' ? latency.sharedAtomic : latency.shared;
    const extra = (wavefronts - 1) / wavefrontsPerCycle;
    timeline.resolve(plan, base + extra, base + extra);
  }

  private global(
    traced: TracedBlock,
    shape: RequestShape,
    kind: 'load' | 'store' | 'atomic',
    plan: InstructionPlan,
    warp: number,
    activeMask: number,
    addresses: Float64Array,
    bytesPerLane: number,
  ): void {
    const timeline = this.timelines.of(warp);
    const askedBytes = bitCount32(activeMask) * bytesPerLane;
    const { timing } = this.profile;
    const { l1, l2, dram, atomic } = timing.latency;
    const cycles = this.requestCycles(traced, shape);
    this.traffic.remember(traced, kind, shape);
    if (kind !== 'load') this.noteOwner(traced, plan, warp, activeMask, addresses);
    if (this.waits) this.noteSignal(traced, plan, kind, warp, activeMask, addresses);
    if (kind === 'atomic') {
      const sectors = plan.isAggregated ? 1 : shape.sectors;
      this.traffic.move(traced, sectors, 1);
      this.traffic.ask(traced, shape, sectors, PART_OF_SECTOR);
      traced.pages.note(shape, timing);
      countAtomics(traced, plan, warp, activeMask, addresses, bytesPerLane, timing);
      timeline.resolve(plan, atomic, atomic + dram - l2);
      return;
    }
    const before = traced.l2Sectors;
    const missed = this.traffic.exchange(traced, kind, shape, askedBytes, plan.isStrong);
    if (missed > 0 || kind === 'store') traced.pages.note(shape, timing);
    if (plan.isLook) countLook(traced, shape);
    this.traffic.ask(traced, shape, traced.l2Sectors - before, kind === 'store' ? askedBytes : 0);
    if (kind === 'store') {
      if (shape.sectors === 1) countStoredWord(traced, activeMask, addresses);
      return;
    }
    const extra = cycles - 1;
    timeline.resolve(plan, (missed > 0 ? l2 : l1) + extra, (missed > 0 ? dram : l1) + extra);
  }

  /** Of a word that warps compare and swap until they have it: one of them has it until it writes it again. */
  private noteOwner(
    { swapLoops }: TracedBlock,
    plan: InstructionPlan,
    warp: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    if (swapLoops.wins.size === 0 && !plan.isRetried) return;
    const address = addresses[31 - Math.clz32(activeMask)];
    const cycle = this.timelines.of(warp).endL2;
    if (plan.isRetried) swapLoops.take(warp, address, cycle);
    else swapLoops.release(warp, address, cycle);
  }

  /** Of a kernel whose blocks wait for one another. */
  private noteSignal(
    { signals }: TracedBlock,
    plan: InstructionPlan,
    kind: 'load' | 'store' | 'atomic',
    warp: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    if (kind === 'load' && !plan.isLook) return;
    const { l2, atomic } = this.profile.timing.latency;
    const cycle = this.timelines.of(warp).endL2;
    const address = addresses[31 - Math.clz32(activeMask)];
    if (plan.isInWait && kind !== 'store') signals.look(address, cycle, kind === 'load' ? l2 : atomic);
    else signals.write(address, cycle, kind === 'store');
  }

  /** Cycles that a request takes of L1: its data and the lookup of its lines go side by side. */
  private requestCycles(traced: TracedBlock, shape: RequestShape): number {
    const { wavefrontsPerCycle, tagsPerCycle } = this.profile.timing;
    const cycles = Math.max(shape.wavefronts / wavefrontsPerCycle, shape.lines / tagsPerCycle);
    traced.sm[DATA] += cycles * wavefrontsPerCycle;
    return cycles;
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
    const { l1, l2, dram } = this.profile.timing.latency;
    const words = Math.max(1, bytesPerLane / WORD_BYTES);
    const bytes = Math.min(bytesPerLane, WORD_BYTES);
    let extra = -1;
    let isMiss = false;
    for (let word = 0; word < words; word++) {
      localAddresses(warp, offsets, word, this.local);
      const shape = this.requests.take('global', kind, bytes, activeMask, this.local);
      extra += this.requestCycles(traced, shape);
      this.traffic.rememberLocal(traced, shape);
      const missed = this.traffic.exchange(traced, kind, shape, bitCount32(activeMask) * bytes);
      isMiss ||= missed > 0;
    }
    const plan = this.plans[index];
    this.timelines.of(warp).resolve(plan, (isMiss ? l2 : l1) + extra, (isMiss ? dram : l1) + extra);
  }

  /** Part of the kernel's instructions that some traced block executed. */
  get coverage(): number {
    let executed = 0;
    for (const each of this.executed) executed += each;
    return executed / Math.max(1, this.executed.length);
  }

  /** Closes the last block; call once when the trace has ended. */
  finish(): void {
    this.engine.flush();
    if (this.current !== undefined) this.timelines.finish(this.current, !this.left.has('looseBlocks'));
    this.current = undefined;
  }

  private newTimelines(): BlockTimelines {
    return new BlockTimelines(this.warps, this.kernel.registers.length, this.profile.timing);
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
    for (let lane = 0; lane < WARP_LANES; lane++) {
      if (((activeMask >>> lane) & 1) !== 0) lines.add(Math.floor(addresses[lane] / CONSTANT_LINE_BYTES));
    }
    const more = lines.size - 1;
    traced.sm[CONSTANT] += more > 0 ? lines.size * timing.constantCyclesPerLine : timing.constantCycles;
    const cycles = timing.latency.constant + more * timing.latency.constantLine;
    timeline.resolve(plan, cycles, cycles);
  }

  /**
   * A loop of compare and swap: once more for every lane that wants the same word, in as many wavefronts as these need. Of all
   * warps that want a word one gets through at a time.
   */
  private swap(
    traced: TracedBlock,
    plan: InstructionPlan,
    timeline: WarpTimeline,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const { timing } = this.profile;
    const lanes = new Map<number, number>();
    const turns: number[] = [];
    for (let lane = 0; lane < WARP_LANES; lane++) {
      if (((activeMask >>> lane) & 1) === 0) continue;
      const before = lanes.get(addresses[lane]) ?? 0;
      lanes.set(addresses[lane], before + 1);
      turns[before] = (turns[before] ?? 0) | (1 << lane);
      this.swapped.add(addresses[lane]);
    }
    let wavefronts = 0;
    for (const mask of turns) {
      wavefronts += this.requests.take('shared', 'load', bytesPerLane, mask >>> 0, addresses).wavefronts;
    }
    const isWide = bytesPerLane > WORD_BYTES;
    const held = isWide ? timing.wideSwapContentionCycles : timing.swapContentionCycles;
    traced.sm[ISSUE] += turns.length * SWAP_SLOTS;
    traced.sm[DATA] += wavefronts * timing.swapCycles + (bitCount32(activeMask) * held) / this.swapped.size;
    const cycles = timing.latency.shared + turns.length * timing.latency.swap;
    timeline.resolve(plan, cycles, cycles);
    timeline.endLoop(cycles);
  }
}

/** Of a turn of such a loop: load, add, compare and swap, test, branch. */
const SWAP_SLOTS = 6;

function bitCount32(mask: number): number {
  const pairs = mask - ((mask >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function newArrival(timeline: WarpTimeline, plan: InstructionPlan): Arrival {
  const arrival = { l2: 0, dram: 0 };
  timeline.arrive(plan, arrival);
  return arrival;
}
