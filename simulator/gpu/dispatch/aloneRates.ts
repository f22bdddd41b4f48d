import {
  DEVICE_PATH,
  DEVICE_SHARED,
  UNFELT,
  classRates,
  joinedNs,
  pathNs,
  raised,
  soloDevicePower,
  soloSmPower,
  soloTime,
  type BlockWork,
  type Capacities,
} from '../timing/index.js';
import type { BlockEnergy, ResidentGroup } from './residentGroup.js';

/** Columns of a kind's row: what it asks of each resource of the device and of the memory's path, */
const AMOUNTS = 0;
/** the same a nanosecond of a block alone, */
const WANTS = AMOUNTS + DEVICE_SHARED;
/** below how many nanoseconds a resource is not felt, */
const LEAST = WANTS + DEVICE_SHARED;
/** the power sum of what the SM limits, */
const OWN = LEAST + 1;
/** its chain of latencies, the exponent that joins it of a block alone, and the chain raised to that, */
const CHAIN = OWN + 1;
const JOINING = CHAIN + 1;
const CHAIN_POWER = JOINING + 1;
/** how its exponent depends on the device's part of its waits: squared rounds, and their sum with the card's; no rounds: not, */
const ROUNDS = CHAIN_POWER + 1;
const DRIFT = ROUNDS + 1;
/** energy of a block, in picojoules, */
const CHIP = DRIFT + 1;
const MEMORY = CHIP + 1;
/** and what the last look said: how many blocks there were, their time and rate. */
const COUNT = MEMORY + 1;
const BLOCK_NS = COUNT + 1;
const RATE = BLOCK_NS + 1;
const ROW = RATE + 1;

const FEW_ROWS = 16;
const NO_ROW = -1;

/** What works with the same amounts have in common, however long their chains. */
interface CommonTerms {
  readonly sm: readonly number[];
  readonly warps: number;
  readonly perSm: number;
  readonly own: number;
  readonly smPower: number;
  readonly devicePower: number;
  readonly amounts: Float64Array;
  readonly energy: BlockEnergy;
}

/** What blocks that go at their present rates draw, in picojoules a nanosecond. */
export interface DrawnPower {
  chip: number;
  memory: number;
}

/**
 * Rates of groups each of which has its SMs to itself, as when one kernel runs after the other or each takes other SMs.
 * They come out as `blockRates` tells, but what does not change of a kind of work is worked out once, and rates anew only
 * where the device's share of something has changed. One table holds a row of numbers a kind: this is what launches of a few
 * microseconds spend their time on.
 */
export class AloneRates {
  readonly drawn: DrawnPower = { chip: 0, memory: 0 };
  private table = new Float64Array(FEW_ROWS * ROW);
  /** By row: whose it is, and when a look last met it. */
  private readonly works: (BlockWork | undefined)[] = new Array<undefined>(FEW_ROWS).fill(undefined);
  private perSms = new Int32Array(FEW_ROWS);
  private lookedAt = new Float64Array(FEW_ROWS).fill(NO_ROW);
  private isNew = new Uint8Array(FEW_ROWS);
  /** Rows that the last look met, in its order. */
  private order = new Int32Array(FEW_ROWS);
  private kindCount = 0;
  /** Row of the group at each position: most are the same at the next look. */
  private rowAt = new Int32Array(FEW_ROWS).fill(NO_ROW);
  private looks = 0;
  private nextVictim = 0;

  /** What a block gets of each shared resource a nanosecond; Infinity where nobody asks for it. */
  private readonly levels = new Float64Array(DEVICE_SHARED).fill(Infinity);
  /** The lesser of that and of what it was before, where it has changed; else Infinity. */
  private readonly changed = new Float64Array(DEVICE_SHARED).fill(Infinity);
  private readonly largest = new Float64Array(DEVICE_SHARED);
  private readonly capacities: Float64Array;

  private readonly known = new WeakMap<BlockWork, { readonly perSm: number; readonly row: Float64Array }>();
  private readonly common = new WeakMap<readonly number[], CommonTerms>();

  constructor(
    private readonly limits: Capacities,
    private readonly exponent: number,
    private readonly schedulers: number,
    private readonly energyOf: (work: BlockWork) => BlockEnergy,
  ) {
    this.capacities = Float64Array.from([...limits.device, 1]);
  }

