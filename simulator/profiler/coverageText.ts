import type { Coverage } from './profileReport.js';
import { countText } from './numbers.js';

/** What of a launch is exact and what is not, in one sentence each. */
export function coverageText(coverage: Coverage): string {
  const { kind, endedBy, gridBlocks, tracedBlocks, ranBlocks, cutBlocks, tracedThreadInstructions } =
    coverage;
  const of = `${countText(tracedBlocks)} of ${plural(gridBlocks, 'block')} traced`;
  const traced = `${countText(tracedThreadInstructions)} thread instructions`;
  const cut =
    cutBlocks === 0 ? '' : `; ${plural(cutBlocks, 'of them', 'of them')} only for the first instructions`;
  switch (kind) {
    case 'all':
      return `${of} (${traced}): every count is exact`;
    case 'part':
      return endedBy === 'fault'
        ? `${of} (${traced}), until the fault: counts are exact for what ran until then`
        : `${of} (${traced}), until the budget was used up: counts are exact for what ran until then, and not scaled (blocks may wait for one another, so none can be traced alone; --blocks all traces to the end)`;
    case 'sample': {
      const ran =
        endedBy === 'fault'
          ? `; ${plural(ranBlocks, 'block')} ran to the end before the fault, and what the faulting one did is counted by whole basic blocks`
          : '';
      return `${of} (${traced}), drawn with seed ${coverage.seed ?? 0}${cut}${ran}: thread instructions are exact (counted by compiled code in every block), all else is scaled to them line by line`;
    }
    case 'sampleOnly':
      return `${of} (${traced}), drawn with seed ${coverage.seed ?? 0}${cut}; no other block ran: all counts are scaled by the number of blocks, and each block saw memory as the launch finds it`;
  }
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}
