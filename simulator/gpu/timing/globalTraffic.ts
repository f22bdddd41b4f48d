import { bitCount4, SECTOR_BYTES, type RequestShape } from '../../executor/index.js';
import type { DeviceProfile, DeviceTiming } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES } from './blockWork.js';
import { GRANULE_BYTES } from './granules.js';
import { L1Cache } from './l1Cache.js';
import { sectorAddress, type LineTable } from './lineTable.js';
import type { TracedBlock } from './tracedBlock.js';
import { rulesLeftOut } from './withoutRules.js';

const DATA = SM_RESOURCES.indexOf('data');
const L2_PORT = SM_RESOURCES.indexOf('l2Port');
const L2_BYTES = DEVICE_RESOURCES.indexOf('l2Bytes');
/** Lines of one request at most: a lane's bytes may cross from one into the next. */
const MOST_LINES = 160;
const NO_SEGMENT = -1;

/** What a block's requests find in its share of L1, and what they move between L1 and L2. */
export class GlobalTraffic {
  private readonly cache: L1Cache;
  private readonly places = new Int32Array(MOST_LINES);
  /** Lines of the block traced first: what blocks that run together have in common. */
  private common: LineTable | undefined;
  private missedLines = 0;
  private missedTurnBytes = 0;
  private touchedSectors = 0;
  private readonly sharesLines: boolean;

  constructor(
    private readonly profile: DeviceProfile,
    l1Bytes: number,
    /** Start address of the segment that holds an address, or -1. */
    private readonly segmentOf: (address: number) => number,
    /** Blocks that share an SM with the traced ones, themselves included. */
    private readonly residents: number,
  ) {
    const { memory, timing } = profile;
    const lines = memory.l1Bytes > 0 ? Math.max(16, Math.floor(l1Bytes / memory.lineBytes)) : 0;
    this.cache = new L1Cache(lines);
    this.sharesLines = this.cache.isThere && !rulesLeftOut(timing).has('sharedLines');
  }

  /** @param first block that was traced, unless it is this one */
  beginBlock(first: TracedBlock | undefined): void {
    this.clear();
    this.common = this.sharesLines ? first?.lines : undefined;
  }

  /** What L1 held is forgotten. */
  clear(): void {
    this.cache.clear();
  }

  /** Finds the places of a request's lines of global memory and notes how the block uses them. */
  remember(traced: TracedBlock, kind: 'load' | 'store' | 'atomic', shape: RequestShape): void {
    const { lines } = traced;
    for (let index = 0; index < shape.lines; index++) {
      const line = shape.lineNumbers[index];
      const sectors = shape.sectorMasks[index];
      let place = lines.find(line);
      if (place < 0) place = lines.place(line, this.segmentOf(sectorAddress(line, sectors)));
      lines.use(place, sectors, kind === 'load');
      this.places[index] = place;
    }
  }

  /** The same of the block's own local memory, whose use tells nothing of any buffer. */
  rememberLocal(traced: TracedBlock, shape: RequestShape): void {
    const { lines } = traced;
    for (let index = 0; index < shape.lines; index++) {
      const line = shape.lineNumbers[index];
      const place = lines.find(line);
      this.places[index] = place < 0 ? lines.place(line, NO_SEGMENT) : place;
    }
  }

  /** What a load or store moves between L1 and L2, once it is remembered; returns the sectors that a load waits for. */
  exchange(
    traced: TracedBlock,
    kind: 'load' | 'store',
    shape: RequestShape,
    askedBytes: number,
    passesL1 = false,
  ): number {
    const { timing } = this.profile;
    if (passesL1) {
      this.move(traced, shape.sectors, 1, turnBytesOf(shape, timing));
      return shape.sectors;
    }
    const missed = this.touch(traced.lines, shape);
    if (kind === 'store') {
      const isPartial = askedBytes < shape.sectors * SECTOR_BYTES;
      if (isPartial) {
        const weighed = this.touchedSectors * SECTOR_BYTES * timing.partialStoreWeightInL2;
        traced.device[L2_BYTES] += weighed + shape.lines * timing.l2TurnBytes;
        this.move(traced, this.touchedSectors, 0);
      } else this.move(traced, this.touchedSectors, timing.storeWeightInL2, turnBytesOf(shape, timing));
      return 0;
    }
    this.move(traced, missed, 1, this.missedTurnBytes);
    traced.sm[DATA] += this.missedLines * timing.fillCyclesPerLine * timing.wavefrontsPerCycle;
    return missed;
  }

  /**
   * Sectors on their way between the SM and L2.
   * @param turnBytes what L2 and the way to it take for them, if that is more than they are
   */
  move(traced: TracedBlock, sectors: number, weight: number, turnBytes = sectors * SECTOR_BYTES): void {
    traced.sm[L2_PORT] += turnBytes;
    traced.device[L2_BYTES] += turnBytes * weight;
    traced.l2Sectors += sectors;
  }

  /**
   * @param sectors of the request remembered last that L1 does not have
   * @param storedBytes 0 for a load
   */
  ask(traced: TracedBlock, shape: RequestShape, sectors: number, storedBytes: number): void {
    if (sectors === 0 || shape.sectors === 0) return;
    const segment = traced.lines.segments[this.places[0]];
    let asked = traced.asked.get(segment);
    if (asked === undefined)
      traced.asked.set(segment, (asked = { sectorBytes: 0, dramBytes: 0, partialBytes: 0, storedBytes: 0 }));
    let granules = 0;
    for (let index = 0; index < shape.lines; index++) {
      const mask = shape.sectorMasks[index];
      granules += ((mask & 3) === 0 ? 0 : 1) + ((mask & 12) === 0 ? 0 : 1);
    }
    asked.sectorBytes += sectors * SECTOR_BYTES;
    const bytes = granules * (sectors / shape.sectors) * GRANULE_BYTES;
    asked.dramBytes += bytes;
    asked.storedBytes += storedBytes;
    if (storedBytes > 0 && storedBytes < shape.sectors * SECTOR_BYTES) asked.partialBytes += bytes;
  }

  /** What was missed; of a line that all residents of an SM use, only one in so many fetches it. */
  private touch(lines: LineTable, shape: RequestShape): number {
    let missed = 0;
    this.missedLines = 0;
    this.missedTurnBytes = 0;
    this.touchedSectors = 0;
    for (let index = 0; index < shape.lines; index++) {
      const place = this.places[index];
      lines.noteCached(place);
      const share = this.common?.wasCached(shape.lineNumbers[index]) === true ? 1 / this.residents : 1;
      const sectors = bitCount4(this.cache.touch(place, shape.sectorMasks[index], share));
      missed += sectors * share;
      if (sectors > 0) {
        this.missedLines += share;
        this.missedTurnBytes += turnBytes(sectors, this.profile.timing) * share;
      }
      this.touchedSectors += bitCount4(shape.sectorMasks[index]);
    }
    return missed;
  }
}

/** What a line's request takes of L2: a turn serves one, of one sector or two. */
function turnBytes(sectors: number, { l2TurnBytes }: DeviceTiming): number {
  return Math.max(l2TurnBytes, sectors * SECTOR_BYTES);
}

function turnBytesOf({ lines, sectorMasks }: RequestShape, timing: DeviceTiming): number {
  let bytes = 0;
  for (let index = 0; index < lines; index++) bytes += turnBytes(bitCount4(sectorMasks[index]), timing);
  return bytes;
}
