import { blocksTogether, meetsInCluster } from '../executor/index.js';
import type { AccessKind, InterpreterObserver, Location, ResolvedSpace, Warp } from '../executor/index.js';
import { hex } from './allocations.js';
import { BlockTable } from './blockTable.js';
import type { FindingLog } from './findingLog.js';
import type { FindingKind, MemoryAccess } from './findings.js';
import type { LaunchCode } from './launchCode.js';
import { ShadowWord, forEachWord, type PastAccess } from './shadowMemory.js';
import { memoryOrderOf, type MemoryOrder } from './memoryOrder.js';
import { ThreadOrder, joinReleases, type Release } from './threadOrder.js';

interface BlockRaces {
  readonly order: ThreadOrder;
  readonly shared: (ShadowWord | undefined)[];
  /** By thread, how often it has arrived at the barrier of the cluster. */
  readonly clusterArrivals: Int32Array;
  /** What has been released through a place in shared memory, by its offset. */
  readonly released: Map<number, Release>;
}

/** A race of two plain writes: whether they write the same is seen once the second is done. */
interface UndecidedWrite {
  readonly location: Location;
  readonly bytes: number;
  readonly old: Uint8Array;
  readonly report: (isSame: boolean) => void;
}

/** Words of global memory that are followed; more would not fit the host's memory. */
const MOST_GLOBAL_WORDS = 2 ** 21;
const MOST_GLOBAL_READERS = 4;

const HAZARDS: Readonly<Partial<Record<FindingKind, string>>> = {
  readAfterWrite: 'RAW',
  writeAfterRead: 'WAR',
  writeAfterWrite: 'WAW',
};

/**
 * Accesses of different threads to the same bytes, one of them a write, that nothing orders. Whether two are ordered
 * follows from barriers and the like alone, so a race is found although this run happened to go well.
 */
export class Racecheck implements InterpreterObserver {
  private readonly blocks: BlockTable<BlockRaces>;
  private readonly globalWords = new Map<number, ShadowWord>();
  private readonly globalReleased = new Map<number, Release>();
  private readonly orders: readonly MemoryOrder[];
  private readonly undecided: UndecidedWrite[] = [];
  /** Where blocks meet in clusters: how many a cluster has, and by cluster what arrivals made known, by how many went before. */
  private readonly cluster: number;
  private readonly isInCluster: boolean;
  private readonly clusterReleases = new Map<number, (Release | undefined)[]>();
  private step = 0;
  private lastWarp: Warp | undefined;
  private lastPc = 0;
  private lastLane = 0;
  /** Whether some words of global memory were not followed. */
  globalIsPartial = false;

  constructor(
    private readonly code: LaunchCode,
    private readonly log: FindingLog,
    private readonly followsGlobal: boolean,
  ) {
    const { shape, kernel } = code.launch;
    const threads = shape.block[0] * shape.block[1] * shape.block[2];
    this.orders = kernel.instructions.map(memoryOrderOf);
    this.cluster = blocksTogether(code.launch);
    this.isInCluster = meetsInCluster(kernel);
    this.blocks = new BlockTable((block) => ({
      clusterArrivals: new Int32Array(threads),
      order: new ThreadOrder(block, threads),
      shared: [],
      released: new Map(),
    }));
  }

  onBlockEnd(block: number): void {
    this.settle();
    this.blocks.end(block);
    if (this.isInCluster && block % this.cluster === this.cluster - 1)
      this.clusterReleases.delete(Math.floor(block / this.cluster));
  }

  onClusterBarrier(warp: Warp, pc: number, lanes: number, what: 'arrive' | 'wait'): void {
    if (what === 'wait') return;
    const { order, clusterArrivals } = this.blocks.of(warp.block);
    const isRelaxed = this.code.instruction(pc)?.modifiers.includes('relaxed') === true;
    const releases = this.releasesOf(warp.block);
    forLanes(lanes, (lane) => {
      const thread = warp.index * 32 + lane;
      const phase = clusterArrivals[thread]++;
      const given = isRelaxed ? undefined : order.release(thread, true);
      const before = releases[phase];
      if (given !== undefined) releases[phase] = before === undefined ? given : joinReleases(before, given);
    });
  }

  onClusterPass(warp: Warp, lanes: number): void {
    const { order, clusterArrivals } = this.blocks.of(warp.block);
    const releases = this.releasesOf(warp.block);
    forLanes(lanes, (lane) => {
      const thread = warp.index * 32 + lane;
      const found = releases[clusterArrivals[thread] - 1];
      if (found !== undefined) order.acquire(thread, [found], true);
    });
  }

  private releasesOf(block: number): (Release | undefined)[] {
    const cluster = Math.floor(block / this.cluster);
    let releases = this.clusterReleases.get(cluster);
    if (releases === undefined) this.clusterReleases.set(cluster, (releases = []));
    return releases;
  }

