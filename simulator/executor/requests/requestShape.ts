/** Granule of global traffic. */
export const SECTOR_BYTES = 32;
const SECTORS_PER_LINE = 4;
const BANKS = 32;
const WORD_BYTES = 4;
const LANES = 32;

/** What one warp's access looks like to the memory pipe. */
export interface RequestShape {
  /** Data wavefronts: of each part the most distinct words that fall on one of 32 banks. */
  wavefronts: number;
  /** Parts with active lanes: accesses of 8 and 16 bytes go by half and quarter warps. Without conflicts each takes one wavefront. */
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
  /** Then words and lines that were there before are those of the lane before. */
  private isAscending = false;
  private lastWord = -1;
  private readonly mostOf = new Int32Array(LANES / 4);

  /** @param addresses of the active lanes; of global memory or offsets in shared memory */
  take(
    kind: 'load' | 'store' | 'atomic',
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): RequestShape {
    const { shape } = this;
    shape.lines = 0;
    shape.sectors = 0;
    shape.wavefronts = 0;
    shape.parts = 0;
    const order = orderOf(bytesPerLane, activeMask, addresses);
    this.isAscending = order !== 'any';
    if (order === 'run') {
      this.addRun(activeMask, addresses);
      return shape;
    }
    const lanesAPart = lanesAtOnce(bytesPerLane);
    for (let first = 0; first < LANES; first += lanesAPart) {
      this.addPart(first, first + lanesAPart, bytesPerLane, activeMask, addresses);
    }
    if (kind === 'load' && lanesAPart < LANES)
      this.joinParts(lanesAPart, bytesPerLane, activeMask, addresses);
    for (let index = 0; index < shape.lines; index++) shape.sectors += bitCount4(shape.sectorMasks[index]);
    return shape;
  }

  /** Lanes on one word, or on one word after another: no bank has more than one. */
  private addRun(activeMask: number, addresses: Float64Array): void {
    const { shape } = this;
    const first = Math.floor(addresses[31 - Math.clz32(activeMask & -activeMask)] / SECTOR_BYTES);
    const last = Math.floor(addresses[31 - Math.clz32(activeMask)] / SECTOR_BYTES);
    shape.parts = shape.wavefronts = 1;
    shape.sectors = last - first + 1;
    for (let sector = first; sector <= last; sector++) this.addSector(sector);
  }

  private addPart(
    from: number,
    to: number,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    this.beginPart();
    let before = -1;
    for (let lane = from; lane < to; lane++) {
      const address = addresses[lane];
      if (((activeMask >>> lane) & 1) === 0 || address === before) continue;
      if (bytesPerLane === WORD_BYTES && (address & (WORD_BYTES - 1)) === 0) {
        this.addWord(address / WORD_BYTES);
        this.addSector(Math.floor(address / SECTOR_BYTES));
      } else this.addLane(address, bytesPerLane);
      before = address;
    }
    this.mostOf[from / (to - from)] = this.most;
    if (this.most === 0) return;
    this.shape.parts += 1;
    this.shape.wavefronts += this.most;
  }

  /** Two neighbouring parts of a load are served as one where their lanes allow it and it takes fewer wavefronts. */
  private joinParts(
    lanesAPart: number,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    const { shape, mostOf } = this;
    const lanes = 2 * lanesAPart;
    for (let first = 0; first < LANES; first += lanes) {
      const part = first / lanesAPart;
      const apart = mostOf[part] + mostOf[part + 1];
      if (mostOf[part] === 0 || mostOf[part + 1] === 0) continue;
      if (!mayJoin(first, lanes, activeMask, addresses)) continue;
      this.beginPart();
      for (let lane = first; lane < first + lanes; lane++) {
        if (((activeMask >>> lane) & 1) !== 0) this.addWords(addresses[lane], bytesPerLane);
      }
      if (this.most >= apart) continue;
      shape.parts -= 1;
      shape.wavefronts += this.most - apart;
    }
  }

  private beginPart(): void {
    this.bankCounts.fill(0);
    this.most = 0;
    this.lastWord = -1;
  }

  private addLane(first: number, bytes: number): void {
    this.addWords(first, bytes);
    const lastSector = Math.floor((first + bytes - 1) / SECTOR_BYTES);
    for (let sector = Math.floor(first / SECTOR_BYTES); sector <= lastSector; sector++)
      this.addSector(sector);
  }

