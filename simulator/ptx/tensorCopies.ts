import type { ExpansionText } from './expansion.js';
import type { ParsedInstruction } from './instructionParser.js';
import { TENSOR_MAP, TENSOR_TYPES, type TensorType } from './tensorMapLayout.js';

/** Bytes that go together where all of them lie inside. */
const PIECE = 16;
/** A tile lies in shared memory at a multiple of this. */
const TILE_ALIGN = 128;

type Direction = 'load' | 'store' | 'reduce';

/**
 * `cp.async.bulk.tensor` and its reductions: loops over the box's dimensions, which read the map's fields, and over pieces of
 * its rows. Elements outside of the tensor are filled in on the way in and left alone on the way out. A map of another rank,
 * or what is no map, is a misaligned access, as a tile at no multiple of 128 is.
 * @returns why it cannot run; 'none' where its operands are not those of its form
 */
export function tensorCopy(parsed: ParsedInstruction, text: ExpansionText): string | undefined {
  const { modifiers, sources } = parsed;
  const rank = Number(modifiers.find((each) => /^[1-5]d$/.test(each))?.slice(0, 1) ?? 0);
  const isLoad = !modifiers.includes('bulk_group');
  const [tile, map, coordinates, barrier] = isLoad ? sources : [sources[2], sources[0], sources[1]];
  if (modifiers.includes('prefetch')) {
    if (!text.address('%map', sources[0], 64)) return 'addresses stand in brackets';
    text.add('prefetch.L2 [%map];');
    return undefined;
  }
  if (coordinates?.kind !== 'vector' || coordinates.elements.length !== rank)
    return `a tensor of ${rank} dimensions takes ${rank} coordinates: [map, {…}]`;
  if (!text.address('%tile', tile, 32) || !text.address('%map', map, 64))
    return 'addresses stand in brackets';
  if (isLoad && !text.address('%bar', barrier, 32)) return 'addresses stand in brackets';
  const operation = modifiers.includes('reduce')
    ? modifiers.find((each) => /^(?:and|or|xor|add|inc|dec|min|max)$/.test(each))
    : undefined;
  const direction: Direction = isLoad ? 'load' : operation === undefined ? 'store' : 'reduce';
  const starts = coordinates.elements.map((each, index) => text.value(`%c${index}`, each));
  readMap(rank, text);
  text.add('mov.u32 %first, %tile;', 'setp.eq.u32 %in_all, 0, 0;');
  const wrong = dimension(rank - 1, { rank, starts, direction, operation: operation ?? '', text });
  if (wrong !== undefined || !isLoad) return wrong;
  text.add(
    '.reg .b64 %operation;\nsub.u32 %word, %first, %tile;\ncvt.u64.u32 %operation, %word;',
    'mbarrier.advance.release.cluster.shared::cluster.b64 _, [%bar], %operation;',
  );
  return undefined;
}

function readMap(rank: number, text: ExpansionText): void {
  text.add(
    '.reg .pred %go, %in_all;\n.reg .b32 %word, %swizzle, %fill, %log, %type, %first, %place, %per, %left, %k, %low;',
    '.reg .b64 %base, %wide, %from, %halves_low, %halves_high;\n.reg .b32 %w0, %w1, %w2, %w3;',
    // What is no map of this rank makes the next load of it misaligned.
    `ld.u32 %word, [%map+${TENSOR_MAP.rank}];\nxor.b32 %word, %word, ${rank};`,
    `cvt.u32.u64 %low, %map;\nand.b32 %low, %low, ${TENSOR_MAP.align - 1};\nor.b32 %word, %word, %low;`,
    'min.u32 %word, %word, 1;\ncvt.u64.u32 %wide, %word;\nor.b64 %map, %map, %wide;',
    `ld.u64 %base, [%map+${TENSOR_MAP.base}];`,
    `and.b32 %word, %tile, ${TILE_ALIGN - 1};\nmin.u32 %word, %word, 1;\nor.b32 %tile, %tile, %word;`,
    ...(['type', 'swizzle', 'fill'] as const).map((name) => `ld.u32 %${name}, [%map+${TENSOR_MAP[name]}];`),
    `ld.u32 %log, [%map+${TENSOR_MAP.sizeLog}];\nmov.u32 %per, ${PIECE};\nshr.u32 %per, %per, %log;`,
  );
  for (let d = 0; d < rank; d++) {
    text.add(
      `.reg .pred %in${d};\n.reg .b32 %x${d}, %i${d}, %box${d}, %step${d}, %last${d};\n.reg .b64 %at${d}, %stride${d};`,
    );
    for (const name of ['box', 'step', 'last'] as const)
      text.add(`ld.u32 %${name}${d}, [%map+${TENSOR_MAP[name] + 4 * d}];`);
    if (d > 0) text.add(`ld.u64 %stride${d}, [%map+${TENSOR_MAP.strides + 8 * (d - 1)}];`);
  }
}

