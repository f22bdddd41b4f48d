import { SECTOR_BYTES, type AddressSpace, type ExecutorLaunch } from '../../executor/index.js';
import { rowUse, type RowUse } from './dramRows.js';
import { GRANULE_BYTES, countOf, granulesOf, halvesOf } from './granules.js';
import { LOADED, LineTable, STORED } from './lineTable.js';
import type { Asked, TracedBlock } from './tracedBlock.js';

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
  /** Absent where nobody told: whole rows. */
  readonly rows?: RowUse | undefined;
  /** Of a segment that blocks touch here and there: what a block asks of L2. Which of it L2 holds is a matter of chance. */
  readonly scattered?: ScatteredUse | undefined;
}

/** What a block asks of L2 where neighbours in memory are not used together. */
export interface ScatteredUse {
  readonly sectorBytes: number;
  /** Of DRAM, if none of it is in L2. */
  readonly dramBytes: number;
  /** What of it is stored without filling sectors. */
  readonly partialBytes?: number | undefined;
  /** Share that no other block used shortly before, where that follows a pattern and is not a matter of chance. */
  readonly farShare?: number | undefined;
}

/** A launch's use of one segment, over all its blocks. */
export interface SegmentUse {
  readonly segment: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly footprintBytes: number;
  /** From the lowest to the highest address. */
  readonly spanBytes?: number;
  readonly rows?: RowUse | undefined;
  /** See `SegmentPattern.scattered`; of a block. */
  readonly scattered?: ScatteredUse | undefined;
}

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
  /** See `farShares`; empty unless blocks leap. */
  far: ReadonlyMap<number, number> = new Map(),
): SegmentPattern[] {
  const segments = new Set<number>();
  for (const { lines } of traced) {
    for (let place = 0; place < lines.count; place++) {
      if ((lines.uses[place] & (LOADED.mask | STORED.mask)) !== 0) segments.add(lines.segments[place]);
    }
  }
  return [...segments]
    .sort((a, b) => a - b)
    .map((segment) => {
      const union = linesOfAll(traced, segment);
      const blocks = traced.map(({ lines }) => lines);
      return {
        parameter: pointed.indexOf(segment),
        segment,
        read: thinned(extentOf(blocks, union, segment, LOADED.mask), far.get(segment)),
        written: thinned(extentOf(blocks, union, segment, STORED.mask), far.get(segment)),
        touched: thinned(extentOf(blocks, union, segment, LOADED.mask | STORED.mask), far.get(segment)),
        rows: rowUse(
          blocks,
          segment,
          meanAsked(traced, segment, ({ storedBytes }) => storedBytes),
        ),
        scattered: scatteredOf(traced, segment, far.get(segment)),
      };
    });
}

/** The lines of one segment that any of the blocks used. */
function linesOfAll(traced: readonly TracedBlock[], segment: number): LineTable {
  const union = new LineTable();
  for (const { lines } of traced) {
    for (let place = 0; place < lines.count; place++) {
      if (lines.segments[place] !== segment) continue;
      const line = lines.lines[place];
      let own = union.find(line);
      if (own < 0) own = union.place(line, segment);
      union.uses[own] |= lines.uses[place];
    }
  }
  return union;
}

/** The patterns applied to a launch's own buffers and size, of which `tracedBlocks` blocks made the spans. */
export function segmentUses(
  patterns: readonly SegmentPattern[],
  pointed: readonly (number | undefined)[],
  space: AddressSpace,
  gridBlocks: number,
  tracedBlocks: number,
): SegmentUse[] {
  return patterns.map(({ parameter, segment: own, read, written, touched, rows, scattered }) => {
    const segment = parameter < 0 ? own : (pointed[parameter] ?? -1);
    const limit = space.find(segment)?.bytes ?? Infinity;
    return {
      segment,
      readBytes: usedBytes(read, limit, gridBlocks, tracedBlocks),
      writtenBytes: usedBytes(written, limit, gridBlocks, tracedBlocks),
      footprintBytes: usedBytes(touched, limit, gridBlocks, tracedBlocks),
      spanBytes: Math.min(limit, touched.spanBytes * Math.max(1, gridBlocks / tracedBlocks)),
      rows,
      scattered,
    };
  });
}

function usedBytes(extent: Extent, limit: number, gridBlocks: number, tracedBlocks: number): number {
  if (extent.commonBytes > 0) return Math.min(limit, extent.commonBytes);
  const span = extent.spanBytes * Math.max(1, gridBlocks / tracedBlocks);
  return Math.min(limit, span, extent.perBlockBytes * gridBlocks);
}

