import { joinRows, rowsWith, type ClockRows } from './clockRows.js';

const LANES = 32;

/** When a thread did something: its clock within an epoch of its block, which ends at a barrier of the whole block. */
export interface Moment {
  readonly block: number;
  readonly epoch: number;
  readonly thread: number;
  readonly clock: number;
}

/** What is known of a block: everything before `epoch`, and in it what `rows` say of each thread. Never changes. */
interface BlockKnowledge {
  readonly epoch: number;
  readonly rows: ClockRows | undefined;
}

/** What a thread had seen when it made it known to others. */
export interface Release {
  readonly own: ReadonlyMap<number, BlockKnowledge>;
}

interface Arrival extends Moment {
  readonly waits: boolean;
  readonly rows: ClockRows | undefined;
}

/**
 * What happened before what, for the threads of one block: program order, barriers, warp-level operations, and release
 * and acquire through atomics. A vector clock a thread, kept short: a barrier of the whole block begins a new epoch, and
 * within one, threads that met share their rows. Which thread ran first says nothing here.
 */
export class ThreadOrder {
  private epoch = 0;
  private readonly clocks: Int32Array;
  /** What each thread knows of its own block in this epoch, beside its own clock. */
  private readonly rows: (ClockRows | undefined)[];
  /** What each thread knows of other blocks. */
  private readonly foreign: (ReadonlyMap<number, BlockKnowledge> | undefined)[];
  private hasForeign = false;
  /** What each thread has read from synchronising memory, and knows from its next fence on. */
  private readonly unfenced = new Map<number, Release[]>();
  /** What each thread gives away with its next synchronising write: what it knew at its last fence. */
  private readonly fenced = new Map<number, Release>();
  private readonly arrivals = new Map<number, Arrival[]>();

  constructor(
    private readonly block: number,
    private readonly threads: number,
  ) {
    this.clocks = new Int32Array(threads).fill(1);
    this.rows = new Array<ClockRows | undefined>(threads);
    this.foreign = new Array<ReadonlyMap<number, BlockKnowledge> | undefined>(threads);
  }

  get currentEpoch(): number {
    return this.epoch;
  }

  clockOf(thread: number): number {
    return this.clocks[thread] ?? 0;
  }

  /** Whether a moment lies before everything that `thread` does from now on. */
  isBefore(moment: Moment, thread: number): boolean {
    if (moment.block !== this.block) {
      const known = this.foreign[thread]?.get(moment.block);
      return known !== undefined && covers(known, moment);
    }
    if (moment.epoch < this.epoch || moment.thread === thread) return true;
    return (this.rows[thread]?.[moment.thread >>> 5]?.[moment.thread & 31] ?? 0) >= moment.clock;
  }

  /** Lanes of a warp have met. */
  warpSync(warp: number, group: number): void {
    const threads: number[] = [];
    for (let lane = 0; lane < LANES; lane++) if ((group >>> lane) & 1) threads.push(warp * LANES + lane);
    if (threads.length < 2) return;
    for (const thread of threads) this.applyUnfenced(thread);
    let joined: ClockRows | undefined;
    for (const thread of threads) joined = joinRows(joined, this.rows[thread]);
    joined = rowsWith(joined, threads, this.clocks);
    this.shareForeign(threads);
    for (const thread of threads) {
      this.rows[thread] = joined;
      this.tick(thread);
    }
  }

  arrive(id: number, thread: number, waits: boolean): void {
    this.applyUnfenced(thread);
    let arrivals = this.arrivals.get(id);
    if (arrivals === undefined) {
      arrivals = [];
      this.arrivals.set(id, arrivals);
    }
    const { block, epoch } = this;
    arrivals.push({ block, epoch, thread, clock: this.clockOf(thread), waits, rows: this.rows[thread] });
    this.tick(thread);
  }

  open(id: number, isWholeBlock: boolean): void {
    const arrivals = this.arrivals.get(id) ?? [];
    this.arrivals.delete(id);
    if (isWholeBlock) {
      this.beginEpoch();
      return;
    }
    const current = arrivals.filter(({ epoch }) => epoch === this.epoch);
    let joined: ClockRows | undefined;
    for (const { rows } of current) joined = joinRows(joined, rows);
    const clocks = new Int32Array(this.threads);
    for (const { thread, clock } of current) clocks[thread] = Math.max(clocks[thread] ?? 0, clock);
    joined = rowsWith(
      joined,
      current.map(({ thread }) => thread),
      clocks,
    );
    this.shareForeign(arrivals.map(({ thread }) => thread));
    for (const { thread, waits } of current) {
      if (waits) this.rows[thread] = joinRows(this.rows[thread], joined);
    }
  }

