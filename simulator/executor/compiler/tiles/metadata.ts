import type { FunctionBuilder } from '../../../wasm/index.js';
import { chunkOf, documentedMetadata, type TileForm } from '../../../tensor/index.js';
import { SCRATCH, wordOffsets, WORDS } from './elements.js';
import { linearIndex, pushIndex, repeat } from './linearIndex.js';

/**
 * Of each element of a sparse A the column that it stands for, as i32 at `room` of the scratch, row after row.
 * @param place of an element in its row
 */
export function readColumns(
  f: FunctionBuilder,
  form: TileForm,
  room: number,
  place: (at: number) => number,
): void {
  const [index, lane, nibble, at] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  const { places, chunks } = documentedMetadata(form);
  const { width, kept } = chunkOf(form);
  const depth = chunks * kept;
  const count = places.length * kept;
  const all = Array.from({ length: count }, (_, each) => each);
  const firstLane = places[0]?.lane ?? 0;
  const chunkOfIndex = (each: number): number => Math.floor(each / kept);
  repeat(f, index, count, () => {
    pushIndex(f, index, linearIndex(all.map((each) => (places[chunkOfIndex(each)]?.lane ?? 0) - firstLane)));
    f.i32(2).op('i32Shl').get(WORDS).op('i32Add').set(lane);
    f.get(lane).memory('i32Load', wordOffsets(form).metadata + 4 * firstLane);
    pushIndex(f, index, linearIndex(all.map((each) => places[chunkOfIndex(each)]?.shift ?? 0)));
    f.op('i32ShrU').set(nibble);
    pushIndex(
      f,
      index,
      linearIndex(all.map((each) => Math.floor(each / depth) * depth + place(each % depth))),
    );
    f.i32(2).op('i32Shl').get(SCRATCH).op('i32Add').set(at);
    f.get(at);
    // What the chunk begins with, and which of it.
    pushIndex(f, index, linearIndex(all.map((each) => (chunkOfIndex(each) % chunks) * width)));
    if (form.sparse?.indices === 'oneOfTwo') f.get(nibble).i32(3).op('i32And').i32(0).op('i32Ne');
    else if (width === 4) {
      f.get(nibble).get(index).i32(1).op('i32And').i32(1).op('i32Shl').op('i32ShrU').i32(3).op('i32And');
    } else {
      f.get(nibble).get(index).i32(2).op('i32And').op('i32ShrU').i32(3).op('i32And').i32(1).op('i32Shl');
      f.get(index).i32(1).op('i32And').op('i32Or');
    }
    f.op('i32Add').memory('i32Store', room);
  });
}
