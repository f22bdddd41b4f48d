import { FunctionBuilder } from '../../../wasm/index.js';
import { type ElementType, type FusedModel, type TileForm } from '../../../tensor/index.js';
import {
  eachElement,
  FloatReader,
  pushLeadingExponent,
  pushPower,
  SCRATCH,
  wordOffsets,
  writeResult,
} from './elements.js';
import { repeat } from './linearIndex.js';
import { readColumns } from './metadata.js';

/** Exponent of a sum without terms: any scale does. */
const NOTHING = -400;

/** Rooms of the scratch, in bytes from its begin. */
interface Rooms {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly exponents: Readonly<Record<'a' | 'b' | 'c', number>>;
  readonly columns: number;
  readonly d: number;
  readonly bytes: number;
}

function roomsOf(form: TileForm): Rooms {
  let bytes = 0;
  const take = (size: number): number => {
    bytes += size;
    return bytes - size;
  };
  const [a, b, c, d] = [form.a, form.b, form.c, form.d].map(
    ({ batches, rows, columns }) => batches * rows * columns,
  );
  const [countA = 0, countB = 0, countC = 0, countD = 0] = [a, b, c, d];
  const values = { a: take(8 * countA), b: take(8 * countB), c: take(8 * countC) };
  const exponents = { a: take(4 * countA), b: take(4 * countB), c: take(4 * countC) };
  const columns = take(form.sparse === undefined ? 0 : 4 * countA);
  return { ...values, exponents, columns, d: take(4 * countD), bytes };
}

export function exactFusedScratch(form: TileForm): number {
  return roomsOf(form).bytes;
}

/** Place of a product along k so that those of a block are neighbours. */
function dealt(form: TileForm, { blockLength, dealing }: FusedModel): (at: number) => number {
  const count = form.a.columns;
  const length = Math.min(count, blockLength);
  const blocks = Math.ceil(count / length);
  if (dealing === 'neighbours' || blocks === 1) return (at) => at;
  if (dealing !== 'pairs') throw new RangeError(`blocks dealt by ${dealing}`);
  return (at) => (Math.floor(at / 2) % blocks) * length + Math.floor(at / 2 / blocks) * 2 + (at % 2);
}

/**
 * A fused product element by element in doubles, which hold every sum: NaN, infinities, subnormals, any exponents and any metadata.
 * What `fusedDot` does of the models that were fitted.
 */
export function exactFused(form: TileForm, model: FusedModel): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i32', 'i32'], []);
  const rooms = roomsOf(form);
  const offsets = wordOffsets(form);
  const [width, depth] = [form.d.columns, form.a.columns];
  const place = dealt(form, model);
  const reader = new FloatReader(f);
  const [element, row, column] = [f.local('i32'), f.local('i32'), f.local('i32')];
  const [index, left, right, most] = [f.local('i32'), f.local('i32'), f.local('i32'), f.local('i32')];
  const [product, own, sum, scale] = [f.local('f64'), f.local('f64'), f.local('f64'), f.local('f64')];
  const ownExponent = f.local('i32');

  const read = (role: 'a' | 'b' | 'c', to: (at: number) => number): void => {
    eachElement(
      f,
      form[role],
      offsets[role],
      (bits, at) => {
        reader.read(form[role].type, bits);
        f.get(at).i32(3).op('i32Shl').get(SCRATCH).op('i32Add').get(reader.value);
        f.memory('f64Store', rooms[role]);
        f.get(at).i32(2).op('i32Shl').get(SCRATCH).op('i32Add').get(reader.exponent);
        f.memory('i32Store', rooms.exponents[role]);
      },
      to,
    );
  };
  read('a', (at) => Math.floor(at / depth) * depth + place(at % depth));
  // By column, so that factors of a dense form are neighbours.
  const lines = form.b.rows;
  const isSparse = form.sparse !== undefined;
  read(
    'b',
    (at) => (at % width) * lines + (isSparse ? Math.floor(at / width) : place(Math.floor(at / width))),
  );
  read('c', (at) => at);
  if (isSparse) readColumns(f, form, rooms.columns, place);

  const load = (base: number, at: number, room: number, type: 'f64' | 'i32'): void => {
    f.get(base).get(at).op('i32Add');
    f.i32(type === 'f64' ? 3 : 2).op('i32Shl');
    f.get(SCRATCH).op('i32Add').memory(`${type}Load`, room);
  };
  /** Factors of the product at `index` from `first` on. */
  const terms = (first: number, count: number, body: () => void): void => {
    repeat(f, index, count, () => {
      f.get(row).i32(depth).op('i32Mul').get(index).op('i32Add').i32(first).op('i32Add').set(left);
      f.get(column).i32(lines).op('i32Mul');
      if (isSparse)
        f.get(left).i32(2).op('i32Shl').get(SCRATCH).op('i32Add').memory('i32Load', rooms.columns);
      else f.get(index).i32(first).op('i32Add');
      f.op('i32Add').set(right);
      f.get(left).i32(3).op('i32Shl').get(SCRATCH).op('i32Add').memory('f64Load', rooms.a);
      f.get(right).i32(3).op('i32Shl').get(SCRATCH).op('i32Add').memory('f64Load', rooms.b);
      f.op('f64Mul').set(product);
      body();
    });
  };
  const zero = f.local('i32');
  const isLate = model.accumulator === 'end';
  const length = Math.min(depth, model.blockLength);
  const narrow = (type: ElementType): 'f16' | 'f32' => (type === 'f16' ? 'f16' : 'f32');
  const result = narrow(form.d.type);
  const sumType = model.narrowing === 'after' ? 'f32' : result;

  repeat(f, element, form.d.rows * width, () => {
    f.get(element).i32(Math.log2(width)).op('i32ShrU').set(row);
    f.get(element)
      .i32(width - 1)
      .op('i32And')
      .set(column);
    if (isLate) f.f64(0).set(own).i32(-126).set(ownExponent);
    else {
      load(element, zero, rooms.c, 'f64');
      f.set(own);
      load(element, zero, rooms.exponents.c, 'i32');
      f.set(ownExponent);
    }
    for (let first = 0; first < depth; first += length) {
      const isLast = first + length >= depth;
      f.get(ownExponent).i32(NOTHING).get(own).f64(0).op('f64Ne').op('select').set(most);
      terms(first, length, () => {
        f.get(product).f64(0).op('f64Ne').if();
        f.get(left).i32(2).op('i32Shl').get(SCRATCH).op('i32Add').memory('i32Load', rooms.exponents.a);
        f.get(right).i32(2).op('i32Shl').get(SCRATCH).op('i32Add').memory('i32Load', rooms.exponents.b);
        f.op('i32Add').tee(left).get(most).get(left).get(most).op('i32GtS').op('select').set(most).end();
      });
      f.i32(model.fractionBits).get(most).op('i32Sub').set(left);
      pushPower(f, left, 0);
      f.tee(scale).get(own).op('f64Mul').op('f64Trunc').set(sum);
      terms(first, length, () => {
        f.get(product).get(scale).op('f64Mul').op('f64Trunc').get(sum).op('f64Add').set(sum);
      });
      f.get(sum);
      pushPower(f, most, -model.fractionBits);
      f.op('f64Mul').set(own);
      const type = isLast && !isLate ? sumType : model.between === 'result' ? sumType : 'f32';
      if (type === 'f32') truncateToFloat(f, own);
      else {
        roundToHalf(f, own, sum);
        // What is rounded to nought has lost its sign as well.
        f.get(own).f64(0).op('f64Add').set(own);
      }
      if (!isLast) {
        pushLeadingExponent(f, own);
        f.tee(left);
        f.i32(type === 'f32' ? -126 : -14).get(left);
        f.i32(type === 'f32' ? -126 : -14)
          .op('i32GtS')
          .op('select')
          .set(ownExponent);
      }
    }
    if (isLate) {
      f.get(own);
      load(element, zero, rooms.c, 'f64');
      f.op('f64Add').set(own);
    }
    if (result === 'f16' && (isLate || sumType === 'f32')) roundToHalf(f, own, sum);
    f.get(element).i32(2).op('i32Shl').get(SCRATCH).op('i32Add');
    if (result === 'f16') pushHalfBits(f, own);
    else {
      f.i32(0x7fffffff).get(own).op('f32DemoteF64').op('i32ReinterpretF32');
      f.get(own).get(own).op('f64Ne').op('select');
    }
    f.memory('i32Store', rooms.d);
  });
  writeResult(f, form.d, rooms.d);
  return f;
}