interface Nest {
  readonly rank: number;
  readonly starts: readonly string[];
  readonly direction: Direction;
  readonly operation: string;
  readonly text: ExpansionText;
}

/** The loop over a dimension, from the outermost on. */
function dimension(d: number, nest: Nest): string | undefined {
  const { rank, starts, text } = nest;
  const around =
    d === rank - 1 ? { base: '%base', isIn: '%in_all' } : { base: `%at${d + 1}`, isIn: `%in${d + 1}` };
  if (d === 0) return row(around, nest);
  text.add(
    `mov.u32 %i${d}, 0;\nmov.u32 %x${d}, ${starts[d] ?? '0'};\n$dimension${d}:`,
    `setp.le.and.u32 %in${d}, %x${d}, %last${d}, ${around.isIn};`,
    `cvt.s64.s32 %wide, %x${d};\nmul.lo.s64 %wide, %wide, %stride${d};\nadd.s64 %at${d}, ${around.base}, %wide;`,
  );
  const wrong = dimension(d - 1, nest);
  text.add(
    `add.u32 %x${d}, %x${d}, %step${d};\nadd.u32 %i${d}, %i${d}, %step${d};`,
    `setp.lt.u32 %go, %i${d}, %box${d};\n@%go bra $dimension${d};`,
  );
  return wrong;
}

/** A row of the box, whose elements lie side by side. */
function row(
  { base, isIn }: { readonly base: string; readonly isIn: string },
  nest: Nest,
): string | undefined {
  const { starts, direction, text } = nest;
  text.add(
    `mov.u32 %x0, ${starts[0] ?? '0'};\ncvt.s64.s32 %wide, %x0;\nshl.b64 %wide, %wide, %log;\nadd.s64 %from, ${base}, %wide;`,
    'shl.b32 %left, %box0, %log;\n$piece:',
    'and.b32 %word, %tile, %swizzle;\nshr.u32 %word, %word, 3;\nxor.b32 %place, %tile, %word;',
  );
  const wrong = direction === 'reduce' ? reduced(isIn, nest) : moved(isIn, direction, text);
  text.add(
    `$next:\nadd.u32 %tile, %tile, ${PIECE};\nadd.u64 %from, %from, ${PIECE};\nadd.u32 %x0, %x0, %per;`,
    `sub.u32 %left, %left, ${PIECE};\nsetp.ne.u32 %go, %left, 0;\n@%go bra $piece;`,
  );
  return wrong;
}

