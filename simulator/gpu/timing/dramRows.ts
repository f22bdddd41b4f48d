import { GRANULE_BYTES, granulesOf } from './granules.js';
import { LOADED, STORED, type LineTable } from './lineTable.js';

/** What lies together in a row of DRAM's: addresses further apart are hashed over channels and banks. */
export const ROW_PIECE_BYTES = 256;

/** How a block's use of a segment lies in DRAM's rows, where it goes there. */
export interface RowUse {
  /** Pieces of rows by the byte, of what it loads and of what it stores. */
  readonly perReadByte: number;
  readonly perWrittenByte: number;
  /** What its lanes store: where that does not fill what is written back, the rest is read first. */
  readonly storedBytes: number;
}

/** Of somebody who told nothing: whole pieces, filled. */
export const WHOLE_ROWS: RowUse = {
  perReadByte: 1 / ROW_PIECE_BYTES,
  perWrittenByte: 1 / ROW_PIECE_BYTES,
  storedBytes: Infinity,
};

export function rowUse(blocks: readonly LineTable[], segment: number, storedBytes: number): RowUse {
  return {
    perReadByte: rowsPerByte(blocks, segment, LOADED.mask),
    perWrittenByte: rowsPerByte(blocks, segment, STORED.mask),
    storedBytes,
  };
}

function rowsPerByte(blocks: readonly LineTable[], segment: number, ways: number): number {
  let rows = 0;
  let granules = 0;
  for (const lines of blocks) {
    const own = granulesOf(lines, segment, ways);
    granules += own.length;
    let last = -1;
    for (const granule of own) {
      const row = Math.floor((granule * GRANULE_BYTES) / ROW_PIECE_BYTES);
      if (row !== last) rows += 1;
      last = row;
    }
  }
  return granules === 0 ? 0 : rows / (granules * GRANULE_BYTES);
}
