import { CARD_PAGE_BYTES, type KernelFault, type NodeMemory, type Segment } from '../executor/index.js';

/**
 * What to say of an access that faulted just outside a buffer, where a card, which maps memory in large pages, lets it pass.
 * @returns nothing for other faults
 */
export function guardHint(memory: NodeMemory, fault: KernelFault | undefined): string {
  if (fault?.code !== 'illegalAddress' || fault.address === undefined || memory.guard !== 'exact') return '';
  for (const space of memory.spaces()) {
    const place = placeOf(fault.address, space.segments());
    if (place === undefined) continue;
    return `, ${place}; a card maps memory in pages of 2 MiB and need not fault there: --guard card runs it so`;
  }
  return '';
}

/** @param segments by address; @returns nothing where the pages of a card would not reach */
function placeOf(address: number, segments: readonly Segment[]): string | undefined {
  const next = segments.findIndex(({ virtualAddress }) => virtualAddress > address);
  const below = segments[(next < 0 ? segments.length : next) - 1];
  const above = next < 0 ? undefined : segments[next];
  // The first has nothing mapped before it on a card either.
  if (below === undefined) return undefined;
  const behind = Math.max(0, address - below.virtualAddress - below.bytes);
  const before = above === undefined ? Infinity : above.virtualAddress - address;
  if (before < behind) return before < CARD_PAGE_BYTES ? text(before, 'before the start', above) : undefined;
  const pageRest = CARD_PAGE_BYTES - (below.bytes % CARD_PAGE_BYTES || CARD_PAGE_BYTES);
  return behind < pageRest ? text(behind, 'behind the end', below) : undefined;
}

function text(away: number, side: string, segment: Segment | undefined): string {
  return `${away} bytes ${side} of an allocation of ${segment?.bytes ?? 0}`;
}