  private addWords(first: number, bytes: number): void {
    const lastWord = Math.floor((first + bytes - 1) / WORD_BYTES);
    for (let word = Math.floor(first / WORD_BYTES); word <= lastWord; word++) this.addWord(word);
  }

  private addWord(word: number): void {
    const bank = word & (BANKS - 1);
    const count = this.bankCounts[bank];
    if (this.isAscending) {
      if (word <= this.lastWord) return;
      this.lastWord = word;
    } else {
      const words = this.bankWords[bank];
      for (let index = 0; index < count; index++) if (words[index] === word) return;
      words[count] = word;
    }
    this.bankCounts[bank] = count + 1;
    if (count + 1 > this.most) this.most = count + 1;
  }

  private addSector(sector: number): void {
    const { shape } = this;
    const bit = 1 << (sector & (SECTORS_PER_LINE - 1));
    const line = Math.floor(sector / SECTORS_PER_LINE);
    // Neighbouring lanes mostly share a line: look backwards. Of ascending addresses no further than a lane reaches.
    const least = this.isAscending ? Math.max(0, shape.lines - 2) : 0;
    for (let index = shape.lines - 1; index >= least; index--) {
      if (shape.lineNumbers[index] !== line) continue;
      shape.sectorMasks[index] |= bit;
      return;
    }
    shape.lineNumbers[shape.lines] = line;
    shape.sectorMasks[shape.lines] = bit;
    shape.lines += 1;
  }
}

/**
 * Whether no active lane's address lies below that of one before it, and whether all are the same word or each is the word
 * behind the last.
 */
function orderOf(
  bytesPerLane: number,
  activeMask: number,
  addresses: Float64Array,
): 'any' | 'ascending' | 'run' {
  if (activeMask === 0) return 'any';
  let last = addresses[31 - Math.clz32(activeMask & -activeMask)];
  const isWord = bytesPerLane === WORD_BYTES && (last & (WORD_BYTES - 1)) === 0;
  let isSame = true;
  let isNext = true;
  for (let rest = activeMask & (activeMask - 1); rest !== 0; rest &= rest - 1) {
    const step = addresses[31 - Math.clz32(rest & -rest)] - last;
    if (step < 0) return 'any';
    isSame &&= step === 0;
    isNext &&= step === WORD_BYTES;
    last += step;
  }
  return isWord && (isSame || isNext) ? 'run' : 'ascending';
}

/** A warp's request is served in parts of 128 bytes: whole, by halves, by quarters, by eighths. */
function lanesAtOnce(bytesPerLane: number): number {
  if (bytesPerLane <= 4) return 32;
  if (bytesPerLane <= 8) return 16;
  return bytesPerLane <= 16 ? 8 : 4;
}

/** Of every two neighbours (or every two that are two lanes apart) both ask for the same address, or one is inactive. */
function mayJoin(first: number, lanes: number, activeMask: number, addresses: Float64Array): boolean {
  for (let distance = 1; distance <= 2; distance++) {
    let areSame = true;
    for (let lane = first; lane < first + lanes && areSame; lane++) {
      const other = lane ^ distance;
      const areActive = ((activeMask >>> lane) & (activeMask >>> other) & 1) !== 0;
      areSame = !areActive || addresses[lane] === addresses[other];
    }
    if (areSame) return true;
  }
  return false;
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

/**
 * Sectors of a request of atomics as a card counts them: lanes on one address are sent one after another, and each time
 * the sectors of those that go together count.
 */
export function atomicSectors(activeMask: number, addresses: Float64Array): number {
  let found = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if (((activeMask >>> lane) & 1) === 0) continue;
    const address = addresses[lane];
    const sector = Math.floor(address / SECTOR_BYTES);
    let turn = 0;
    for (let other = 0; other < lane; other++) {
      if (((activeMask >>> other) & 1) !== 0 && addresses[other] === address) turn += 1;
    }
    let isKnown = false;
    for (let at = 0; at < found && !isKnown; at++)
      isKnown = SENT_SECTORS[at] === sector && SENT_TURNS[at] === turn;
    if (isKnown) continue;
    SENT_SECTORS[found] = sector;
    SENT_TURNS[found] = turn;
    found += 1;
  }
  return found;
}
const SENT_SECTORS = new Float64Array(LANES);
const SENT_TURNS = new Int32Array(LANES);

export function bitCount4(mask: number): number {
  return (mask & 1) + ((mask >> 1) & 1) + ((mask >> 2) & 1) + ((mask >> 3) & 1);
}
