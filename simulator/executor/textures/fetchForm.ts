import type { IrInstruction, IrOperand } from '../../ptx/index.js';

/** What a texture unit is asked for, as one number that compiled code and its host hand one another. */
export interface FetchForm {
  readonly operation: (typeof OPERATIONS)[number];
  readonly geometry: (typeof GEOMETRIES)[number];
  /** Coordinates are integers. */
  readonly isWhole: boolean;
  readonly level: (typeof LEVELS)[number];
  /** Of `tld4`: which channel. */
  readonly channel: number;
  readonly query: (typeof QUERIES)[number];
  readonly outside: (typeof OUTSIDE)[number];
  /** Of a surface's element. */
  readonly bytes: number;
  /** A bit for each word of the result that is kept. */
  readonly wanted: number;
  // What follows of the geometry:
  readonly dimensions: 1 | 2 | 3;
  readonly isLayered: boolean;
  readonly isCube: boolean;
  /** Words of coordinates, the layer and what pads them included: other operands are behind them. */
  readonly coordinates: 1 | 2 | 4;
  /** Words of a gradient. */
  readonly slopes: 1 | 2 | 4;
}

const OPERATIONS = ['tex', 'tld4', 'txq', 'suq', 'istypep', 'surfplace'] as const;
export const GEOMETRIES = ['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube'] as const;
const LEVELS = ['none', 'base', 'level', 'grad'] as const;
const QUERIES = [
  'none',
  'width',
  'height',
  'depth',
  'channel_data_type',
  'channel_order',
  'normalized_coords',
  'array_size',
  'num_mipmap_levels',
  'num_samples',
  'texref',
  'samplerref',
  'surfref',
] as const;
const OUTSIDE = ['trap', 'clamp', 'zero'] as const;
const CHANNELS = ['r', 'g', 'b', 'a'] as const;

/** Most words of operands behind the handle: coordinates and two gradients. */
export const FETCH_WORDS = 12;
/** Words of a result. */
export const FETCH_RESULTS = 4;

/** The number that stands for what an instruction asks. */
export function fetchCode({ opcode, modifiers, types, destinations }: IrInstruction): number {
  const place = <T extends string>(among: readonly T[]): number =>
    Math.max(
      0,
      among.findIndex((each) => modifiers.includes(each)),
    );
  const operation = OPERATIONS.findIndex((each) => each === opcode);
  const isWhole = opcode === 'tex' && types.at(-1) === 's32';
  const bytes = Number(modifiers.find((each) => /^size\d+$/.test(each))?.slice(4) ?? 0);
  return (
    operation |
    (place(GEOMETRIES) << 3) |
    ((isWhole ? 1 : 0) << 6) |
    (place(LEVELS) << 7) |
    (place(CHANNELS) << 9) |
    (place(QUERIES) << 11) |
    (place(OUTSIDE) << 15) |
    (bytes << 17) |
    (wantedOf(destinations[0]) << 22)
  );
}

/** A bit for each channel of a texel that is kept. */
function wantedOf(destination: IrOperand | undefined): number {
  if (destination?.kind !== 'vector') return 0b1111;
  return destination.elements.reduce(
    (mask, each, index) => mask | (each.kind === 'sink' ? 0 : 1 << index),
    0,
  );
}

export function fetchForm(code: number): FetchForm {
  const geometry = GEOMETRIES[(code >> 3) & 7] ?? '1d';
  return {
    operation: OPERATIONS[code & 7] ?? 'tex',
    geometry,
    isWhole: ((code >> 6) & 1) === 1,
    level: LEVELS[(code >> 7) & 3] ?? 'none',
    channel: (code >> 9) & 3,
    query: QUERIES[(code >> 11) & 15] ?? 'none',
    outside: OUTSIDE[(code >> 15) & 3] ?? 'trap',
    bytes: (code >> 17) & 31,
    wanted: code >> 22,
    dimensions: geometry.endsWith('1d') ? 1 : geometry.endsWith('3d') ? 3 : 2,
    isLayered: geometry.startsWith('a'),
    isCube: geometry.endsWith('cube'),
    coordinates: geometry === '1d' ? 1 : geometry === '2d' || geometry === 'a1d' ? 2 : 4,
    slopes: geometry.endsWith('1d') ? 1 : geometry.endsWith('2d') ? 2 : 4,
  };
}
