import {
  type MetadataMap,
  type MetadataPlace,
  type TileForm,
  chunkOf,
  columnInChunk,
  documentedMetadata,
  elementsOf,
} from '../../../tensor/index.js';

/** One of the tiles that tell columns (`craftedTiles`): its metadata and what it left. */
export interface IndexCase {
  /** Its number among these tiles. */
  readonly tile: number;
  readonly metadata: Uint32Array;
  readonly output: Uint32Array;
}

/**
 * Finds where the four bits of each chunk of each row lie, from tiles that tell the column of one element a row.
 * @returns undefined where no place explains what was seen of some chunk
 */
export function deriveMetadata(form: TileForm, cases: readonly IndexCase[]): MetadataMap | undefined {
  const kept = form.a.columns;
  const chunk = chunkOf(form);
  const chunks = kept / chunk.kept;
  const isOne = form.d.type === 's32' ? (bits: number) => bits === 1 : (bits: number) => bits !== 0;
  const seen = new Map<
    number,
    { readonly metadata: Uint32Array; readonly element: number; readonly column: number }[]
  >();
  for (const { tile, metadata, output } of cases) {
    const { bits } = elementsOf(form.d, output);
    for (let row = 0; row < form.d.rows; row++) {
      const element = (row + tile) % kept;
      let column = 0;
      for (let digit = 0; digit < form.d.columns; digit++)
        if (isOne(bits[row * form.d.columns + digit] ?? 0)) column += 2 ** digit;
      const key = row * chunks + Math.floor(element / chunk.kept);
      const list = seen.get(key) ?? [];
      list.push({
        metadata,
        element: element % chunk.kept,
        column: column - Math.floor(element / chunk.kept) * chunk.width,
      });
      seen.set(key, list);
    }
  }
  const documented = documentedMetadata(form).places;
  const places: MetadataPlace[] = [];
  for (let key = 0; key < 16 * chunks; key++) {
    const list = seen.get(key) ?? [];
    // The documented place first: another may look like it by chance.
    const place = [...documented.slice(key, key + 1), ...candidates].find(({ lane, shift }) =>
      list.every(
        ({ metadata, element, column }) =>
          columnInChunk(form, ((metadata[lane] ?? 0) >>> shift) & 15, element) === column,
      ),
    );
    if (place === undefined || list.length === 0) return undefined;
    places.push(place);
  }
  return { chunks, places };
}

const candidates: readonly MetadataPlace[] = Array.from({ length: 256 }, (_, at) => ({
  lane: at >> 3,
  shift: (at & 7) * 4,
}));
