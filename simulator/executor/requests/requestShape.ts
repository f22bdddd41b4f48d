/** Granule of global traffic. */
export const SECTOR_BYTES = 32;
/** Lanes of a request that ask for 4 bytes or less each are served together; of wider ones, as many as make 128 bytes. */
const PASS_BYTES = 128;
const SECTORS_PER_LINE = 4;
const BANKS = 32;
const WORD_BYTES = 4;
const LANES = 32;

/** What one warp's access looks like to the memory pipe. */
export interface RequestShape {
  /** Data wavefronts: of each part the most distinct words that fall on one of 32 banks. */
  wavefronts: number;
  /** Parts with active lanes: wide accesses go by half and quarter warps, and cannot take fewer wavefronts than these. */
  parts: number;
  /** Distinct sectors of 32 bytes. */
  sectors: number;
  /** Distinct 128-byte lines, with the sectors of each as a mask; the first `lines` entries are valid. */
  lines: number;
  readonly lineNumbers: Float64Array;
  readonly sectorMasks: Int32Array;
}

/**
 * The one definition of sectors, lines and bank conflicts: the timing model and the profiler shape requests with it.
 * An instance is reused, so that a long trace allocates nothing; `take` gives the same object every time.
 */
export class RequestShaper {
  readonly shape: RequestShape = {
    wavefronts: 0,
    parts: 0,
    sectors: 0,
    lines: 0,
    lineNumbers: new Float64Array(LANES * 5),
    sectorMasks: new Int32Array(LANES * 5),
  };
  private readonly bankCounts = new Int32Array(BANKS);
  private readonly bankWords = Array.from({ length: BANKS }, () => new Float64Array(BANKS * 4));
  private most = 0;

  /** @param addresses of the active lanes; of global memory or offsets in shared memory */
  take(bytesPerLane: number, activeMask: number, addresses: Float64Array): RequestShape {
    const { shape } = this;
    shape.lines = 0;
    shape.sectors = 0;
    shape.wavefronts = 0;
    shape.parts = 0;
    const lanesAPart = bytesPerLane <= WORD_BYTES ? LANES : Math.max(1, PASS_BYTES / bytesPerLane);
    for (let first = 0; first < LANES; first += lanesAPart) {
      this.bankCounts.fill(0);
      this.most = 0;
      for (let lane = first; lane < first + lanesAPart; lane++) {
        if (((activeMask >>> lane) & 1) !== 0) this.addLane(addresses[lane], bytesPerLane);
      }
      if (this.most === 0) continue;
      shape.parts += 1;
      shape.wavefronts += this.most;
    }
    for (let index = 0; index < shape.lines; index++) shape.sectors += bitCount4(shape.sectorMasks[index]);
    return shape;
  }

  private addLane(first: number, bytes: number): void {
    const last = first + bytes - 1;
    const lastWord = Math.floor(last / WORD_BYTES);
    for (let word = Math.floor(first / WORD_BYTES); word <= lastWord; word++) this.addWord(word);
    const lastSector = Math.floor(last / SECTOR_BYTES);
    for (let sector = Math.floor(first / SECTOR_BYTES); sector <= lastSector; sector++)
      this.addSector(sector);
  }

  private addWord(word: number): void {
    const bank = word % BANKS;
    const words = this.bankWords[bank];
    const count = this.bankCounts[bank];
    for (let index = 0; index < count; index++) if (words[index] === word) return;
    words[count] = word;
    this.bankCounts[bank] = count + 1;
    if (count + 1 > this.most) this.most = count + 1;
  }

  private addSector(sector: number): void {
    const { shape } = this;
    const line = Math.floor(sector / SECTORS_PER_LINE);
    const bit = 1 << (sector % SECTORS_PER_LINE);
    // Neighbouring lanes mostly share a line: look backwards.
    for (let index = shape.lines - 1; index >= 0; index--) {
      if (shape.lineNumbers[index] !== line) continue;
      shape.sectorMasks[index] |= bit;
      return;
    }
    shape.lineNumbers[shape.lines] = line;
    shape.sectorMasks[shape.lines] = bit;
    shape.lines += 1;
  }
}

/** Cycles of a shared atomic: memory serves one lane a bank at a time, and lanes on one word wait for each other. */
export function sharedAtomicCycles(activeMask: number, addresses: Float64Array): number {
  LANES_ON_BANK.fill(0);
  let most = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if (((activeMask >>> lane) & 1) === 0) continue;
    const bank = Math.floor(addresses[lane] / WORD_BYTES) % BANKS;
    LANES_ON_BANK[bank] += 1;
    most = Math.max(most, LANES_ON_BANK[bank]);
  }
  return most;
}
const LANES_ON_BANK = new Int32Array(BANKS);

export function bitCount4(mask: number): number {
  return (mask & 1) + ((mask >> 1) & 1) + ((mask >> 2) & 1) + ((mask >> 3) & 1);
}