function extentOf(blocks: readonly LineTable[], union: LineTable, segment: number, ways: number): Extent {
  const counts = blocks.map((lines) => countOf(lines, segment, ways));
  const sum = counts.reduce((all, count) => all + count, 0);
  const most = Math.max(...counts);
  const all = countOf(union, segment, ways);
  if (all === 0) return { perBlockBytes: 0, commonBytes: 0, spanBytes: 0 };
  let low = Infinity;
  let high = -Infinity;
  for (let place = 0; place < union.count; place++) {
    const halves = halvesOf(union.uses[place], ways);
    if (halves === 0) continue;
    low = Math.min(low, 2 * union.lines[place] + ((halves & 1) === 1 ? 0 : 1));
    high = Math.max(high, 2 * union.lines[place] + (halves >> 1));
  }
  const common = blocks.length > 1 && all <= most * 1.05;
  return {
    perBlockBytes: (sum / blocks.length) * GRANULE_BYTES,
    commonBytes: common ? all * GRANULE_BYTES : 0,
    spanBytes: (high - low + 1) * GRANULE_BYTES,
  };
}

/** What other blocks have used shortly before counts once. */
function thinned(extent: Extent, far = 1): Extent {
  return far === 1 ? extent : { ...extent, perBlockBytes: extent.perBlockBytes * far };
}

function scatteredOf(
  traced: readonly TracedBlock[],
  segment: number,
  farShare: number | undefined,
): ScatteredUse | undefined {
  const isByChance = isScattered(granulesOf(traced[0].lines, segment, LOADED.mask | STORED.mask));
  if (!isByChance && farShare === undefined) return undefined;
  const sectorBytes = meanAsked(traced, segment, (asked) => asked.sectorBytes);
  const dramBytes = meanAsked(traced, segment, (asked) => asked.dramBytes);
  const partialBytes = meanAsked(traced, segment, (asked) => asked.partialBytes);
  if (isByChance) return { sectorBytes, dramBytes, partialBytes };
  // What a block comes back to itself is there still.
  const granulesBy = (ways: number): number =>
    traced.reduce((sum, { lines }) => sum + countOf(lines, segment, ways), 0) / traced.length;
  const once = Math.min(1, (granulesBy(LOADED.mask | STORED.mask) * GRANULE_BYTES) / Math.max(1, dramBytes));
  const isFilled =
    meanAsked(traced, segment, (asked) => asked.storedBytes) >= granulesBy(STORED.mask) * SECTOR_BYTES;
  return {
    sectorBytes,
    dramBytes: dramBytes * once,
    partialBytes: isFilled ? 0 : partialBytes * once,
    farShare,
  };
}

function meanAsked(traced: readonly TracedBlock[], segment: number, of: (asked: Asked) => number): number {
  return traced.reduce((sum, { asked }) => sum + of(asked.get(segment) ?? NOTHING_ASKED), 0) / traced.length;
}

/** Segments of which blocks use pieces that lie apart, in all and from the first to the last more than so many bytes. */
export function leapingSegments(traced: readonly TracedBlock[], gridBlocks: number, bytes: number): number[] {
  const [{ lines }] = traced;
  return [...new Set(lines.segments.subarray(0, lines.count))].filter((segment) => {
    const pieces = granulesOf(lines, segment, LOADED.mask | STORED.mask);
    return (
      pieces.length * GRANULE_BYTES * gridBlocks > bytes &&
      spannedBytes(traced, segment) > bytes &&
      isOpen(traced, segment) &&
      !isScattered(pieces)
    );
  });
}

/** From the lowest to the highest address that any of the blocks uses. */
function spannedBytes(traced: readonly TracedBlock[], segment: number): number {
  let low = Infinity;
  let high = -Infinity;
  for (const { lines } of traced) {
    const pieces = granulesOf(lines, segment, LOADED.mask | STORED.mask);
    if (pieces.length === 0) continue;
    low = Math.min(low, pieces[0]);
    high = Math.max(high, pieces[pieces.length - 1]);
  }
  return high < low ? 0 : (high - low + 1) * GRANULE_BYTES;
}

/** Whether what a block asks of a segment leaves much of its pieces unused. */
function isOpen(traced: readonly TracedBlock[], segment: number): boolean {
  const { sectorBytes, dramBytes } = traced[0].asked.get(segment) ?? NOTHING_ASKED;
  return dramBytes > OPEN * sectorBytes;
}

/** Half of each piece and more is there for nothing. */
const OPEN = 1.5;

const NOTHING_ASKED: Asked = { sectorBytes: 0, dramBytes: 0, partialBytes: 0, storedBytes: 0 };
/** Fewer gaps tell nothing. */
const LEAST_GAPS = 24;

/** Whether the gaps between the pieces that a block touches follow no pattern. */
function isScattered(inOrder: Float64Array): boolean {
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
