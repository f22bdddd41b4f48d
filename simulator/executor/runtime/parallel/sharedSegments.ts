import type { BlockIndependence } from '../../compiler/index.js';
import { OWN } from '../../compiler/index.js';
import type { ExecutorLaunch } from '../../types.js';

/** What a set of pointers reaches: segments by their address, or what cannot be told. */
type Reach = ReadonlySet<number> | 'any';

/**
 * Whether, with this launch's arguments, a kernel may read memory that other blocks write: then the order of blocks may
 * show. Segments are taken whole.
 */
export function sharesMemory(launch: ExecutorLaunch, { reads, writes }: BlockIndependence): boolean {
  if (writes.length === 0 || reads.length === 0) return false;
  const reach = (roots: ReadonlySet<string> | 'any'): Reach => reachOf(launch, roots);
  const written = writes.map(reach);
  return reads.map(reach).some((read) => written.some((write) => overlap(read, write)));
}

function overlap(a: Reach, b: Reach): boolean {
  if (a === 'any') return b === 'any' || b.size > 0;
  if (b === 'any') return a.size > 0;
  return [...a].some((segment) => b.has(segment));
}

/** A null pointer reaches nothing: whoever follows it faults. */
function reachOf({ module, params }: ExecutorLaunch, roots: ReadonlySet<string> | 'any'): Reach {
  if (roots === 'any') return 'any';
  const segments = new Set<number>();
  const view = new DataView(params.buffer, params.byteOffset, params.byteLength);
  let isKnown = false;
  for (const root of roots) {
    if (root === OWN) {
      isKnown = true;
      continue;
    }
    const address = addressOf(root, view, module.symbols);
    const segment = address === undefined ? undefined : module.space.find(address);
    if (segment !== undefined) segments.add(segment.virtualAddress);
    if (segment !== undefined || address === 0) isKnown = true;
  }
  return isKnown ? segments : 'any';
}

function addressOf(root: string, params: DataView, symbols: ReadonlyMap<string, number>): number | undefined {
  const [kind, name = ''] = root.split(' ');
  if (kind === 'symbol') return symbols.get(name);
  const offset = Number(name);
  return offset + 8 <= params.byteLength ? Number(params.getBigUint64(offset, true)) : undefined;
}
