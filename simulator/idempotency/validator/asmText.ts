import { DIMENSIONS_AT } from './launchHeap.js';
import { MOST } from './exactNumbers.js';

/**
 * Texts of generated code in the part of JavaScript that is asm.js, where each number's type stands in the text: `wasmCode` makes a
 * module of it, which runs as fast from its first call on, whatever it is given. Ordinary code of verdicts is compiled for the ranges
 * of numbers that it has seen, thrown away at the first launch that differs, and interpreted, fifty times slower, for the next
 * hundreds; and a function of very many lines is never compiled at all. The same text runs as ordinary code too.
 */

/** A number of floating point. */
export function number(value: number): string {
  if (value === Infinity) return 'inf';
  if (value === -Infinity) return '(-inf)';
  return value < 0 ? `(-${-value}.0)` : `${Math.abs(value)}.0`;
}

/** Declarations that stand before the functions: names from the engine, the heap, longer operators, and short ones. */
export function prelude(helpers: Iterable<string>): string {
  return [
    'var abs = stdlib.Math.abs;',
    'var floor = stdlib.Math.floor;',
    'var ceil = stdlib.Math.ceil;',
    'var inf = stdlib.Infinity;',
    'var nan = stdlib.NaN;',
    'var D = new stdlib.Float64Array(heap);',
    'var W = new stdlib.Int32Array(heap);',
    'var U = new stdlib.Uint8Array(heap);',
    ...[...helpers].map((name) => `var ${name} = foreign.${name};`),
    WILD,
    FLOORED,
    TRUNCATED,
  ].join('\n');
}

/** Beyond the exact numbers, but not unbounded; or no number at all (a sum of both infinities). */
const WILD = `function wild(e) {
e = +e;
return (((e > ${number(MOST)}) & (e != inf)) | ((e < ${number(-MOST)}) & (e != -inf)) | (e != e)) | 0;
}`;

/** As `floored` and `truncated` of the runtime. */
const FLOORED = `function floored(a, b) {
a = +a;
b = +b;
var q = 0.0, r = 0.0;
q = +floor(a / b);
r = a - q * b;
if (b > 0.0) {
if (r < 0.0) return +(q - 1.0);
if (r >= b) return +(q + 1.0);
return +q;
}
if (r > 0.0) return +(q - 1.0);
if (r <= b) return +(q + 1.0);
return +q;
}`;
const TRUNCATED = `function truncated(a, b) {
a = +a;
b = +b;
var q = 0.0;
q = a / b;
if (q < 0.0) q = +ceil(q);
else q = +floor(q);
if (+abs(q * b) <= +abs(a)) return +q;
if (q > 0.0) return +(q - 1.0);
return +(q + 1.0);
}`;

/** An argument's little-endian integer among the parameter bytes; of 8 bytes it may not be a safe integer. */
export function argument(offset: number, bytes: 1 | 2 | 4 | 8, signed: boolean): string {
  const sign = signed ? '>> 0' : '>>> 0';
  const half = `(U[${offset}] | U[${offset + 1}] << 8)`;
  if (bytes === 1) return signed ? `+(U[${offset}] << 24 >> 24)` : `+(U[${offset}] | 0)`;
  if (bytes === 2) return signed ? `+(${half} << 16 >> 16)` : `+(${half} | 0)`;
  if (bytes === 4) return `+(${word(offset)} ${sign})`;
  return `+(${word(offset + 4)} ${sign}) * 4294967296.0 + +(${word(offset)} >>> 0)`;
}

function word(offset: number): string {
  if (offset % 4 === 0) return `W[${offset} >> 2]`;
  return `(U[${offset}] | U[${offset + 1}] << 8 | U[${offset + 2}] << 16 | U[${offset + 3}] << 24)`;
}

const DIMENSIONS = ['ntid.x', 'ntid.y', 'ntid.z', 'nctaid.x', 'nctaid.y', 'nctaid.z'];

/** A dimension of the launch. */
export function dimension(name: string): string {
  const at = DIMENSIONS.indexOf(name);
  return at < 0 ? '1.0' : `+(W[${DIMENSIONS_AT + 4 * at} >> 2] | 0)`;
}

/** A number on the heap. */
export function stored(at: number): string {
  return `D[${at} >> 3]`;
}
