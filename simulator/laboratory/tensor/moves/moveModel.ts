import { elementBits, shape, turnedHalves, wmmaFragment } from '../../../tensor/index.js';
import { matrixImage, sharedRows, type MoveForm } from '../forms/index.js';

/** Which element of the input each element of the output is, by place; -1 where it keeps what memory had. */
export type MoveMap = Int32Array;

const rowWords = 4;
const imageWords = sharedRows * rowWords;

/**
 * Words that `ldmatrix`, `stmatrix` and `movmatrix` leave (9.7.14.5.15 to 17): of matrix i the rows are where lanes 8i … 8i + 7
 * point, lane l has the halves 2(l mod 4) and one on of row l / 4, or with `.trans` of the turnedHalves matrix.
 */
export function moveMatrices(form: MoveForm, words: Uint32Array): Uint32Array {
  const isTransposed = form.name.includes('.trans');
  if (form.kind === 'movmatrix') return turnedHalves(words.subarray(0, 32));
  const image = words.subarray(0, imageWords);
  const rows = words.subarray(imageWords, imageWords + 32);
  const wordAt = (matrix: number, lane: number): number =>
    (rows[matrix * 8 + (lane >> 2)] ?? 0) / 4 + (lane & 3);
  if (form.kind === 'ldmatrix') {
    const matrices = Array.from({ length: form.output.count }, (_, matrix) => {
      const read = Uint32Array.from({ length: 32 }, (_unused, lane) => image[wordAt(matrix, lane)] ?? 0);
      return isTransposed ? turnedHalves(read) : read;
    });
    return Uint32Array.from(matrices.flatMap((matrix) => [...matrix]));
  }
  const written = image.slice();
  const count = form.inputs[2]?.count ?? 0;
  for (let matrix = 0; matrix < count; matrix++) {
    const at = imageWords + 32 + matrix * 32;
    const own = words.subarray(at, at + 32);
    (isTransposed ? turnedHalves(own) : own).forEach((word, lane) => {
      written[wordAt(matrix, lane)] = word;
    });
  }
  return written;
}

/**
 * Where a `wmma` load or store takes each element from, as an H200 does.
 * @throws RangeError of a form of no matrix
 */
export function fragmentMap(form: MoveForm): MoveMap {
  const { matrix, kind, inputs, output } = form;
  if (matrix === undefined) throw new RangeError(`${form.name} moves no fragment`);
  const image = matrixImage(matrix);
  const isStore = kind === 'wmma.store';
  const registers = isStore ? (inputs[1]?.count ?? 0) : output.count;
  const { type, fragment, text } = matrix;
  const held = wmmaFragment({ ...shape(text), fragment, type, registers });
  // A store's registers lie behind the memory's old words.
  return isStore
    ? image.map.map((element) => image.map.length + held.map.indexOf(element))
    : held.map.map((element) => image.map.indexOf(element));
}

/** Words that a `wmma` load or store leaves by a map of its elements. */
export function moveByMap(form: MoveForm, map: MoveMap, words: Uint32Array): Uint32Array {
  const bits = elementBits(form.matrix?.type ?? 'f32');
  const output = new Uint32Array((map.length * bits) / 32);
  const per = Math.max(1, 32 / bits);
  const span = Math.max(1, bits / 32);
  map.forEach((from, to) => {
    if (from < 0) return;
    for (let part = 0; part < span; part++) {
      if (bits >= 32) output[to * span + part] = words[from * span + part] ?? 0;
      else {
        const value = ((words[Math.floor(from / per)] ?? 0) >>> ((from % per) * bits)) & (2 ** bits - 1);
        const at = Math.floor(to / per);
        output[at] = ((output[at] ?? 0) | (value << ((to % per) * bits))) >>> 0;
      }
    }
  });
  return output;
}
