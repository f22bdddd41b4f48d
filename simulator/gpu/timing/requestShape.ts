const BANKS = 32;
const WORD_BYTES = 4;

/** What one warp's access looks like to the memory pipe. */
export interface RequestShape {
  /** Data wavefronts: the most distinct words that fall on one of 32 banks. */
  wavefronts: number;
  /** Distinct 128-byte lines, with the sectors of each as a mask; the first `lines` entries are valid. */
  lines: number;
  readonly lineNumbers: Float64Array;
  readonly sectorMasks: Int32Array;
}

/** Shapes requests; one instance is reused, so that a long trace allocates nothing. */
export class RequestShaper {
  readonly shape: RequestShape = {
    wavefronts: 0,
    lines: 0,
    lineNumbers: new Float64Array(32 * 5),
    sectorMasks: new Int32Array(32 * 5),
  };
  private readonly bankCounts = new Int32Array(BANKS);
  private readonly bankWords = Array.from({ length: BANKS }, () => new Float64Array(BANKS * 4));

  take(bytesPerLane: number, activeMask: number, addresses: Float64Array): RequestShape {
    const { shape } = this;
    this.bankCounts.fill(0);
    shape.lines = 0;
    shape.wavefronts = 0;
    for (let lane = 0; lane < 32; lane++) {
      if (((activeMask >>> lane) & 1) === 0) continue;
      const first = addresses[lane];
      const last = first + bytesPerLane - 1;
      for (let word = Math.floor(first / WORD_BYTES); word <= Math.floor(last / WORD_BYTES); word++)
        this.addWord(word);
      for (let sector = Math.floor(first / 32); sector <= Math.floor(last / 32); sector++)
        this.addSector(sector);
    }
    return shape;
  }

  private addWord(word: number): void {
    const bank = word % BANKS;
    const words = this.bankWords[bank];
    const count = this.bankCounts[bank];
    for (let index = 0; index < count; index++) if (words[index] === word) return;
    words[count] = word;
    this.bankCounts[bank] = count + 1;
    if (count + 1 > this.shape.wavefronts) this.shape.wavefronts = count + 1;
  }

  private addSector(sector: number): void {
    const { shape } = this;
    const line = Math.floor(sector / 4);
    const bit = 1 << (sector % 4);
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

export function bitCount4(mask: number): number {
  return (mask & 1) + ((mask >> 1) & 1) + ((mask >> 2) & 1) + ((mask >> 3) & 1);
}