  /**
   * @param isFresh false: all that were resident at the last call have the rates that it gave them
   * @returns in how many nanoseconds the next group ends
   */
  rate(groups: readonly ResidentGroup[], isFresh: boolean): number {
    this.meet(groups, isFresh);
    this.share();
    const { table, order, isNew, kindCount, drawn } = this;
    let chip = 0;
    let memory = 0;
    for (let index = 0; index < kindCount; index++) {
      const row = order[index];
      const at = row * ROW;
      if (isNew[row] === 1 || this.feels(at)) {
        const blockNs = this.blockNs(at);
        table[at + BLOCK_NS] = blockNs;
        table[at + RATE] = 1 / blockNs;
      }
      const blocksPerNs = table[at + RATE] * table[at + COUNT];
      chip += blocksPerNs * table[at + CHIP];
      memory += blocksPerNs * table[at + MEMORY];
    }
    drawn.chip = chip;
    drawn.memory = memory;
    const { rowAt } = this;
    let soonestNs = Infinity;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index];
      const at = rowAt[index] * ROW;
      group.ratePerNs = table[at + RATE];
      const leftNs = group.remaining * table[at + BLOCK_NS];
      if (leftNs < soonestNs) soonestNs = leftNs;
    }
    return soonestNs > 0 ? soonestNs : 0;
  }

  /** In how many nanoseconds the next of the groups ends, of works at their positions as at the last look. */
  soonestNs(groups: readonly ResidentGroup[]): number {
    const { table, rowAt } = this;
    let soonestNs = Infinity;
    for (let index = 0; index < groups.length; index++) {
      const leftNs = groups[index].remaining * table[rowAt[index] * ROW + BLOCK_NS];
      if (leftNs < soonestNs) soonestNs = leftNs;
    }
    return soonestNs > 0 ? soonestNs : 0;
  }

  /** Puts the groups together by kinds, in the order in which they come, and counts their blocks. */
  private meet(groups: readonly ResidentGroup[], isFresh: boolean): void {
    const look = ++this.looks;
    const { length } = groups;
    if (length > this.rowAt.length) this.rowAt = longer(this.rowAt, NO_ROW, length);
    const { rowAt, works } = this;
    let kinds = 0;
    for (let index = 0; index < length; index++) {
      const { work, perSm, count } = groups[index];
      let row = rowAt[index];
      if (row < 0 || works[row] !== work || this.perSms[row] !== perSm) {
        rowAt[index] = row = this.rowOf(work, perSm);
      }
      const metAt = this.lookedAt[row];
      if (metAt === look) {
        this.table[row * ROW + COUNT] += count;
        continue;
      }
      this.isNew[row] = isFresh || metAt !== look - 1 ? 1 : 0;
      this.lookedAt[row] = look;
      this.table[row * ROW + COUNT] = count;
      this.order[kinds++] = row;
    }
    this.kindCount = kinds;
  }

  /** Shares each resource max-min fairly among the demands that blocks would make alone: see `DeviceShares`. */
  private share(): void {
    const { table, order, kindCount, levels, changed, largest, capacities } = this;
    for (let shared = 0; shared < DEVICE_SHARED; shared++) {
      let wanted = 0;
      let most = 0;
      for (let index = 0; index < kindCount; index++) {
        const at = order[index] * ROW;
        const perNs = table[at + WANTS + shared];
        wanted += perNs * table[at + COUNT];
        if (perNs > most) most = perNs;
      }
      largest[shared] = most;
      const capacity = capacities[shared];
      const before = levels[shared];
      const level =
        wanted <= 0 ? Infinity : wanted <= capacity ? (capacity / wanted) * most : this.shortLevel(shared);
      if (level === before) {
        changed[shared] = Infinity;
        continue;
      }
      changed[shared] = level < before ? level : before;
      levels[shared] = level;
    }
  }

  /** Where wants do not fit: those that want less than the level get what they want, the others the level. */
  private shortLevel(shared: number): number {
    const { table, order, kindCount } = this;
    let level = 0;
    for (;;) {
      let left = this.capacities[shared];
      let members = 0;
      for (let index = 0; index < kindCount; index++) {
        const at = order[index] * ROW;
        const perNs = table[at + WANTS + shared];
        const count = table[at + COUNT];
        if (perNs < level) left -= perNs * count;
        else members += count;
      }
      if (members === 0) return this.largest[shared];
      const next = left / members;
      if (!(next > level)) return level;
      level = next;
    }
  }

  /** Whether a block could tell what it gets now from what it got before the last look. */
  private feels(at: number): boolean {
    const { table, changed } = this;
    const leastNs = table[at + LEAST];
    for (let shared = 0; shared < DEVICE_SHARED; shared++) {
      if (table[at + AMOUNTS + shared] > leastNs * changed[shared]) return true;
    }
    return false;
  }

  private blockNs(at: number): number {
    const { table, limits } = this;
    const ofDevice = this.devicePower(at);
    const power = ofDevice + table[at + OWN];
    const rounds = table[at + ROUNDS];
    const apart = rounds < 0 ? 1 : ((power > 0 ? ofDevice / power : 0) * rounds) / table[at + DRIFT];
    const { chainExponent, togetherExponent } = limits;
    const exponent = togetherExponent + (chainExponent - togetherExponent) * apart;
    const chainPower =
      exponent === table[at + JOINING] ? table[at + CHAIN_POWER] : raised(table[at + CHAIN], exponent);
    return joinedNs(power ** (exponent / this.exponent), chainPower, exponent);
  }

  /** The power sum of what the device limits of a block. */
  private devicePower(at: number): number {
    const { table, levels, exponent } = this;
    const leastNs = table[at + LEAST];
    let power = 0;
    let longestNs = 0;
    for (let resource = 0; resource < DEVICE_PATH; resource++) {
      const amount = table[at + AMOUNTS + resource];
      // Told without a division: little of what there is is felt.
      if (amount <= leastNs * levels[resource]) continue;
      const timeNs = amount / levels[resource];
      power += raised(timeNs, exponent);
      if (timeNs > longestNs) longestNs = timeNs;
    }
    // Behind other launches' requests a block waits longer than for its own stages.
    const path = table[at + AMOUNTS + DEVICE_PATH];
    if (path <= leastNs * levels[DEVICE_PATH]) return power;
    const pathTimeNs = path / levels[DEVICE_PATH];
    return pathTimeNs > longestNs ? Math.max(power, raised(pathTimeNs, exponent)) : power;
  }

  /** The row of a kind, which is made where it has none. */
  private rowOf(work: BlockWork, perSm: number): number {
    const { works, perSms } = this;
    for (let row = 0; row < works.length; row++) {
      if (works[row] === work && perSms[row] === perSm) return row;
    }
    const row = this.freeRow();
    works[row] = work;
    this.perSms[row] = perSm;
    this.lookedAt[row] = NO_ROW;
    this.fill(row * ROW, work, perSm);
    return row;
  }

  /** One that neither this look nor the last one has met. */
  private freeRow(): number {
    const { looks, works } = this;
    const rows = works.length;
    for (let tries = 0; tries < rows; tries++) {
      const row = this.nextVictim;
      this.nextVictim = row + 1 === rows ? 0 : row + 1;
      if (this.lookedAt[row] < looks - 1) return row;
    }
    for (let row = 0; row < rows; row++) works.push(undefined);
    const table = new Float64Array(2 * rows * ROW);
    table.set(this.table);
    this.table = table;
    this.perSms = longer(this.perSms, 0, 2 * rows);
    this.order = longer(this.order, 0, 2 * rows);
    const [lookedAt, isNew] = [new Float64Array(2 * rows).fill(NO_ROW), new Uint8Array(2 * rows)];
    lookedAt.set(this.lookedAt);
    isNew.set(this.isNew);
    this.lookedAt = lookedAt;
    this.isNew = isNew;
    return rows;
  }

  private fill(at: number, work: BlockWork, perSm: number): void {
    const { table } = this;
    // A launch's first blocks are hardly ever equal to another's.
    if (work.startsTogether === true) {
      this.workOut(table, at, work, perSm);
      return;
    }
    let known = this.known.get(work);
    if (known?.perSm !== perSm) {
      known = { perSm, row: new Float64Array(ROW) };
      this.workOut(known.row, 0, work, perSm);
      this.known.set(work, known);
    }
    const { row } = known;
    for (let column = 0; column < COUNT; column++) table[at + column] = row[column];
  }

  private workOut(table: Float64Array, at: number, work: BlockWork, perSm: number): void {
    const { limits, exponent } = this;
    const { amounts, smPower, devicePower, own, energy } = this.commonOf(work, perSm);
    const solo = soloTime(work, smPower, devicePower, limits, exponent);
    const soloRate = 1 / solo.soloNs;
    for (let shared = 0; shared < DEVICE_SHARED; shared++) {
      table[at + AMOUNTS + shared] = amounts[shared];
      table[at + WANTS + shared] = amounts[shared] * soloRate;
    }
    table[at + LEAST] = UNFELT * solo.soloNs;
    table[at + OWN] = own;
    table[at + CHAIN] = solo.chainNs;
    table[at + JOINING] = solo.joinExponent;
    table[at + CHAIN_POWER] = solo.chainPower;
    const { startsTogether, isLoose, rounds = 0 } = work;
    const isApart = startsTogether !== true || isLoose === true;
    table[at + ROUNDS] = isApart ? -1 : rounds ** 2;
    table[at + DRIFT] = rounds ** 2 + limits.driftRounds ** 2;
    table[at + CHIP] = energy.chip;
    table[at + MEMORY] = energy.memory;
  }

  private commonOf(work: BlockWork, perSm: number): CommonTerms {
    const { limits, exponent, schedulers } = this;
    const known = this.common.get(work.device);
    if (known?.sm === work.sm && known.warps === work.warps && known.perSm === perSm) return known;
    const [rate] = classRates(
      // The same to the last bit for all of these works, whichever comes first.
      [{ work: { ...work, startsTogether: false }, sms: 1, perSm }],
      [0],
      { soloNs: [1], chains: [0], powers: [0], schedulers },
      limits,
      exponent,
    );
    const made = {
      sm: work.sm,
      warps: work.warps,
      perSm,
      own: raised(1 / rate, exponent),
      smPower: soloSmPower(work, limits, exponent, schedulers),
      devicePower: soloDevicePower(work, limits, exponent),
      amounts: Float64Array.from([...work.device, pathNs(work, limits)]),
      energy: this.energyOf(work),
    };
    this.common.set(work.device, made);
    return made;
  }
}

function longer(array: Int32Array, filled: number, least: number): Int32Array<ArrayBuffer> {
  const made = new Int32Array(Math.max(least, 2 * array.length)).fill(filled);
  made.set(array);
  return made;
}
