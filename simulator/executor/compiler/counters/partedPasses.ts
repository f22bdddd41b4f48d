import { FunctionBuilder } from '../../../wasm/index.js';
import { addToCounter } from './byteCounters.js';
import { PASSES, RECORD } from '../area/index.js';

/**
 * (place of a class's passes of parted lanes, place of its counter, its instructions, whether it repeats, passes of the
 * warp's chunks so far or, when it repeats, most passes of one lane) → most passes of one lane. Adds what parted lanes have
 * passed, and clears it.
 */
export function addParted(): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i32', 'i32', 'i32', 'i32'], ['i32']);
  const [place, counter, size, repeats, known] = [0, 1, 2, 3, 4];
  const [at, count, most] = [f.local('i32'), f.local('i32'), f.local('i32')];
  f.area().get(place).op('i32Add').tee(at).memory('i32Load', PASSES.count).set(count);
  f.get(at).i32(0).memory('i32Store', PASSES.count);
  addToCounter(f, RECORD.instructionsApart, () =>
    f.get(count).op('i64ExtendI32U').get(size).op('i64ExtendI32U').op('i64Mul'),
  );
  f.area().get(counter).op('i32Add').set(counter);
  f.get(counter).get(counter).memory('i64Load', 0).get(count).op('i64ExtendI32U');
  f.op('i64Add').memory('i64Store', 0);
  f.get(repeats).if();
  f.get(at).memory('i32Load', PASSES.most).set(most);
  f.get(at).i32(0).memory('i32Store', PASSES.most);
  f.get(most).get(known).get(most).get(known).op('i32GtU').op('select').op('return').end();
  // The warp counts once, whether it passed in chunks or apart.
  f.get(counter).get(counter).memory('i64Load', 8);
  f.get(known).op('i32Eqz').get(count).i32(0).op('i32Ne').op('i32And').op('i64ExtendI32U');
  f.op('i64Add').memory('i64Store', 8);
  f.i32(0);
  return f;
}
