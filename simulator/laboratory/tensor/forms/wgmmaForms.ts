import {
  type ElementType,
  type Operand,
  type TileForm,
  elementBits,
  inRegisters,
  ofMap,
  shape,
} from '../../../tensor/index.js';

/** Threads of a warpgroup. */
const threads = 128;

/**
 * Forms of `wgmma` in its narrowest shape, 64 rows and 8 columns, A in registers: what decides how its unit adds. A warp has 16 rows, in
 * fragments like those of `mma` (9.7.15.5); B lies in shared memory, unswizzled, by columns (9.7.15.5.1).
 */
export const wgmmaForms: readonly TileForm[] = [
  ...(['f32', 'f16'] as const).map((d) => form('f16', 'f16', d)),
  form('bf16', 'bf16', 'f32'),
  form('tf32', 'tf32', 'f32'),
  ...(['e4m3', 'e5m2'] as const).flatMap((a) =>
    (['e4m3', 'e5m2'] as const).flatMap((b) => (['f32', 'f16'] as const).map((d) => form(a, b, d))),
  ),
  ...(['s8', 'u8'] as const).flatMap((a) =>
    (['s8', 'u8'] as const).flatMap((b) => ['', '.satfinite'].map((clamped) => form(a, b, 's32', clamped))),
  ),
  { ...form('b1', 'b1', 's32', '.and.popc'), bitOperation: 'and' },
];

function form(a: ElementType, b: ElementType, d: 'f16' | 'f32' | 's32', modifier = ''): TileForm {
  const k = 256 / elementBits(a);
  const text = `m64n8k${k}`;
  const isClamped = modifier === '.satfinite';
  return {
    name: `wgmma.mma_async.sync.aligned.${text}.${d}.${a}.${b}${modifier}`,
    kind: 'wgmma',
    shape: shape(text),
    a: left(a, k),
    b: right(b, k),
    c: accumulator(d),
    d: accumulator(d),
    satfinite: isClamped,
  };
}

function left(type: ElementType, k: number): Operand {
  const elements = 32 / elementBits(type);
  return inRegisters(
    { type, rows: 64, columns: k },
    4,
    (thread, register, slot) => ({
      row: rowOf(thread) + 8 * (register & 1),
      column: (thread & 3) * elements + slot + (register >> 1) * 4 * elements,
    }),
    threads,
  );
}

function accumulator(type: 'f16' | 'f32' | 's32'): Operand {
  const isPacked = type === 'f16';
  return inRegisters(
    { type, rows: 64, columns: 8 },
    isPacked ? 2 : 4,
    (thread, register, slot) => ({
      row: rowOf(thread) + 8 * (isPacked ? register : register >> 1),
      column: (thread & 3) * 2 + (isPacked ? slot : register & 1),
    }),
    threads,
  );
}

function rowOf(thread: number): number {
  return (thread >> 5) * 16 + ((thread & 31) >> 2);
}

/** Two core matrices of 8 columns by 16 bytes along k, one behind the other. */
function right(type: ElementType, k: number): Operand {
  const each = 128 / elementBits(type);
  return ofMap({ type, rows: k, columns: 8 }, (at) => {
    const [matrix, inside] = [Math.floor(at / (8 * each)), at % (8 * each)];
    return { row: matrix * each + (inside % each), column: Math.floor(inside / each) };
  });
}