  onStep(warp: Warp, pc: number, _lanes: number, active: number): void {
    this.settle();
    if (this.orders[pc]?.isFence !== true) return;
    const { order } = this.blocks.of(warp.block);
    forLanes(active, (lane) => order.fence(warp.index * 32 + lane));
  }

  onWarpSync(warp: Warp, _pc: number, group: number): void {
    this.blocks.of(warp.block).order.warpSync(warp.index, group);
  }

  onBarrierArrive(
    warp: Warp,
    _pc: number,
    lane: number,
    id: number,
    _count: number | undefined,
    waits: boolean,
  ): void {
    this.blocks.of(warp.block).order.arrive(id, warp.index * 32 + lane, waits);
  }

  onBarrierOpen(block: number, id: number, isWholeBlock: boolean): void {
    this.blocks.of(block).order.open(id, isWholeBlock);
  }

  onAccess(
    warp: Warp,
    pc: number,
    lane: number,
    space: ResolvedSpace,
    address: number,
    bytes: number,
    kind: AccessKind,
    location: Location,
  ): void {
    if (space !== 'shared' && space !== 'global') return;
    this.access(warp, pc, lane, space, warp.block, address, bytes, kind, location);
  }

  onRemoteAccess(
    warp: Warp,
    pc: number,
    lane: number,
    block: number,
    offset: number,
    bytes: number,
    kind: AccessKind,
    location: Location,
  ): void {
    this.access(warp, pc, lane, 'shared', block, offset, bytes, kind, location);
  }

  /** @param owner block whose memory it is, of shared memory */
  private access(
    warp: Warp,
    pc: number,
    lane: number,
    space: 'shared' | 'global',
    owner: number,
    address: number,
    bytes: number,
    kind: AccessKind,
    location: Location,
  ): void {
    if (this.undecided.length > 0) this.settle();
    this.countStep(warp, pc, lane);
    const { order } = this.blocks.of(warp.block);
    const block = this.blocks.of(owner);
    const thread = warp.index * 32 + lane;
    const marks = this.orders[pc];
    if (marks?.synchronises === true) {
      this.synchronise(
        space === 'shared' ? block.released : this.globalReleased,
        order,
        thread,
        address,
        kind,
        marks,
      );
    }
    if (space === 'global' && !this.followsGlobal) return;
    const access: PastAccess = {
      block: warp.block,
      epoch: order.currentEpoch,
      thread,
      clock: order.clockOf(thread),
      pc,
      kind,
      isStrong: marks !== undefined && (marks.isStrong || (marks.isVolatile && space === 'global')),
      address,
      bytes,
      step: this.step,
    };
    let conflicts: Map<PastAccess, [first: number, last: number]> | undefined;
    forEachWord(address, bytes, (word, mask) => {
      const shadow = space === 'shared' ? this.sharedWord(block, word) : this.globalWord(word);
      if (shadow === undefined) return;
      shadow.forEachConflict(access, mask, (past, common) => {
        if (order.isBefore(past, thread)) return;
        conflicts ??= new Map();
        const from = word * 4 + 31 - Math.clz32(common & -common);
        const to = word * 4 + 31 - Math.clz32(common);
        const range = conflicts.get(past);
        conflicts.set(
          past,
          range === undefined ? [from, to] : [Math.min(range[0], from), Math.max(range[1], to)],
        );
      });
      shadow.add(access, mask, space === 'shared' && !this.isInCluster ? Infinity : MOST_GLOBAL_READERS);
    });
    if (conflicts === undefined) return;
    for (const [past, [first, last]] of conflicts) {
      this.report(warp, space, past, access, first, last, location);
    }
  }

  /** Memory of the heap that changes hands has no past. */
  onHeap(_warp: Warp, _pc: number, _lane: number, _what: string, address: number, bytes: number): void {
    forEachWord(address, Math.max(bytes, 1), (word) => this.globalWords.delete(word));
  }

  private synchronise(
    released: Map<number, Release>,
    order: ThreadOrder,
    thread: number,
    address: number,
    kind: AccessKind,
    marks: MemoryOrder,
  ): void {
    if (kind !== 'store') {
      const found = released.get(address);
      if (found !== undefined) order.acquire(thread, [found], marks.isAcquire);
    }
    if (kind === 'load') return;
    const given = order.release(thread, marks.isRelease);
    if (given === undefined) return;
    const before = released.get(address);
    released.set(address, before === undefined ? given : joinReleases(before, given));
  }

  private sharedWord({ shared, order }: BlockRaces, word: number): ShadowWord {
    let shadow = shared[word];
    if (shadow === undefined) {
      shadow = new ShadowWord();
      shadow.epoch = order.currentEpoch;
      shared[word] = shadow;
    }
    // What blocks of a cluster do to one another's memory is not over at a barrier of the block.
    else if (shadow.epoch !== order.currentEpoch && !this.isInCluster) shadow.clear(order.currentEpoch);
    return shadow;
  }