  /** A fence: what was read before counts as known, and what is known now goes with the next synchronising write. */
  fence(thread: number): void {
    this.applyUnfenced(thread);
    this.fenced.set(thread, this.makeRelease(thread));
  }

  /** What a synchronising write gives away; `isRelease`: all that the thread knows, fence or not. */
  release(thread: number, isRelease: boolean): Release | undefined {
    if (isRelease) {
      this.applyUnfenced(thread);
      return this.makeRelease(thread);
    }
    const fenced = this.fenced.get(thread);
    // Barriers are fences too, and all threads pass those of the block.
    const own = new Map(this.foreign[thread] ?? []);
    own.set(this.block, { epoch: this.epoch, rows: undefined });
    const passed: Release | undefined = this.epoch === 0 ? undefined : { own };
    return fenced === undefined ? passed : passed === undefined ? fenced : joinReleases(fenced, passed);
  }

  /** A synchronising read found what others gave away. */
  acquire(thread: number, releases: readonly Release[], isAcquire: boolean): void {
    if (isAcquire) for (const release of releases) this.learn(thread, release);
    else {
      const waiting = this.unfenced.get(thread);
      if (waiting === undefined) this.unfenced.set(thread, [...releases]);
      else waiting.push(...releases);
    }
  }

  private tick(thread: number): void {
    this.clocks[thread] = this.clockOf(thread) + 1;
  }

  private beginEpoch(): void {
    if (this.hasForeign || this.unfenced.size > 0) {
      const all = Array.from({ length: this.threads }, (_, thread) => thread);
      for (const thread of all) this.applyUnfenced(thread);
      this.shareForeign(all);
    }
    this.epoch++;
    this.clocks.fill(1);
    this.rows.fill(undefined);
    this.fenced.clear();
  }

  private applyUnfenced(thread: number): void {
    const releases = this.unfenced.get(thread);
    if (releases === undefined) return;
    this.unfenced.delete(thread);
    for (const release of releases) this.learn(thread, release);
  }

  private makeRelease(thread: number): Release {
    const own = new Map(this.foreign[thread] ?? []);
    own.set(this.block, { epoch: this.epoch, rows: rowsWith(this.rows[thread], [thread], this.clocks) });
    this.tick(thread);
    return { own };
  }

  private learn(thread: number, { own }: Release): void {
    let foreign: Map<number, BlockKnowledge> | undefined;
    for (const [block, knowledge] of own) {
      if (block === this.block) {
        if (knowledge.epoch === this.epoch) this.rows[thread] = joinRows(this.rows[thread], knowledge.rows);
        continue;
      }
      foreign ??= new Map(this.foreign[thread] ?? []);
      foreign.set(block, joinKnowledge(foreign.get(block), knowledge));
    }
    if (foreign === undefined) return;
    this.foreign[thread] = foreign;
    this.hasForeign = true;
  }

  private shareForeign(threads: readonly number[]): void {
    if (!this.hasForeign) return;
    let joined: ReadonlyMap<number, BlockKnowledge> | undefined;
    for (const thread of threads) {
      const foreign = this.foreign[thread];
      if (foreign === undefined || foreign === joined) continue;
      joined = joined === undefined ? foreign : joinMaps(joined, foreign);
    }
    for (const thread of threads) this.foreign[thread] = joined;
  }
}

function covers({ epoch, rows }: BlockKnowledge, moment: Moment): boolean {
  if (moment.epoch !== epoch) return moment.epoch < epoch;
  return (rows?.[moment.thread >>> 5]?.[moment.thread & 31] ?? 0) >= moment.clock;
}

function joinKnowledge(a: BlockKnowledge | undefined, b: BlockKnowledge): BlockKnowledge {
  if (a === undefined || b.epoch > a.epoch) return b;
  if (a.epoch > b.epoch) return a;
  return { epoch: a.epoch, rows: joinRows(a.rows, b.rows) };
}

function joinMaps(
  a: ReadonlyMap<number, BlockKnowledge>,
  b: ReadonlyMap<number, BlockKnowledge>,
): ReadonlyMap<number, BlockKnowledge> {
  const joined = new Map(a);
  for (const [block, knowledge] of b) joined.set(block, joinKnowledge(joined.get(block), knowledge));
  return joined;
}

export function joinReleases(a: Release, b: Release): Release {
  return { own: joinMaps(a.own, b.own) };
}
