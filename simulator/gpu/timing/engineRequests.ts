const LANES = 32;

type Space = 'global' | 'shared';
type Kind = 'load' | 'store' | 'atomic';
type Take = (
  space: Space,
  warp: number,
  index: number,
  kind: Kind,
  bytesPerLane: number,
  activeMask: number,
  addresses: Float64Array,
) => void;

interface Pending {
  warp: number;
  index: number;
  kind: Kind;
  bytes: number;
  count: number;
  readonly addresses: Float64Array;
}

/**
 * The copy engine moves whole lines: pieces that a copy asks for one after another are taken as the lanes of one request, up to
 * 32 of one instruction.
 */
export class EngineRequests {
  private readonly pending: Readonly<Record<Space, Pending>> = { global: newPending(), shared: newPending() };

  constructor(private readonly take: Take) {}

  add(
    space: Space,
    warp: number,
    index: number,
    kind: Kind,
    bytes: number,
    mask: number,
    told: Float64Array,
  ): void {
    const pending = this.pending[space];
    for (let lane = 0; lane < LANES; lane++) {
      if (((mask >>> lane) & 1) === 0) continue;
      const isSame = pending.warp === warp && pending.index === index && pending.bytes === bytes;
      if (!isSame || pending.count === LANES) this.flushOf(space);
      Object.assign(pending, { warp, index, kind, bytes });
      pending.addresses[pending.count++] = told[lane];
    }
  }

  /** Takes what is left over: before anything else of a block is looked at. */
  flush(): void {
    this.flushOf('global');
    this.flushOf('shared');
  }

  private flushOf(space: Space): void {
    const { warp, index, kind, bytes, count, addresses } = this.pending[space];
    if (count === 0) return;
    this.pending[space].count = 0;
    this.take(space, warp, index, kind, bytes, 2 ** count - 1, addresses);
  }
}

function newPending(): Pending {
  return { warp: 0, index: 0, kind: 'load', bytes: 0, count: 0, addresses: new Float64Array(LANES) };
}