  private globalWord(word: number): ShadowWord | undefined {
    let shadow = this.globalWords.get(word);
    if (shadow !== undefined) return shadow;
    if (this.globalWords.size >= MOST_GLOBAL_WORDS) {
      this.globalIsPartial = true;
      return undefined;
    }
    shadow = new ShadowWord();
    this.globalWords.set(word, shadow);
    return shadow;
  }

  private report(
    warp: Warp,
    space: 'shared' | 'global',
    past: PastAccess,
    access: PastAccess,
    first: number,
    last: number,
    location: Location,
  ): void {
    const kind: FindingKind =
      access.kind === 'load' ? 'readAfterWrite' : past.kind === 'load' ? 'writeAfterRead' : 'writeAfterWrite';
    const isSameBlock = past.block === access.block;
    const isSameWarp = isSameBlock && past.thread >>> 5 === access.thread >>> 5;
    const isOneStep = isSameWarp && past.pc === access.pc;
    const add = (isSame: boolean): void => {
      const severity = isSame ? 'info' : isSameWarp && !isOneStep ? 'warning' : 'error';
      const range = first === last ? hex(first) : `${hex(first)} to ${hex(last)}`;
      this.log.add({
        checker: 'racecheck',
        severity,
        kind,
        title: `Race on ${space} memory (${HAZARDS[kind] ?? ''}): ${words(access.kind)} against ${words(past.kind)} of another thread${isSameBlock ? '' : ' in another block'}`,
        pc: access.pc,
        otherPc: past.pc,
        otherRole: isOneStep ? 'the same instruction' : 'not ordered with it',
        ...this.code.thread(warp, access.thread & 31),
        access: accessOf(space, access),
        detail: `both reach ${space === 'shared' ? 'shared offset' : 'address'} ${range}, and nothing orders them${isSame ? '; both write the same value' : isSameWarp && !isOneStep ? '; they are lanes of one warp: __syncwarp would order them' : ''}`,
        other: { ...this.code.threadAt(past.block, past.thread), access: accessOf(space, past) },
      });
    };
    if (past.kind !== 'store' || access.kind !== 'store') {
      add(false);
      return;
    }
    // Which of them stays says nothing about what the others write.
    if (past.step === access.step) {
      add(this.storeAlike(warp, past, access));
      return;
    }
    const { view, at } = location;
    const bytes = last - first + 1;
    const from = at + (first - access.address);
    this.undecided.push({
      location: { ...location, at: from },
      bytes,
      old: new Uint8Array(view.buffer, view.byteOffset + from, bytes).slice(),
      report: add,
    });
  }

  /** Lanes of a step are told in ascending order. */
  private countStep(warp: Warp, pc: number, lane: number): void {
    if (this.lastWarp !== warp || this.lastPc !== pc || lane <= this.lastLane) this.step += 1;
    this.lastWarp = warp;
    this.lastPc = pc;
    this.lastLane = lane;
  }

  /** Whether two lanes of a step store the same bytes in the same place. */
  private storeAlike({ registers: { words } }: Warp, past: PastAccess, access: PastAccess): boolean {
    if (past.address !== access.address) return false;
    const stored = this.code.instruction(access.pc)?.sources[1];
    const elements = stored?.kind === 'vector' ? stored.elements : stored === undefined ? [] : [stored];
    const bits = (8 * access.bytes) / elements.length;
    const mask = bits < 32 ? 2 ** bits - 1 : -1;
    return elements.every((element) => {
      if (element.kind !== 'register') return true;
      const one = 2 * (element.register * 32 + (past.thread & 31));
      const other = 2 * (element.register * 32 + (access.thread & 31));
      return ((words[one] ^ words[other]) & mask) === 0 && (bits < 64 || words[one + 1] === words[other + 1]);
    });
  }

  /** Compares what racing writes have written. */
  private settle(): void {
    if (this.undecided.length === 0) return;
    for (const { location, bytes, old, report } of this.undecided) {
      report(
        old.every((byte, index) => byte === location.view.getUint8(location.at + index) && index < bytes),
      );
    }
    this.undecided.length = 0;
  }
}

function forLanes(lanes: number, visit: (lane: number) => void): void {
  for (let rest = lanes; rest !== 0; rest &= rest - 1) visit(31 - Math.clz32(rest & -rest));
}

function words(kind: AccessKind): string {
  return { load: 'a read', store: 'a write', atomic: 'an atomic' }[kind];
}

function accessOf(space: 'shared' | 'global', { kind, address, bytes }: PastAccess): MemoryAccess {
  return { space, kind, address, bytes };
}