function moved(isIn: string, direction: 'load' | 'store', text: ExpansionText): undefined {
  const wide = '{%halves_low, %halves_high}';
  const words = '{%w0, %w1, %w2, %w3}';
  text.add(
    // In one go where all of it lies inside, by words where its address allows no more.
    `setp.le.and.u32 %in0, %x0, %last0, ${isIn};\nadd.u32 %word, %x0, %per;\nsub.u32 %word, %word, 1;`,
    'setp.le.and.u32 %in0, %word, %last0, %in0;\ncvt.u32.u64 %low, %from;\nand.b32 %word, %low, 3;',
    `setp.eq.and.u32 %in0, %word, 0, %in0;\n@!%in0 bra $bytes;\nand.b32 %word, %low, ${PIECE - 1};`,
    'setp.ne.u32 %go, %word, 0;\n@%go bra $words;',
    ...(direction === 'load'
      ? [`ld.global.v2.b64 ${wide}, [%from];\nst.shared::cluster.v2.b64 [%place], ${wide};`]
      : [`ld.shared::cta.v2.b64 ${wide}, [%place];\nst.global.v2.b64 [%from], ${wide};`]),
    'bra $next;\n$words:',
    ...(direction === 'load'
      ? [
          ...[0, 1, 2, 3].map((at) => `ld.global.b32 %w${at}, [%from+${4 * at}];`),
          `st.shared::cluster.v4.b32 [%place], ${words};`,
        ]
      : [
          `ld.shared::cta.v4.b32 ${words}, [%place];`,
          ...[0, 1, 2, 3].map((at) => `st.global.b32 [%from+${4 * at}], %w${at};`),
        ]),
    'bra $next;\n$bytes:\nmov.u32 %k, 0;\n$byte:',
    `shr.u32 %word, %k, %log;\nadd.u32 %word, %word, %x0;\nsetp.le.and.u32 %go, %word, %last0, ${isIn};`,
    'cvt.u64.u32 %wide, %k;\nadd.u64 %wide, %wide, %from;\nadd.u32 %low, %place, %k;',
    ...(direction === 'load'
      ? [
          'shl.b32 %word, %k, 3;\nand.b32 %word, %word, 31;\nshr.u32 %w0, %fill, %word;',
          '@%go ld.global.u8 %w0, [%wide];\nst.shared::cluster.u8 [%low], %w0;',
        ]
      : ['@%go ld.shared::cta.u8 %w0, [%low];\n@%go st.global.u8 [%wide], %w0;']),
    `add.u32 %k, %k, 1;\nsetp.lt.u32 %go, %k, ${PIECE};\n@%go bra $byte;`,
  );
  return undefined;
}

/** Types of elements that an operation combines, with the type of its `red`. */
function combining(operation: string): Partial<Record<TensorType, string>> {
  switch (operation) {
    case 'add':
      return {
        u32: 'u32',
        i32: 's32',
        u64: 'u64',
        i64: 'u64',
        f16: 'noftz.f16',
        f32: 'f32',
        f64: 'f64',
        bf16: 'noftz.bf16',
      };
    case 'min':
    case 'max':
      return { u32: 'u32', i32: 's32', u64: 'u64', i64: 's64' };
    case 'inc':
    case 'dec':
      return { u32: 'u32' };
    default:
      return { u32: 'b32', i32: 'b32', u64: 'b64', i64: 'b64' };
  }
}

/** Element after element, by the type that the map says; one that has no such operation is a misaligned access of the map. */
function reduced(isIn: string, { operation, text }: Nest): undefined {
  text.add(
    'mov.u32 %k, 0;\n$element:',
    `shr.u32 %word, %k, %log;\nadd.u32 %word, %word, %x0;\nsetp.le.and.u32 %go, %word, %last0, ${isIn};`,
    'cvt.u64.u32 %wide, %k;\nadd.u64 %wide, %wide, %from;\nadd.u32 %low, %place, %k;\n@!%go bra $combined;',
    '.reg .b16 %half;',
  );
  for (const [type, combined] of Object.entries(combining(operation))) {
    const { code, bytes } = TENSOR_TYPES[type as TensorType];
    const held = bytes === 2 ? '%half' : bytes === 4 ? '%w0' : '%halves_low';
    text.add(
      `setp.ne.u32 %go, %type, ${code};\n@%go bra $not_${type};\nld.shared::cta.b${bytes * 8} ${held}, [%low];`,
      `red.relaxed.gpu.global.${operation}.${combined} [%wide], ${held};\nbra $combined;\n$not_${type}:`,
    );
  }
  text.add(
    'ld.u32 %word, [%map+1];\n$combined:',
    `mov.u32 %word, 1;\nshl.b32 %word, %word, %log;\nadd.u32 %k, %k, %word;\nsetp.lt.u32 %go, %k, ${PIECE};\n@%go bra $element;`,
  );
  return undefined;
}
