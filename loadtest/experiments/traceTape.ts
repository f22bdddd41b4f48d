import type { TraceSink } from '../../simulator/executor/index.js';

type Space = 'global' | 'shared' | 'local';
type Kind = 'load' | 'store' | 'atomic';

const SPACES: readonly Space[] = ['global', 'shared', 'local'];
const KINDS: readonly Kind[] = ['load', 'store', 'atomic'];
const INDEX_BITS = 20;
const INDEX_MASK = (1 << INDEX_BITS) - 1;
/** Addresses of an access: first and stride, differences from the first, or each as it is. */
const STRIDED = 0;
const NEAR = 1;
const ANY = 2;
const MOST_WORDS = 5 + 64;

/** What one block told a sink, for sinks that come later. Addresses that lie in a row take two words. */
export class TraceTape implements TraceSink {
  private words = new Int32Array(1 << 12);
  private length = 0;
  private readonly double = new Float64Array(1);
  private readonly halves = new Int32Array(this.double.buffer);
  private readonly addresses = new Float64Array(32);

  /** @param sink hears everything too, and decides when it is enough */
  constructor(private sink: TraceSink | undefined) {}

  get full(): boolean {
    return this.sink?.full === true;
  }

  onBlock(block: number): void {
    this.sink?.onBlock(block);
  }

  onInstruction(warp: number, index: number, activeMask: number, lanes: number): void {
    this.reserve(3);
    this.put((warp << INDEX_BITS) | index);
    this.put(activeMask);
    this.put(lanes);
    this.sink?.onInstruction(warp, index, activeMask, lanes);
  }

  onAccess(
    warp: number,
    index: number,
    space: 'global' | 'shared',
    kind: Kind,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    this.record(warp, index, space, kind, bytesPerLane, activeMask, addresses);
    this.sink?.onAccess(warp, index, space, kind, bytesPerLane, activeMask, addresses);
  }

  onLocalAccess(
    warp: number,
    index: number,
    kind: 'load' | 'store',
    bytesPerLane: number,
    activeMask: number,
    offsets: Float64Array,
  ): void {
    this.record(warp, index, 'local', kind, bytesPerLane, activeMask, offsets);
    this.sink?.onLocalAccess?.(warp, index, kind, bytesPerLane, activeMask, offsets);
  }

  private record(
    warp: number,
    index: number,
    space: Space,
    kind: Kind,
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    this.reserve(MOST_WORDS);
    const first = activeMask === 0 ? 0 : 31 - Math.clz32(activeMask & -activeMask);
    const rest = activeMask & ~(1 << first);
    const base = activeMask === 0 ? 0 : addresses[first];
    const second = rest === 0 ? first + 1 : 31 - Math.clz32(rest & -rest);
    const stride = rest === 0 ? 0 : (addresses[second] - base) / (second - first);
    let form = isWord(stride) ? STRIDED : NEAR;
    for (let lane = first; lane < 32; lane++) {
      if (((activeMask >>> lane) & 1) === 0) continue;
      if (form === STRIDED && addresses[lane] !== base + stride * (lane - first)) form = NEAR;
      if (form === NEAR && !isWord(addresses[lane] - base)) form = ANY;
    }
    // Below 0, which no instruction is.
    this.put(-1 - ((form << 13) | (KINDS.indexOf(kind) << 11) | (SPACES.indexOf(space) << 9) | bytesPerLane));
    this.put((warp << INDEX_BITS) | index);
    this.put(activeMask);
    this.putDouble(base);
    if (form === STRIDED) this.put(stride);
    else {
      for (let lane = 0; lane < 32; lane++) {
        if (((activeMask >>> lane) & 1) === 0) continue;
        if (form === NEAR) this.put(addresses[lane] - base);
        else this.putDouble(addresses[lane]);
      }
    }
  }

  /** The block is over: no more is heard, and no more room kept than needed. */
  end(): void {
    this.sink = undefined;
    this.words = this.words.slice(0, this.length);
  }

  /** Tells a sink what was heard, until it has enough. */
  play(block: number, sink: TraceSink): void {
    sink.onBlock(block);
    const { words, addresses } = this;
    for (let at = 0; at < this.length;) {
      const word = words[at];
      if (word >= 0) {
        if (sink.full) return;
        sink.onInstruction(word >>> INDEX_BITS, word & INDEX_MASK, words[at + 1], words[at + 2]);
        at += 3;
        continue;
      }
      const code = -1 - word;
      const place = words[at + 1];
      const mask = words[at + 2];
      const base = this.doubleAt(at + 3);
      at = this.readAddresses(at + 5, code >> 13, mask, base);
      const warp = place >>> INDEX_BITS;
      const index = place & INDEX_MASK;
      const space = SPACES[(code >> 9) & 3];
      const kind = KINDS[(code >> 11) & 3];
      if (space !== 'local') sink.onAccess(warp, index, space, kind, code & 0x1ff, mask, addresses);
      else if (kind !== 'atomic') sink.onLocalAccess?.(warp, index, kind, code & 0x1ff, mask, addresses);
    }
  }

  /** @returns where the next record starts */
  private readAddresses(start: number, form: number, mask: number, base: number): number {
    let at = start;
    const { words, addresses } = this;
    if (form === STRIDED) {
      const first = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
      for (let lane = first; lane < 32; lane++) addresses[lane] = base + words[at] * (lane - first);
      return at + 1;
    }
    for (let lane = 0; lane < 32; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      addresses[lane] = form === NEAR ? base + words[at] : this.doubleAt(at);
      at += form === NEAR ? 1 : 2;
    }
    return at;
  }

  private put(word: number): void {
    this.words[this.length++] = word;
  }

  private putDouble(value: number): void {
    this.double[0] = value;
    this.put(this.halves[0]);
    this.put(this.halves[1]);
  }

  private doubleAt(at: number): number {
    this.halves[0] = this.words[at];
    this.halves[1] = this.words[at + 1];
    return this.double[0];
  }

  private reserve(words: number): void {
    if (this.length + words <= this.words.length) return;
    const more = new Int32Array(this.words.length * 2);
    more.set(this.words);
    this.words = more;
  }
}

function isWord(value: number): boolean {
  return (value | 0) === value;
}
