import type { IrFunction } from '../../ptx/index.js';
import { RequestShaper, sharedAtomicCycles } from '../requests/index.js';
import type { AccessProfile, AccessSite, TraceSink } from '../types.js';

const SECTORS_PER_LINE = 4;

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
  private readonly shaper = new RequestShaper();
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
    const shape = this.shaper.take(kind, bytesPerLane, activeMask, addresses);
    if (space === 'shared') {
      this.sharedRequests += 1;
      this.sharedWavefronts +=
        kind === 'atomic' ? sharedAtomicCycles(activeMask, addresses) : shape.wavefronts;
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
    site.requests += 1;
    site.sectors += shape.sectors;
    for (let line = 0; line < shape.lines; line++) {
      const first = (shape.lineNumbers[line] ?? 0) * SECTORS_PER_LINE;
      const mask = shape.sectorMasks[line] ?? 0;
      for (let sector = 0; sector < SECTORS_PER_LINE; sector++) {
        if (((mask >> sector) & 1) === 0 || site.inBlock.has(first + sector)) continue;
        site.inBlock.add(first + sector);
        site.distinctSectors += 1;
      }
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
