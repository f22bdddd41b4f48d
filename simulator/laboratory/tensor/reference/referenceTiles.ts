import { createHash } from 'node:crypto';
import type { TileForm } from '../../../tensor/index.js';
import { chunkTiles, indexTileCount, modeNames } from '../probes/index.js';
import type { FormInputs } from '../card/results.js';

/** A tile whose output is kept: crafted ones but those that tell metadata, and one random one of each mode. */
export interface ReferenceTile {
  readonly name: string;
  readonly input: Uint32Array;
}

export function referenceTiles(form: TileForm, inputs: FormInputs): readonly ReferenceTile[] {
  return [
    ...inputs.crafted().map((input, at) => ({ name: `crafted ${at}`, input })),
    ...modeNames.map((_, mode) => ({
      name: `random ${mode * chunkTiles}`,
      input: inputs.random(mode * chunkTiles),
    })),
  ].slice(indexTileCount(form));
}

/** One digest of the digests of a form's chunks. */
export function digestOfChunks(chunks: string): string {
  return createHash('sha256').update(chunks).digest('hex').slice(0, 16);
}
