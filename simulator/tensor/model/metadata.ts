import type { TileForm } from '../forms/index.js';

/** Where the four bits of a chunk of one row of a sparse A lie: a lane and the place of their lowest bit in its word. */
export interface MetadataPlace {
  readonly lane: number;
  readonly shift: number;
}

/** How a sparse form's metadata lies among the lanes: by row and chunk, `row * chunks + chunk`. */
export interface MetadataMap {
  readonly chunks: number;
  readonly places: readonly MetadataPlace[];
}

/** Elements of a row that a chunk of four bits covers, and how many of them A holds. */
export function chunkOf(form: TileForm): { readonly width: number; readonly kept: number } {
  if (form.sparse?.indices === 'oneOfTwo') return { width: 2, kept: 1 };
  return form.a.type === 's4' || form.a.type === 'u4' ? { width: 8, kept: 4 } : { width: 4, kept: 2 };
}

/**
 * Where the PTX ISA's figures put metadata (9.7.14.6.2), and an H200 reads it. A row has 16, 32 or 64 bits; of each four lanes one,
 * two or all speak. A word's low half is a row's g, its high half that of g + 8, chunk after chunk; but of integers with 32 bits a
 * row one lane has all of row g, the next all of g + 8. With 64 bits a row two lanes share a row, each with 32 bits.
 * `deriveMetadata` finds what another card does.
 */
export function documentedMetadata(form: TileForm): MetadataMap {
  const chunks = form.shape.k / chunkOf(form).width;
  const selector = form.sparse?.selector ?? 0;
  const places: MetadataPlace[] = [];
  for (let row = 0; row < 16; row++) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      const group = (row % 8) * 4;
      const half = row < 8 ? 0 : 16;
      if (chunks === 8 && form.d.type === 's32')
        places.push({ lane: group + selector * 2 + (row < 8 ? 0 : 1), shift: 4 * chunk });
      else if (chunks <= 8) {
        const lane = chunks === 4 ? selector : selector * 2 + (chunk >> 2);
        places.push({ lane: group + lane, shift: half + 4 * (chunk & 3) });
      } else {
        const lane = (chunk >> 3) * 2 + (row < 8 ? 0 : 1);
        places.push({ lane: group + lane, shift: 4 * (chunk & 7) });
      }
    }
  }
  return { chunks, places };
}

/** Column of the dense A that each element of a compressed row stands for, `row * kept + element`. */
export function columnsOf(form: TileForm, words: Uint32Array, { chunks, places }: MetadataMap): Int32Array {
  const { width, kept } = chunkOf(form);
  const length = chunks * kept;
  const columns = new Int32Array(16 * length);
  for (let row = 0; row < 16; row++) {
    for (let element = 0; element < length; element++) {
      const chunk = Math.floor(element / kept);
      const { lane, shift } = places[row * chunks + chunk] ?? { lane: 0, shift: 0 };
      const nibble = ((words[lane] ?? 0) >>> shift) & 15;
      columns[row * length + element] = chunk * width + columnInChunk(form, nibble, element % kept);
    }
  }
  return columns;
}

/** The column that `element` of a chunk has for four bits of metadata. */
export function columnInChunk(form: TileForm, nibble: number, element: number): number {
  if (form.sparse?.indices === 'oneOfTwo') return (nibble & 3) === 0 ? 0 : 1;
  if (chunkOf(form).width === 4) return (nibble >> (2 * element)) & 3;
  return ((nibble >> (2 * (element >> 1))) & 3) * 2 + (element & 1);
}
