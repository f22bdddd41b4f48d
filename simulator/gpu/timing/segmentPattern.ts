import type { AddressSpace, ExecutorLaunch } from '../../executor/index.js';
import type { Asked, TracedBlock } from './blockTracer.js';

/** DRAM answers L2 in pieces of two sectors, so a footprint is counted in these. */
const GRANULE_BYTES = 64;

/** Distinct bytes as some blocks touched them, good for grids of other sizes. */
export interface Extent {
  readonly perBlockBytes: number;
  /** What all blocks have in common, when that is everything they touch; else 0. */
  readonly commonBytes: number;
  /** From the lowest to the highest address over the traced grid. */
  readonly spanBytes: number;
}

/** How a kernel uses one segment: a buffer behind a pointer argument, or a variable of its module. */
export interface SegmentPattern {
  /** Parameter that points into the segment, or -1. */
  readonly parameter: number;
  /** The segment's address, for one that no parameter points into; -1 for addresses outside every segment. */
  readonly segment: number;
  readonly read: Extent;
  readonly written: Extent;
  /** Read or written, counted once. */
  readonly touched: Extent;
  /** Of a segment that blocks touch here and there: what a block asks of L2. Which of it L2 holds is a matter of chance. */
  readonly scattered?: Asked;
}

/** A launch's use of one segment, over all its blocks. */
export interface SegmentUse {
  readonly segment: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly footprintBytes: number;
  /** See `SegmentPattern.scattered`; of a block. */
  readonly scattered?: Asked;
}

type Granules = ReadonlySet<number>;

/** Start addresses of the segments that parameters point into; undefined for other parameters. */
export function pointedSegments(launch: ExecutorLaunch): (number | undefined)[] {
  const view = new DataView(launch.params.buffer, launch.params.byteOffset, launch.params.byteLength);
  return launch.kernel.parameters.map((parameter) =>
    parameter.bytes === 8
      ? launch.module.space.find(
          view.getUint32(parameter.offset + 4, true) * 2 ** 32 + view.getUint32(parameter.offset, true),
        )?.virtualAddress
      : undefined,
  );
}

export function segmentPatterns(
  traced: readonly TracedBlock[],
  pointed: readonly (number | undefined)[],
): SegmentPattern[] {
  const segments = new Set<number>();
  for (const block of traced) {
    for (const key of block.loaded.keys()) segments.add(key);
    for (const key of block.stored.keys()) segments.add(key);
  }
  return [...segments]
    .sort((a, b) => a - b)
    .map((segment) => ({
      parameter: pointed.indexOf(segment),
      segment,
      read: extentOf(traced.map((block) => block.loaded.get(segment))),
      written: extentOf(traced.map((block) => block.stored.get(segment))),
      touched: extentOf(traced.map((block) => united(block.loaded.get(segment), block.stored.get(segment)))),
      scattered: scatteredOf(traced, segment),
    }));
}

/** The patterns applied to a launch's own buffers and size, of which `tracedBlocks` blocks made the spans. */
export function segmentUses(
  patterns: readonly SegmentPattern[],
  pointed: readonly (number | undefined)[],
  space: AddressSpace,
  gridBlocks: number,
  tracedBlocks: number,
): SegmentUse[] {
  return patterns.map(({ parameter, segment: own, read, written, touched, scattered }) => {
    const segment = parameter < 0 ? own : (pointed[parameter] ?? -1);
    const limit = space.find(segment)?.bytes ?? Infinity;
    return {
      segment,
      readBytes: usedBytes(read, limit, gridBlocks, tracedBlocks),
      writtenBytes: usedBytes(written, limit, gridBlocks, tracedBlocks),
      footprintBytes: usedBytes(touched, limit, gridBlocks, tracedBlocks),
      scattered,
    };
  });
}

function usedBytes(extent: Extent, limit: number, gridBlocks: number, tracedBlocks: number): number {
  if (extent.commonBytes > 0) return Math.min(limit, extent.commonBytes);
  const span = extent.spanBytes * Math.max(1, gridBlocks / tracedBlocks);
  return Math.min(limit, span, extent.perBlockBytes * gridBlocks);
}

function extentOf(blocks: readonly (Granules | undefined)[]): Extent {
  const union = new Set<number>();
  let sum = 0;
  let most = 0;
  let low = Infinity;
  let high = -Infinity;
  for (const granules of blocks) {
    sum += granules?.size ?? 0;
    most = Math.max(most, granules?.size ?? 0);
    for (const granule of granules ?? []) {
      union.add(granule);
      if (granule < low) low = granule;
      if (granule > high) high = granule;
    }
  }
  if (union.size === 0) return { perBlockBytes: 0, commonBytes: 0, spanBytes: 0 };
  const common = blocks.length > 1 && union.size <= most * 1.05;
  return {
    perBlockBytes: (sum / blocks.length) * GRANULE_BYTES,
    commonBytes: common ? union.size * GRANULE_BYTES : 0,
    spanBytes: (high - low + 1) * GRANULE_BYTES,
  };
}

function scatteredOf(traced: readonly TracedBlock[], segment: number): Asked | undefined {
  const [first] = traced;
  const granules = united(first.loaded.get(segment), first.stored.get(segment));
  if (!isScattered(granules)) return undefined;
  const mean = (of: (asked: Asked) => number): number =>
    traced.reduce((sum, { asked }) => sum + of(asked.get(segment) ?? NOTHING_ASKED), 0) / traced.length;
  return { sectorBytes: mean((asked) => asked.sectorBytes), dramBytes: mean((asked) => asked.dramBytes) };
}

const NOTHING_ASKED: Asked = { sectorBytes: 0, dramBytes: 0 };
/** Fewer gaps tell nothing. */
const LEAST_GAPS = 24;

/** Whether the gaps between the pieces that a block touches follow no pattern. */
function isScattered(granules: Granules): boolean {
  const inOrder = Float64Array.from(granules).sort();
  const gaps = new Set<number>();
  let count = 0;
  for (let index = 1; index < inOrder.length; index++) {
    const gap = inOrder[index] - inOrder[index - 1];
    if (gap === 1) continue;
    count += 1;
    gaps.add(gap);
  }
  return count >= LEAST_GAPS && gaps.size > 0.4 * Math.min(count, inOrder[inOrder.length - 1] - inOrder[0]);
}

function united(a: Granules | undefined, b: Granules | undefined): Set<number> {
  return new Set([...(a ?? []), ...(b ?? [])]);
}
