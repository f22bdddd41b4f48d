import type { IrFunction } from '../../ptx/index.js';
import type { AccessProfile, AccessSite, TraceSink } from '../types.js';

/** Granule of global traffic, bytes. */
const SECTOR_BYTES = 32;
/** Shared memory: 32 banks of 4 bytes; one wavefront serves one word of each bank. */
const BANKS = 32;
const BANK_BYTES = 4;

interface SiteCounts {
  readonly kind: AccessSite['kind'];
  readonly bytesPerThread: number;
  requests: number;
  sectors: number;
  distinctSectors: number;
  /** Sectors that the current block touched at this site. */
  readonly inBlock: Set<number>;
}

/** Counts the sectors and bank conflicts of traced accesses. */
export class AccessProfiler implements TraceSink {
  readonly full = false;
  private readonly sites = new Map<number, SiteCounts>();
  private readonly touched = new Set<number>();
  private blocks = 0;
  private sharedRequests = 0;
  private sharedWavefronts = 0;

  constructor(private readonly kernel: IrFunction) {}

  onBlock(): void {
    this.blocks += 1;
    for (const site of this.sites.values()) site.inBlock.clear();
  }

  onInstruction(): void {
    // Only accesses count here.
  }

  onAccess(
    _warp: number,
    index: number,
    space: 'global' | 'shared',
    kind: AccessSite['kind'],
    bytesPerLane: number,
    activeMask: number,
    addresses: Float64Array,
  ): void {
    if (space === 'shared') {
      this.sharedRequests += 1;
      this.sharedWavefronts += wavefrontsOf(bytesPerLane, activeMask, addresses);
      return;
    }
    let site = this.sites.get(index);
    if (site === undefined) {
      site = {
        kind,
        bytesPerThread: bytesPerLane,
        requests: 0,
        sectors: 0,
        distinctSectors: 0,
        inBlock: new Set(),
      };
      this.sites.set(index, site);
    }
    this.touched.clear();
    forEachActive(activeMask, (lane) => {
      const address = addresses[lane] ?? 0;
      const last = Math.floor((address + bytesPerLane - 1) / SECTOR_BYTES);
      for (let sector = Math.floor(address / SECTOR_BYTES); sector <= last; sector++)
        this.touched.add(sector);
    });
    site.requests += 1;
    site.sectors += this.touched.size;
    for (const sector of this.touched) {
      if (site.inBlock.has(sector)) continue;
      site.inBlock.add(sector);
      site.distinctSectors += 1;
    }
  }

  profile(): AccessProfile {
    return {
      sampledBlocks: this.blocks,
      sites: [...this.sites]
        .sort(([a], [b]) => a - b)
        .map(([index, site]) => ({
          ptxLine: this.kernel.instructions[index]?.line ?? this.kernel.line,
          kind: site.kind,
          bytesPerThread: site.bytesPerThread,
          requests: site.requests,
          sectors: site.sectors,
          distinctSectors: site.distinctSectors,
        })),
      sharedRequests: this.sharedRequests,
      sharedWavefronts: this.sharedWavefronts,
    };
  }
}

/**
 * Cycles of one shared request: as many as the most different words that one bank must give. Accesses of 8 and 16 bytes go
 * by half and quarter warps.
 */
export function wavefrontsOf(bytesPerLane: number, activeMask: number, addresses: Float64Array): number {
  const lanesAtOnce = bytesPerLane <= BANK_BYTES ? 32 : (32 * BANK_BYTES) / bytesPerLane;
  let total = 0;
  for (let first = 0; first < 32; first += lanesAtOnce) {
    const words = new Set<number>();
    forEachActive(activeMask, (lane) => {
      if (lane < first || lane >= first + lanesAtOnce) return;
      const start = Math.floor((addresses[lane] ?? 0) / BANK_BYTES);
      const last = Math.floor(((addresses[lane] ?? 0) + bytesPerLane - 1) / BANK_BYTES);
      for (let word = start; word <= last; word++) words.add(word);
    });
    const perBank = new Uint8Array(BANKS);
    for (const word of words) perBank[word % BANKS] = (perBank[word % BANKS] ?? 0) + 1;
    total += Math.max(...perBank);
  }
  return Math.max(1, total);
}

function forEachActive(mask: number, visit: (lane: number) => void): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) visit(31 - Math.clz32(rest & -rest));
}
