import { RequestShaper, SECTOR_BYTES, type RequestShape } from '../../executor/index.js';
import type { DeviceProfile } from '../profiles/index.js';

type Kind = 'load' | 'store' | 'atomic';

/** How a card turns a warp's accesses into requests. */
export interface RequestRule {
  /** The shape is reused by the next call. */
  take(
    space: 'global' | 'shared',
    kind: Kind,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): RequestShape;
}

export function requestRule({ memory }: DeviceProfile): RequestRule {
  return memory.coalescedLanes === HALF ? new HalfWarpRule() : new SectorRule();
}

/** Since compute capability 2.0: a warp's distinct sectors, and 32 banks. */
class SectorRule implements RequestRule {
  private readonly shaper = new RequestShaper();

  take(
    _space: 'global' | 'shared',
    kind: Kind,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): RequestShape {
    return this.shaper.take(kind, bytesPerLane, activeMask, addresses);
  }
}

const LANES = 32;
const HALF = 16;
const BANKS = 16;
const WORD_BYTES = 4;
const LINE_BYTES = 128;
const SECTORS_PER_LINE = LINE_BYTES / SECTOR_BYTES;

/**
 * Compute capability 1.0. A half-warp's accesses to global memory are one segment when its k-th lane takes the k-th word of
 * 4, 8 or 16 bytes of it; else every lane's goes alone, 32 bytes each, though others want the same. Shared memory has 16
 * banks and serves half a warp at a time.
 */
class HalfWarpRule implements RequestRule {
  private readonly shape: RequestShape = {
    wavefronts: 0,
    parts: 0,
    sectors: 0,
    lines: 0,
    lineNumbers: new Float64Array(LANES * 2),
    sectorMasks: new Int32Array(LANES * 2),
  };

  take(
    space: 'global' | 'shared',
    _kind: Kind,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): RequestShape {
    const { shape } = this;
    shape.wavefronts = shape.parts = shape.sectors = shape.lines = 0;
    for (let from = 0; from < LANES; from += HALF) {
      if (((activeMask >>> from) & 0xffff) === 0) continue;
      shape.parts += 1;
      if (space === 'shared') {
        // In wavefronts of a whole warp.
        shape.wavefronts += busiestBank(from, bytesPerLane, activeMask, addresses) / 2;
      } else {
        const base = segmentBase(from, bytesPerLane, activeMask, addresses);
        if (base === undefined) this.addAlone(from, bytesPerLane, activeMask, addresses);
        else this.addSegment(base, HALF * bytesPerLane);
      }
    }
    if (space === 'global') shape.wavefronts = shape.lines;
    return shape;
  }

  private addSegment(base: number, bytes: number): void {
    for (let at = base; at < base + bytes; at += LINE_BYTES) {
      const sectors = Math.min(bytes, LINE_BYTES) / SECTOR_BYTES;
      this.add(Math.floor(at / LINE_BYTES), ((1 << sectors) - 1) << sectorOf(at), sectors);
    }
  }

  private addAlone(from: number, bytes: number, activeMask: number, addresses: Float64Array): void {
    for (let lane = from; lane < from + HALF; lane++) {
      if (((activeMask >>> lane) & 1) === 0) continue;
      const address = addresses[lane];
      const last = Math.floor((address + bytes - 1) / SECTOR_BYTES);
      for (let sector = Math.floor(address / SECTOR_BYTES); sector <= last; sector++) {
        this.add(Math.floor(sector / SECTORS_PER_LINE), 1 << (sector % SECTORS_PER_LINE), 1);
      }
    }
  }

  private add(line: number, mask: number, sectors: number): void {
    const { shape } = this;
    shape.lineNumbers[shape.lines] = line;
    shape.sectorMasks[shape.lines] = mask;
    shape.lines += 1;
    shape.sectors += sectors;
  }
}

function sectorOf(address: number): number {
  return Math.floor(address / SECTOR_BYTES) % SECTORS_PER_LINE;
}

/** Where the half-warp's segment starts, or undefined when its accesses do not coalesce. */
function segmentBase(
  from: number,
  bytes: number,
  activeMask: number,
  addresses: Float64Array,
): number | undefined {
  if (bytes !== 4 && bytes !== 8 && bytes !== 16) return undefined;
  let base: number | undefined;
  for (let lane = from; lane < from + HALF; lane++) {
    if (((activeMask >>> lane) & 1) === 0) continue;
    const start = addresses[lane] - (lane - from) * bytes;
    if (base !== undefined && start !== base) return undefined;
    base = start;
  }
  return base !== undefined && base % (HALF * bytes) === 0 ? base : undefined;
}

/** The most distinct words that fall on one bank. */
function busiestBank(from: number, bytes: number, activeMask: number, addresses: Float64Array): number {
  const words: Set<number>[] = Array.from({ length: BANKS }, () => new Set());
  for (let lane = from; lane < from + HALF; lane++) {
    if (((activeMask >>> lane) & 1) === 0) continue;
    const last = Math.floor((addresses[lane] + bytes - 1) / WORD_BYTES);
    for (let word = Math.floor(addresses[lane] / WORD_BYTES); word <= last; word++)
      words[word % BANKS].add(word);
  }
  return Math.max(...words.map((held) => held.size));
}