/** A double in a local, cut to f32 towards nought; a nought is +0. */
function truncateToFloat(f: FunctionBuilder, value: number): void {
  f.get(value).op('i64ReinterpretF64').i64Halves(-0x20000000, -1).op('i64And').op('f64ReinterpretI64');
  f.tee(value)
    .op('f64Abs')
    .f64(2 ** -126)
    .op('f64Lt')
    .if();
  f.get(value)
    .f64(2 ** 149)
    .op('f64Mul')
    .op('f64Trunc')
    .f64(2 ** -149)
    .op('f64Mul')
    .set(value)
    .end();
  f.get(value).op('f32DemoteF64').op('f64PromoteF32').f64(0).op('f64Add').set(value);
}

/** A double in a local as the nearest f16, ties to even. */
function roundToHalf(f: FunctionBuilder, value: number, magic: number): void {
  f.get(value)
    .op('f64Abs')
    .f64(2 ** 17)
    .op('f64Min')
    .get(value)
    .op('f64Copysign')
    .set(value);
  // One and a half of what makes the last place of a sum of doubles that of the f16.
  f.get(value)
    .op('i64ReinterpretF64')
    .i64Halves(0, 0x7ff00000)
    .op('i64And')
    .op('f64ReinterpretI64')
    .f64(2 ** -14)
    .op('f64Max');
  f.f64(1.5 * 2 ** 42)
    .op('f64Mul')
    .set(magic);
  f.get(value).get(magic).op('f64Add').get(magic).op('f64Sub').get(value).op('f64Copysign');
  f.set(value);
  f.get(value).op('f64Abs').f64(65536).op('f64Ge').if();
  f.f64(Infinity).get(value).op('f64Copysign').set(value).end();
}

/** Pushes the bits of an f16 that a double in a local is. */
function pushHalfBits(f: FunctionBuilder, value: number): void {
  f.get(value).get(value).op('f64Ne').if('i32');
  f.i32(0x7fff).else();
  f.i32(0x7c00);
  // A normal one has the top of an f32's fraction, a subnormal one counts its last places.
  f.get(value).op('f64Abs').op('f32DemoteF64').op('i32ReinterpretF32').i32(13).op('i32ShrU');
  f.i32(112 << 10).op('i32Sub');
  f.get(value)
    .op('f64Abs')
    .f64(2 ** 24)
    .op('f64Mul')
    .op('i32TruncSatF64U');
  f.get(value)
    .op('f64Abs')
    .f64(2 ** -14)
    .op('f64Ge')
    .op('select');
  f.get(value).op('f64Abs').f64(65536).op('f64Ge').op('select');
  f.get(value).op('i64ReinterpretF64').i64(48).op('i64ShrU').op('i32WrapI64').i32(0x8000).op('i32And');
  f.op('i32Or').end();
}
